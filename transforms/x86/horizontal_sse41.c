/* SPDX-License-Identifier: Apache-2.0
 * Horizontal pass: pairs of taps, low and high halves of the weights apart. */
#include <smmintrin.h>
#include <string.h>

#include "transforms/x86/kernels_x86.h"

static inline __m128i load(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* Four of the sums in a block, whose lanes start at `lane`. */
static inline __m128i sum_lanes(const unsigned char *in, const int32_t *offset,
                                const unsigned char *cell, int32_t n_steps,
                                int window, __m128i low)
{
    __m128i high = _mm_setzero_si128();

    for (int32_t s = 0; s < n_steps; s++, cell += 96, offset += 2) {
        const unsigned char *const c = cell + 16 * window;
        const __m128i p = _mm_shuffle_epi8(load(in + offset[window]), load(c));

        low = _mm_add_epi32(low, _mm_madd_epi16(p, load(c + 32)));
        high = _mm_add_epi32(high, _mm_madd_epi16(p, load(c + 64)));
    }
    return _mm_add_epi32(low, _mm_slli_epi32(high, 16));
}

void pfi_horizontal_sse41(unsigned char *out, const unsigned char *in,
                          const struct pfi_pack *pack)
{
    const __m128i half = _mm_set1_epi32(PFI_HALF);
    const __m128i start = pack->wide ? _mm_setzero_si128() : half;
    const size_t block = pack->wide ? 3 : 8;
    const unsigned char *cell = pack->cells;
    const int32_t *offset = pack->offsets;

    for (size_t at = 0; at < pack->out_bytes; at += block) {
        __m128i a = sum_lanes(in, offset, cell, pack->n_steps, 0, half);
        __m128i b = sum_lanes(in, offset, cell, pack->n_steps, 1, start);
        unsigned char bytes[8];

        if (pack->wide)
            a = _mm_add_epi32(a, b);
        a = _mm_packs_epi32(_mm_srai_epi32(a, PFI_WEIGHT_BITS),
                            _mm_srai_epi32(b, PFI_WEIGHT_BITS));
        a = _mm_packus_epi16(a, a);
        if (!pack->wide && pack->out_bytes - at >= 8) {
            _mm_storel_epi64((__m128i *)(out + at), a);
        } else {
            _mm_storel_epi64((__m128i *)bytes, a);
            memcpy(out + at, bytes, pack->wide ? 3 : pack->out_bytes - at);
        }
        cell += (size_t)pack->n_steps * 96;
        offset += (size_t)pack->n_steps * 2;
    }
}
