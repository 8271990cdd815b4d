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

static inline uint64_t or8(int16_t *q, uint64_t values, uint32_t shift)
{
    const __m128i bytes = _mm_cvtsi64_si128((long long)values);
    const __m128i none = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
    const __m128i words = _mm_sll_epi16(_mm_cvtepi8_epi16(bytes),
                                        _mm_cvtsi32_si128((int)shift));
    const __m128i old = _mm_loadu_si128((const __m128i *)q);

    _mm_storeu_si128((__m128i *)q, _mm_or_si128(words, old));
    return ~(uint32_t)_mm_movemask_epi8(none) & 255;
}

/* Those of old's bits whose own bit is set. */
static inline uint64_t chosen(uint64_t old, uint64_t bits)
{
    uint64_t out = 0;

    for (; old; old &= old - 1, bits <<= 1)
        out |= old & (0 - old) & (0 - (bits >> 63));
    return out;
}

/* All ones where the lowest bits are set. */
static inline __m256i ones(uint64_t bits)
{
    const __m256i each =
        _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048,
                          4096, 8192, 16384, -32768);
    const __m256i all = _mm256_set1_epi16((short)(bits & 65535));

    return _mm256_cmpeq_epi16(_mm256_and_si256(all, each), each);
}

static inline void refine(int16_t *block, uint64_t old, uint64_t bits,
                          uint64_t fresh, uint64_t negative, int16_t one)
{
    const __m256i step = _mm256_set1_epi16(one);
    uint64_t larger = chosen(old, bits);

    for (int i = 0; i < 4; i++, block += 16) {
        const __m256i c = _mm256_loadu_si256((const __m256i *)block);
        const __m256i more = _mm256_and_si256(ones(larger), step);
        const __m256i start = _mm256_and_si256(ones(fresh), step);
        const __m256i minus = ones(negative);
        const __m256i sum = _mm256_add_epi16(
            _mm256_sign_epi16(more, c),
            _mm256_sub_epi16(_mm256_xor_si256(start, minus), minus));

        _mm256_storeu_si256((__m256i *)block, _mm256_add_epi16(c, sum));
        larger >>= 16;
        fresh >>= 16;
        negative >>= 16;
    }
}

#define PFI_STORE8(q, values) store8(q, values)
#define PFI_OR8(q, values, shift) or8(q, values, shift)
#define PFI_REFINE refine

#include "src/codec/fastjpeg/entropy_loop.h"
/* Its bit reader and lookups serve this one, too. */
#include "src/codec/fastjpeg/progress_loop.h"
#include "src/codec/fastjpeg/kernels.h"

bool pfi_fast_decode_avx2(struct pfi_fast_scan *scan, uint32_t count,
                          int16_t *out)
{
    return decode(scan, count, out);
}

bool pfi_fast_ac_first_avx2(struct pfi_fast_scan *scan, struct pfi_fast_ac *ac,
                            uint32_t count, int16_t *out, uint64_t *masks)
{
    return ac_first(scan, ac, count, out, masks);
}

bool pfi_fast_ac_refine_avx2(struct pfi_fast_scan *scan, struct pfi_fast_ac *ac,
                             uint32_t count, int16_t *out, uint64_t *masks)
{
    return ac_refine(scan, ac, count, out, masks);
}
