/* SPDX-License-Identifier: Apache-2.0
 * Mirrors a row of RGB pixels, five at a time. */
#include <smmintrin.h>

#include "transforms/x86/kernels_x86.h"

void pfi_flip_sse41(unsigned char *out, const unsigned char *in, size_t n)
{
    const __m128i picks = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6,
                                        1, 2, 3, 0);

    /* Sixteen bytes are read, the first beside the five pixels, and written:
     * the last of them is written again by what follows. */
    while (n >= 6) {
        const __m128i v =
            _mm_loadu_si128((const __m128i *)(in + 3 * (n - 5) - 1));

        _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(v, picks));
        out += 15;
        n -= 5;
    }
    pfi_flip_c(out, in, n);
}
