/* SPDX-License-Identifier: Apache-2.0
 * Codes to planes of codes.  Elements of 4 and 2 bytes are left to C's table:
 * without FMA they would take a division, which is slower. */
#include <smmintrin.h>

#include "transforms/normalize.h"
#include "transforms/x86/kernels_x86.h"

static inline __m128i load(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)p);
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
