/* SPDX-License-Identifier: Apache-2.0
 * Codes to elements of 4 and 2 bytes, computed 16 at a time, and to planes of
 * codes. */
#include <immintrin.h>

#include "transforms/normalize.h"
#include "transforms/x86/kernels_x86.h"

struct lanes {
    __m512 mean, inverse, inverse_low;
};

/* x / 255 and / stddev, each as a product with the reciprocal in two parts. */
static inline __m512 normalise(__m512i codes, struct lanes k)
{
    const __m512 x = _mm512_cvtepi32_ps(codes);
    const __m512 unit =
        _mm512_fmadd_ps(x, _mm512_set1_ps(PFI_UNIT),
                        _mm512_mul_ps(x, _mm512_set1_ps(PFI_UNIT_LOW)));
    const __m512 centred = _mm512_sub_ps(unit, k.mean);

    return _mm512_fmadd_ps(centred, k.inverse,
                           _mm512_mul_ps(centred, k.inverse_low));
}

static inline __m256i to_bf16(__m512 value)
{
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd =
        _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));

    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(
        _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7FFF)),
        16));
}

static inline void put(void *dst, size_t at, __mmask16 mask, __m512 value,
                       pinfold_dtype dtype)
{
    if (dtype == PINFOLD_F32)
        _mm512_mask_storeu_ps((float *)dst + at, mask, value);
    else if (dtype == PINFOLD_F16)
        _mm256_mask_storeu_epi16(
            (uint16_t *)dst + at, mask,
            /* Its unmasked form warns where the compiler does not optimise. */
            _mm512_maskz_cvtps_ph(mask, value, _MM_FROUND_TO_NEAREST_INT));
    else
        _mm256_mask_storeu_epi16((uint16_t *)dst + at, mask, to_bf16(value));
}

static inline __mmask16 mask_of(size_t left)
{
    return (__mmask16)(left < 16 ? (1u << left) - 1 : 0xFFFFu);
}

/* 16 pixels, or those that are left. */
static inline __m512i load_pixels(const unsigned char *rgb, size_t left)
{
    return _mm512_maskz_loadu_epi8(
        ((__mmask64)1 << 3 * (left < 16 ? left : 16)) - 1, rgb);
}

static inline void planes(void *dst, size_t plane, const unsigned char *rgb,
                          int32_t n, const struct pfi_norm *norm,
                          pinfold_dtype dtype)
{
    /* In the lowest byte of each element, red's place; the others are zeroed. */
    const __m512i red = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30,
                                          33, 36, 39, 42, 45);
    const __mmask64 lowest = 0x1111111111111111;
    const size_t count = (size_t)n;
    struct lanes lanes[3];
    __m512i picks[3];

    for (int c = 0; c < 3; c++) {
        lanes[c] = (struct lanes){_mm512_set1_ps(norm->mean[c]),
                                  _mm512_set1_ps(norm->inverse[c]),
                                  _mm512_set1_ps(norm->inverse_low[c])};
        picks[c] = _mm512_add_epi32(red, _mm512_set1_epi32(c));
    }
    for (size_t i = 0; i < count; i += 16) {
        const __m512i pixels = load_pixels(rgb + 3 * i, count - i);

        for (size_t c = 0; c < 3; c++)
            put(dst, c * plane + i, mask_of(count - i),
                normalise(
                    _mm512_maskz_permutexvar_epi8(lowest, picks[c], pixels),
                    lanes[c]),
                dtype);
    }
}

static inline void interleaved(void *dst, size_t plane, const unsigned char *rgb,
                               int32_t n, const struct pfi_norm *norm,
                               pinfold_dtype dtype)
{
    const size_t count = 3 * (size_t)n;
    struct lanes lanes[3];
    size_t i = 0;

    (void)plane;
    /* Vector v starts at channel 16 * v % 3 = v % 3. */
    for (int v = 0; v < 3; v++)
        lanes[v] = (struct lanes){_mm512_loadu_ps(norm->mean + v),
                                  _mm512_loadu_ps(norm->inverse + v),
                                  _mm512_loadu_ps(norm->inverse_low + v)};
    for (; count - i >= 48; i += 48) {
        for (size_t v = 0; v < 3; v++) {
            const __m128i codes =
                _mm_loadu_si128((const __m128i *)(rgb + i + 16 * v));

            put(dst, i + 16 * v, 0xFFFF,
                normalise(_mm512_cvtepu8_epi32(codes), lanes[v]), dtype);
        }
    }
    for (size_t v = 0; i < count; i += 16, v++) {
        const __mmask16 mask = mask_of(count - i);
        const __m128i codes = _mm_maskz_loadu_epi8(mask, rgb + i);

        put(dst, i, mask, normalise(_mm512_cvtepu8_epi32(codes), lanes[v]),
            dtype);
    }
}

void pfi_store_u8_planes_avx512(void *dst, size_t plane,
                                const unsigned char *rgb, int32_t n,
                                const struct pfi_norm *norm)
{
    const __m128i red = _mm_setr_epi8(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33,
                                      36, 39, 42, 45);
    const size_t count = (size_t)n;
    unsigned char *const out = dst;

    (void)norm;
    for (size_t i = 0; i < count; i += 16) {
        const __m512i pixels = load_pixels(rgb + 3 * i, count - i);

        for (size_t c = 0; c < 3; c++) {
            const __m128i picks = _mm_add_epi8(red, _mm_set1_epi8((char)c));
            const __m512i codes = _mm512_permutexvar_epi8(
                _mm512_castsi128_si512(picks), pixels);

            _mm_mask_storeu_epi8(out + c * plane + i, mask_of(count - i),
                                 _mm512_castsi512_si128(codes));
        }
    }
}

#define PFI_STORE(name, loop, dtype)                                           \
    void name(void *dst, size_t plane, const unsigned char *rgb, int32_t n,    \
              const struct pfi_norm *norm)                                     \
    {                                                                          \
        loop(dst, plane, rgb, n, norm, dtype);                                 \
    }

PFI_STORE(pfi_store_f32_planes_avx512, planes, PINFOLD_F32)
PFI_STORE(pfi_store_f16_planes_avx512, planes, PINFOLD_F16)
PFI_STORE(pfi_store_bf16_planes_avx512, planes, PINFOLD_BF16)
PFI_STORE(pfi_store_f32_interleaved_avx512, interleaved, PINFOLD_F32)
PFI_STORE(pfi_store_f16_interleaved_avx512, interleaved, PINFOLD_F16)
PFI_STORE(pfi_store_bf16_interleaved_avx512, interleaved, PINFOLD_BF16)
