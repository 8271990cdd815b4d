/* SPDX-License-Identifier: Apache-2.0
 * The Huffman decoder with BMI2's shifts, which leave the flags alone, and a
 * store that widens.  Built with -mavx2 -mbmi2. */
#include <immintrin.h>
#include <stdint.h>

static inline void store8(int16_t *q, uint64_t values)
{
    _mm_storeu_si128((__m128i *)q,
                     _mm_cvtepi8_epi16(_mm_cvtsi64_si128((long long)values)));
}

#define PFI_STORE8(q, values) store8(q, values)

#include "src/codec/fastjpeg/entropy_loop.h"
#include "src/codec/fastjpeg/kernels.h"

bool pfi_fast_decode_avx2(struct pfi_fast_scan *scan, uint32_t count,
                          int16_t *out)
{
    return decode(scan, count, out);
}
