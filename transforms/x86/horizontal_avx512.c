/* SPDX-License-Identifier: Apache-2.0
 * Horizontal pass: four taps at once, the weights in three signed digits. */
#include <immintrin.h>
#include <string.h>

#include "transforms/x86/kernels_x86.h"

static inline __m512i load(const void *p)
{
    return _mm512_loadu_si512(p);
}

/* vpdpbusd adds four products of at most 255 * 128 without saturating. */
static inline __m512i sum_block(const unsigned char *in, const int32_t *offset,
                                const unsigned char *cell, int32_t n_steps,
                                __m512i a)
{
    __m512i b = _mm512_setzero_si512(), c = b;

    for (int32_t s = 0; s < n_steps; s++, cell += 256, offset++) {
        const __m512i p = _mm512_permutexvar_epi8(load(cell), load(in + *offset));

        a = _mm512_dpbusd_epi32(a, p, load(cell + 64));
        b = _mm512_dpbusd_epi32(b, p, load(cell + 128));
        c = _mm512_dpbusd_epi32(c, p, load(cell + 192));
    }
    b = _mm512_add_epi32(b, _mm512_slli_epi32(c, 8));
    return _mm512_add_epi32(a, _mm512_slli_epi32(b, 8));
}

static void wide(unsigned char *out, const unsigned char *in,
                 const struct pfi_pack *pack)
{
    const __m512i start =
        _mm512_maskz_set1_epi32((__mmask16)0x000F, PFI_HALF);
    const int32_t n_steps = pack->n_steps;
    const size_t size = pack->out_bytes;
    const unsigned char *cell = pack->cells;
    const int32_t *offset = pack->offsets;

    for (size_t at = 0; at < size; at += 3) {
        const __m512i sums = sum_block(in, offset, cell, n_steps, start);
        const __m256i two = _mm256_add_epi32(_mm512_castsi512_si256(sums),
                                             _mm512_extracti64x4_epi64(sums, 1));
        const __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(two),
                                          _mm256_extracti128_si256(two, 1));
        const __m128i value = _mm_max_epi32(
            _mm_srai_epi32(sum, PFI_WEIGHT_BITS), _mm_setzero_si128());
        const int pixel = _mm_cvtsi128_si32(_mm_cvtusepi32_epi8(value));

        memcpy(out + at, &pixel, 3);
        cell += (size_t)n_steps * 256;
        offset += n_steps;
    }
}

static inline void narrow(unsigned char *out, const unsigned char *in,
                          const struct pfi_pack *pack, int32_t n_steps)
{
    const __m512i start = _mm512_set1_epi32(PFI_HALF);
    const size_t size = pack->out_bytes;
    const unsigned char *cell = pack->cells;
    const int32_t *offset = pack->offsets;

    for (size_t at = 0; at < size; at += 16) {
        const size_t left = size - at;
        const __m512i sums = sum_block(in, offset, cell, n_steps, start);
        const __m512i values =
            _mm512_max_epi32(_mm512_srai_epi32(sums, PFI_WEIGHT_BITS),
                             _mm512_setzero_si512());
        const __m128i bytes = _mm512_cvtusepi32_epi8(values);

        if (left >= 16)
            _mm_storeu_si128((__m128i *)(out + at), bytes);
        else
            _mm_mask_storeu_epi8(out + at, (__mmask16)((1u << left) - 1),
                                 bytes);
        cell += (size_t)n_steps * 256;
        offset += n_steps;
    }
}

/* The usual numbers of steps have loops of their own, unrolled. */
void pfi_horizontal_avx512(unsigned char *out, const unsigned char *in,
                           const struct pfi_pack *pack)
{
    if (pack->wide)
        wide(out, in, pack);
    else if (pack->n_steps == 1)
        narrow(out, in, pack, 1);
    else if (pack->n_steps == 2)
        narrow(out, in, pack, 2);
    else
        narrow(out, in, pack, pack->n_steps);
}
