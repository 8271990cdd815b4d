/* SPDX-License-Identifier: Apache-2.0
 * Codes to f32, computed four at a time, and to planes of codes. */
#include <smmintrin.h>

#include "transforms/normalize.h"
#include "transforms/x86/kernels_x86.h"

static inline __m128i load(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* Codes in 32 bits to elements, as channels from `phase` on. */
static inline __m128 normalise(__m128i codes, const struct pfi_norm *norm,
                               int phase)
{
    const __m128 x = _mm_cvtepi32_ps(codes);
    const __m128 unit =
        _mm_add_ps(_mm_mul_ps(x, _mm_set1_ps(PFI_UNIT_SHORT)),
                   _mm_mul_ps(x, _mm_set1_ps(PFI_UNIT_SHORT_LOW)));

    return _mm_div_ps(_mm_sub_ps(unit, _mm_loadu_ps(norm->mean + phase)),
                      _mm_loadu_ps(norm->stddev + phase));
}

/* One channel's, where `norm` holds that channel in every element. */
static inline __m128 channel(__m128i rgb, __m128i picks, __m128 mean,
                             __m128 stddev)
{
    const __m128 x = _mm_cvtepi32_ps(_mm_shuffle_epi8(rgb, picks));
    const __m128 unit =
        _mm_add_ps(_mm_mul_ps(x, _mm_set1_ps(PFI_UNIT_SHORT)),
                   _mm_mul_ps(x, _mm_set1_ps(PFI_UNIT_SHORT_LOW)));

    return _mm_div_ps(_mm_sub_ps(unit, mean), stddev);
}

void pfi_store_f32_planes_sse41(void *dst, size_t plane,
                                const unsigned char *rgb, int32_t n,
                                const struct pfi_norm *norm)
{
    const __m128i r = _mm_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1,
                                    9, -1, -1, -1);
    const __m128i g = _mm_setr_epi8(1, -1, -1, -1, 4, -1, -1, -1, 7, -1, -1, -1,
                                    10, -1, -1, -1);
    const __m128i b = _mm_setr_epi8(2, -1, -1, -1, 5, -1, -1, -1, 8, -1, -1, -1,
                                    11, -1, -1, -1);
    const float *const mean = norm->mean, *const stddev = norm->stddev;
    float *const out = dst;
    int32_t i = 0;

    for (; n - i >= 6; i += 4) { /* 12 bytes of the 16 that are read */
        const __m128i v = load(rgb + 3 * (size_t)i);

        _mm_storeu_ps(out + i, channel(v, r, _mm_set1_ps(mean[0]),
                                       _mm_set1_ps(stddev[0])));
        _mm_storeu_ps(out + plane + i, channel(v, g, _mm_set1_ps(mean[1]),
                                               _mm_set1_ps(stddev[1])));
        _mm_storeu_ps(out + 2 * plane + i, channel(v, b, _mm_set1_ps(mean[2]),
                                                   _mm_set1_ps(stddev[2])));
    }
    pfi_store_c(PINFOLD_F32, PINFOLD_NCHW)(out + i, plane, rgb + 3 * (size_t)i,
                                           n - i, norm);
}

void pfi_store_f32_interleaved_sse41(void *dst, size_t plane,
                                     const unsigned char *rgb, int32_t n,
                                     const struct pfi_norm *norm)
{
    float *out = dst;

    for (; n >= 6; n -= 4, rgb += 12, out += 12) {
        const __m128i v = load(rgb);

        _mm_storeu_ps(out, normalise(_mm_cvtepu8_epi32(v), norm, 0));
        _mm_storeu_ps(out + 4, normalise(_mm_cvtepu8_epi32(_mm_srli_si128(v, 4)),
                                         norm, 1));
        _mm_storeu_ps(out + 8, normalise(_mm_cvtepu8_epi32(_mm_srli_si128(v, 8)),
                                         norm, 2));
    }
    pfi_store_c(PINFOLD_F32, PINFOLD_NHWC)(out, plane, rgb, n, norm);
}

/* A channel's bytes among 16 pixels: every third of three vectors. */
static inline void put_plane(unsigned char *out, const __m128i v[3],
                             const signed char picks[3][16])
{
    __m128i bytes = _mm_setzero_si128();

    for (int k = 0; k < 3; k++)
        bytes = _mm_or_si128(
            bytes, _mm_shuffle_epi8(
                       v[k], _mm_loadu_si128((const __m128i *)picks[k])));
    _mm_storeu_si128((__m128i *)out, bytes);
}

void pfi_store_u8_planes_sse41(void *dst, size_t plane, const unsigned char *rgb,
                               int32_t n, const struct pfi_norm *norm)
{
    static const signed char picks[3][3][16] = {
        {{0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
         {-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1},
         {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13}},
        {{1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
         {-1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1},
         {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14}},
        {{2, 5, 8, 11, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
         {-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1},
         {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15}}};
    unsigned char *const out = dst;
    int32_t i = 0;

    for (; n - i >= 16; i += 16) {
        const unsigned char *const p = rgb + 3 * (size_t)i;
        const __m128i v[3] = {load(p), load(p + 16), load(p + 32)};

        for (size_t c = 0; c < 3; c++)
            put_plane(out + c * plane + i, v, picks[c]);
    }
    pfi_store_c(PINFOLD_U8, PINFOLD_NCHW)(out + i, plane, rgb + 3 * (size_t)i,
                                          n - i, norm);
}
