/* SPDX-License-Identifier: Apache-2.0
 * Codes to elements of 4 and 2 bytes, computed four at a time, and to planes of
 * codes. */
#include <arm_neon.h>

#include "transforms/arm/kernels_arm.h"
#include "transforms/normalize.h"

struct lanes {
    float32x4_t mean, inverse, inverse_low;
};

/* x / 255 and / stddev, each as a product with the reciprocal in two parts. */
static inline float32x4_t normalise(uint16x4_t codes, struct lanes k)
{
    const float32x4_t x = vcvtq_f32_u32(vmovl_u16(codes));
    const float32x4_t unit = vfmaq_f32(vmulq_f32(x, vdupq_n_f32(PFI_UNIT_LOW)), x,
                                       vdupq_n_f32(PFI_UNIT));
    const float32x4_t centred = vsubq_f32(unit, k.mean);

    return vfmaq_f32(vmulq_f32(centred, k.inverse_low), centred, k.inverse);
}

static inline uint16x4_t to_bf16(float32x4_t value)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(value);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));

    return vshrn_n_u32(vaddq_u32(vaddq_u32(bits, odd), vdupq_n_u32(0x7FFF)), 16);
}

static inline void put(void *dst, size_t at, float32x4_t value,
                       pinfold_dtype dtype)
{
    if (dtype == PINFOLD_F32)
        vst1q_f32((float *)dst + at, value);
    else if (dtype == PINFOLD_F16)
        vst1_u16((uint16_t *)dst + at,
                 vreinterpret_u16_f16(vcvt_f16_f32(value)));
    else
        vst1_u16((uint16_t *)dst + at, to_bf16(value));
}

/* 16 elements, four at a time with the next of `lanes`. */
static inline void put_16(void *dst, size_t at, uint8x16_t codes,
                          const struct lanes lanes[4], pinfold_dtype dtype)
{
    const uint16x8_t low = vmovl_u8(vget_low_u8(codes));
    const uint16x8_t high = vmovl_u8(vget_high_u8(codes));

    put(dst, at, normalise(vget_low_u16(low), lanes[0]), dtype);
    put(dst, at + 4, normalise(vget_high_u16(low), lanes[1]), dtype);
    put(dst, at + 8, normalise(vget_low_u16(high), lanes[2]), dtype);
    put(dst, at + 12, normalise(vget_high_u16(high), lanes[3]), dtype);
}

static inline void planes(void *dst, size_t plane, const unsigned char *rgb,
                          int32_t n, const struct pfi_norm *norm,
                          pinfold_dtype dtype)
{
    const int32_t vectors = n < 16 ? 0 : (n + 15) / 16;
    struct lanes lanes[3][4];

    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 4; i++)
            lanes[c][i] = (struct lanes){vdupq_n_f32(norm->mean[c]),
                                         vdupq_n_f32(norm->inverse[c]),
                                         vdupq_n_f32(norm->inverse_low[c])};
    for (int32_t v = 0; v < vectors; v++) {
        /* The last 16 pixels may be some of those before them, too. */
        const size_t i = (size_t)(16 * v + 16 > n ? n - 16 : 16 * v);
        const uint8x16x3_t pixels = vld3q_u8(rgb + 3 * i);

        for (size_t c = 0; c < 3; c++)
            put_16(dst, c * plane + i, pixels.val[c], lanes[c], dtype);
    }
    if (!vectors)
        pfi_store_c(dtype, PINFOLD_NCHW)(dst, plane, rgb, n, norm);
}

static inline void interleaved(void *dst, size_t plane, const unsigned char *rgb,
                               int32_t n, const struct pfi_norm *norm,
                               pinfold_dtype dtype)
{
    const int32_t groups = n < 16 ? 0 : (n + 15) / 16;
    struct lanes lanes[6];

    /* A vector starts at channel 4 * v % 3 = v % 3. */
    for (int v = 0; v < 6; v++)
        lanes[v] = (struct lanes){vld1q_f32(norm->mean + v % 3),
                                  vld1q_f32(norm->inverse + v % 3),
                                  vld1q_f32(norm->inverse_low + v % 3)};
    for (int32_t g = 0; g < groups; g++) {
        const size_t i = 3 * (size_t)(16 * g + 16 > n ? n - 16 : 16 * g);

        for (size_t v = 0; v < 3; v++)
            put_16(dst, i + 16 * v, vld1q_u8(rgb + i + 16 * v), lanes + v,
                   dtype);
    }
    if (!groups)
        pfi_store_c(dtype, PINFOLD_NHWC)(dst, plane, rgb, n, norm);
}

void pfi_store_u8_planes_neon(void *dst, size_t plane, const unsigned char *rgb,
                              int32_t n, const struct pfi_norm *norm)
{
    unsigned char *const out = dst;
    int32_t i = 0;

    for (; n - i >= 16; i += 16) {
        const uint8x16x3_t v = vld3q_u8(rgb + 3 * (size_t)i);

        vst1q_u8(out + i, v.val[0]);
        vst1q_u8(out + plane + i, v.val[1]);
        vst1q_u8(out + 2 * plane + i, v.val[2]);
    }
    pfi_store_c(PINFOLD_U8, PINFOLD_NCHW)(out + i, plane, rgb + 3 * (size_t)i,
                                          n - i, norm);
}

#define PFI_STORE(name, loop, dtype)                                           \
    void name(void *dst, size_t plane, const unsigned char *rgb, int32_t n,    \
              const struct pfi_norm *norm)                                     \
    {                                                                          \
        loop(dst, plane, rgb, n, norm, dtype);                                 \
    }

PFI_STORE(pfi_store_f32_planes_neon, planes, PINFOLD_F32)
PFI_STORE(pfi_store_f16_planes_neon, planes, PINFOLD_F16)
PFI_STORE(pfi_store_bf16_planes_neon, planes, PINFOLD_BF16)
PFI_STORE(pfi_store_f32_interleaved_neon, interleaved, PINFOLD_F32)
PFI_STORE(pfi_store_f16_interleaved_neon, interleaved, PINFOLD_F16)
PFI_STORE(pfi_store_bf16_interleaved_neon, interleaved, PINFOLD_BF16)
