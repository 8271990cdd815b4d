/* SPDX-License-Identifier: Apache-2.0
 * Codes to elements of 4 and 2 bytes, computed eight at a time. */
#include <immintrin.h>

#include "transforms/normalize.h"
#include "transforms/x86/kernels_x86.h"

struct lanes {
    __m256 mean, inverse, inverse_low;
};

/* x / 255 and / stddev, each as a product with the reciprocal in two parts. */
static inline __m256 normalise(__m256i codes, struct lanes k)
{
    const __m256 x = _mm256_cvtepi32_ps(codes);
    const __m256 unit =
        _mm256_fmadd_ps(x, _mm256_set1_ps(PFI_UNIT),
                        _mm256_mul_ps(x, _mm256_set1_ps(PFI_UNIT_LOW)));
    const __m256 centred = _mm256_sub_ps(unit, k.mean);

    return _mm256_fmadd_ps(centred, k.inverse,
                           _mm256_mul_ps(centred, k.inverse_low));
}

static inline __m128i to_bf16(__m256 value)
{
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd =
        _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7FFF)),
        16);

    return _mm_packus_epi32(_mm256_castsi256_si128(rounded),
                            _mm256_extracti128_si256(rounded, 1));
}

static inline void put(void *dst, size_t at, __m256 value, pinfold_dtype dtype)
{
    if (dtype == PINFOLD_F32)
        _mm256_storeu_ps((float *)dst + at, value);
    else if (dtype == PINFOLD_F16)
        _mm_storeu_si128((__m128i *)((uint16_t *)dst + at),
                         _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
    else
        _mm_storeu_si128((__m128i *)((uint16_t *)dst + at), to_bf16(value));
}

static inline void planes(void *dst, size_t plane, const unsigned char *rgb,
                          int32_t n, const struct pfi_norm *norm,
                          pinfold_dtype dtype)
{
    /* Pixels 0..3 from byte 0 on, pixels 4..7 from byte 8 on. */
    const __m256i red = _mm256_setr_epi8(
        0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1, 4, -1, -1, -1,
        7, -1, -1, -1, 10, -1, -1, -1, 13, -1, -1, -1);
    /* Picks of -1 stay above 127. */
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i picks[3] = {red, _mm256_add_epi32(red, one),
                              _mm256_add_epi32(red, _mm256_add_epi32(one, one))};
    struct lanes lanes[3];
    const int32_t vectors = n < 8 ? 0 : (n + 7) / 8;

    for (int c = 0; c < 3; c++)
        lanes[c] = (struct lanes){_mm256_set1_ps(norm->mean[c]),
                                  _mm256_set1_ps(norm->inverse[c]),
                                  _mm256_set1_ps(norm->inverse_low[c])};
    for (int32_t v = 0; v < vectors; v++) {
        /* The last eight pixels may be some of those before them, too. */
        const size_t i = (size_t)(8 * v + 8 > n ? n - 8 : 8 * v);
        const unsigned char *const p = rgb + 3 * i;
        const __m256i both = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)),
            _mm_loadu_si128((const __m128i *)(p + 8)), 1);

        for (size_t c = 0; c < 3; c++)
            put(dst, c * plane + i,
                normalise(_mm256_shuffle_epi8(both, picks[c]), lanes[c]), dtype);
    }
    if (!vectors)
        pfi_store_c(dtype, PINFOLD_NCHW)(dst, plane, rgb, n, norm);
}

static inline void interleaved(void *dst, size_t plane, const unsigned char *rgb,
                               int32_t n, const struct pfi_norm *norm,
                               pinfold_dtype dtype)
{
    /* Vector v of each three starts at channel 8 * v % 3. */
    static const int phases[3] = {0, 2, 1};
    struct lanes lanes[3];
    const int32_t groups = n < 8 ? 0 : (n + 7) / 8;

    for (int v = 0; v < 3; v++)
        lanes[v] = (struct lanes){
            _mm256_loadu_ps(norm->mean + phases[v]),
            _mm256_loadu_ps(norm->inverse + phases[v]),
            _mm256_loadu_ps(norm->inverse_low + phases[v])};
    for (int32_t g = 0; g < groups; g++) {
        const size_t i = 3 * (size_t)(8 * g + 8 > n ? n - 8 : 8 * g);

        for (size_t v = 0; v < 3; v++) {
            const __m128i codes =
                _mm_loadl_epi64((const __m128i *)(rgb + i + 8 * v));

            put(dst, i + 8 * v, normalise(_mm256_cvtepu8_epi32(codes), lanes[v]),
                dtype);
        }
    }
    if (!groups)
        pfi_store_c(dtype, PINFOLD_NHWC)(dst, plane, rgb, n, norm);
}

#define PFI_STORE(name, loop, dtype)                                           \
    void name(void *dst, size_t plane, const unsigned char *rgb, int32_t n,    \
              const struct pfi_norm *norm)                                     \
    {                                                                          \
        loop(dst, plane, rgb, n, norm, dtype);                                 \
    }

PFI_STORE(pfi_store_f32_planes_avx2, planes, PINFOLD_F32)
PFI_STORE(pfi_store_f16_planes_avx2, planes, PINFOLD_F16)
PFI_STORE(pfi_store_bf16_planes_avx2, planes, PINFOLD_BF16)
PFI_STORE(pfi_store_f32_interleaved_avx2, interleaved, PINFOLD_F32)
PFI_STORE(pfi_store_f16_interleaved_avx2, interleaved, PINFOLD_F16)
PFI_STORE(pfi_store_bf16_interleaved_avx2, interleaved, PINFOLD_BF16)
