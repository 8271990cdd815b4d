/* SPDX-License-Identifier: Apache-2.0
 * Vertical pass: products of 32 bits, 16 columns at once. */
#include <arm_neon.h>

#include "transforms/arm/kernels_arm.h"

static inline int32x4_t add(int32x4_t sum, uint16x4_t pixels, int32_t weight)
{
    return vmlaq_n_s32(sum, vreinterpretq_s32_u32(vmovl_u16(pixels)), weight);
}

static inline uint8x8_t to_bytes(int32x4_t a, int32x4_t b)
{
    return vqmovn_u16(
        vcombine_u16(vqmovun_s32(vshrq_n_s32(a, PFI_WEIGHT_BITS)),
                     vqmovun_s32(vshrq_n_s32(b, PFI_WEIGHT_BITS))));
}

static inline void sum_columns(unsigned char *out,
                               const unsigned char *const *rows, size_t x,
                               const int32_t *weights, int32_t count)
{
    int32x4_t s0 = vdupq_n_s32(PFI_HALF), s1 = s0, s2 = s0, s3 = s0;

    for (int32_t k = 0; k < count; k++) {
        const uint8x16_t v = vld1q_u8(rows[k] + x);
        const uint16x8_t low = vmovl_u8(vget_low_u8(v));
        const uint16x8_t high = vmovl_u8(vget_high_u8(v));

        s0 = add(s0, vget_low_u16(low), weights[k]);
        s1 = add(s1, vget_high_u16(low), weights[k]);
        s2 = add(s2, vget_low_u16(high), weights[k]);
        s3 = add(s3, vget_high_u16(high), weights[k]);
    }
    vst1q_u8(out + x, vcombine_u8(to_bytes(s0, s1), to_bytes(s2, s3)));
}

void pfi_vertical_neon(unsigned char *out, const unsigned char *const *rows,
                       const int32_t *weights, int32_t count, size_t bytes)
{
    if (bytes < 16) {
        pfi_vertical_c(out, rows, weights, count, bytes);
        return;
    }
    /* The last columns may be those before them, too. */
    for (size_t x = 0; x < bytes; x += 16)
        sum_columns(out, rows, x + 16 > bytes ? bytes - 16 : x, weights, count);
}
