/* SPDX-License-Identifier: Apache-2.0
 * Mirrors a row of RGB pixels, 21 at a time. */
#include <immintrin.h>

#include "transforms/x86/kernels_x86.h"

/* Byte 3 * i + c of 21 pixels comes from 3 * (20 - i) + c. */
static const unsigned char picks[64] = {
    60, 61, 62, 57, 58, 59, 54, 55, 56, 51, 52, 53, 48, 49, 50, 45,
    46, 47, 42, 43, 44, 39, 40, 41, 36, 37, 38, 33, 34, 35, 30, 31,
    32, 27, 28, 29, 24, 25, 26, 21, 22, 23, 18, 19, 20, 15, 16, 17,
    12, 13, 14, 9,  10, 11, 6,  7,  8,  3,  4,  5,  0,  1,  2,  0};

void pfi_flip_avx512(unsigned char *out, const unsigned char *in, size_t n)
{
    while (n) {
        const size_t k = n < 21 ? n : 21;
        const __mmask64 mask = ((__mmask64)1 << 3 * k) - 1;
        const __m512i at = _mm512_sub_epi8(
            _mm512_loadu_si512(picks), _mm512_set1_epi8((char)(3 * (21 - k))));
        const __m512i v = _mm512_maskz_loadu_epi8(mask, in + 3 * (n - k));

        _mm512_mask_storeu_epi8(out, mask, _mm512_permutexvar_epi8(at, v));
        out += 3 * k;
        n -= k;
    }
}
