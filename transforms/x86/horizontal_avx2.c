/* SPDX-License-Identifier: Apache-2.0
 * Horizontal pass: pairs of taps, low and high halves of the weights apart. */
#include <immintrin.h>
#include <string.h>

#include "transforms/x86/kernels_x86.h"

static inline __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* The 16 bytes at `a` and those at `b`. */
static inline __m256i load_two(const unsigned char *a, const unsigned char *b)
{
    const __m128i one = _mm_loadu_si128((const __m128i *)a);
    const __m128i other = _mm_loadu_si128((const __m128i *)b);

    return _mm256_inserti128_si256(_mm256_castsi128_si256(one), other, 1);
}

static inline __m256i sum_block(const unsigned char *in, const int32_t *offset,
                                const unsigned char *cell, int32_t n_steps,
                                __m256i low)
{
    __m256i high = _mm256_setzero_si256();

    for (int32_t s = 0; s < n_steps; s++, cell += 96, offset += 2) {
        const __m256i p = _mm256_shuffle_epi8(
            load_two(in + offset[0], in + offset[1]), load(cell));

        low = _mm256_add_epi32(low, _mm256_madd_epi16(p, load(cell + 32)));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(p, load(cell + 64)));
    }
    return _mm256_add_epi32(low, _mm256_slli_epi32(high, 16));
}

static void wide(unsigned char *out, const unsigned char *in,
                 const struct pfi_pack *pack)
{
    const __m256i start =
        _mm256_setr_epi32(PFI_HALF, PFI_HALF, PFI_HALF, PFI_HALF, 0, 0, 0, 0);
    const int32_t n_steps = pack->n_steps;
    const size_t size = pack->out_bytes;
    const unsigned char *cell = pack->cells;
    const int32_t *offset = pack->offsets;

    for (size_t at = 0; at < size; at += 3) {
        const __m256i sums = sum_block(in, offset, cell, n_steps, start);
        __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums),
                                    _mm256_extracti128_si256(sums, 1));
        int pixel;

        sum = _mm_srai_epi32(sum, PFI_WEIGHT_BITS);
        sum = _mm_packs_epi32(sum, sum);
        pixel = _mm_cvtsi128_si32(_mm_packus_epi16(sum, sum));
        memcpy(out + at, &pixel, 3);
        cell += (size_t)n_steps * 96;
        offset += (size_t)n_steps * 2;
    }
}

/* The 16 bytes of two blocks. */
static inline __m128i to_bytes(__m256i a, __m256i b)
{
    const __m256i words =
        _mm256_packs_epi32(_mm256_srai_epi32(a, PFI_WEIGHT_BITS),
                           _mm256_srai_epi32(b, PFI_WEIGHT_BITS));
    const __m256i bytes = _mm256_packus_epi16(words, words);

    return _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes),
                              _mm256_extracti128_si256(bytes, 1));
}

static inline void narrow(unsigned char *out, const unsigned char *in,
                          const struct pfi_pack *pack, int32_t n_steps)
{
    const __m256i start = _mm256_set1_epi32(PFI_HALF);
    const size_t size = pack->out_bytes, cells = (size_t)n_steps * 96,
                 offsets = (size_t)n_steps * 2;
    const unsigned char *cell = pack->cells;
    const int32_t *offset = pack->offsets;
    unsigned char bytes[16];
    size_t at = 0;

    for (; size - at >= 16; at += 16) {
        const __m256i a = sum_block(in, offset, cell, n_steps, start);
        const __m256i b = sum_block(in, offset + offsets, cell + cells, n_steps,
                                    start);

        _mm_storeu_si128((__m128i *)(out + at), to_bytes(a, b));
        cell += 2 * cells;
        offset += 2 * offsets;
    }
    if (at < size) {
        const bool two = size - at > 8;
        const __m256i a = sum_block(in, offset, cell, n_steps, start);
        const __m256i b =
            two ? sum_block(in, offset + offsets, cell + cells, n_steps, start)
                : a;

        _mm_storeu_si128((__m128i *)bytes, to_bytes(a, b));
        memcpy(out + at, bytes, size - at);
    }
}

/* The usual numbers of steps have loops of their own, unrolled. */
void pfi_horizontal_avx2(unsigned char *out, const unsigned char *in,
                         const struct pfi_pack *pack)
{
    if (pack->wide)
        wide(out, in, pack);
    else if (pack->n_steps == 1)
        narrow(out, in, pack, 1);
    else if (pack->n_steps == 2)
        narrow(out, in, pack, 2);
    else if (pack->n_steps == 3)
        narrow(out, in, pack, 3);
    else
        narrow(out, in, pack, pack->n_steps);
}
