/* SPDX-License-Identifier: Apache-2.0
 * Vertical pass: pairs of rows, low and high halves of the weights apart. */
#include <smmintrin.h>

#include "transforms/x86/kernels_x86.h"
#include "transforms/x86/split.h"

#define PFI_COLUMNS 16

static inline __m128i load(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static inline __m128i add_low(__m128i sum, __m128i words, __m128i weights)
{
    return _mm_add_epi32(sum, _mm_madd_epi16(words, weights));
}

/* Sums of the low halves, and of the high ones, to 16 bits. */
static inline __m128i to_words(__m128i low0, __m128i low1, __m128i high)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i a = _mm_add_epi32(low0, _mm_unpacklo_epi16(zero, high));
    const __m128i b = _mm_add_epi32(low1, _mm_unpackhi_epi16(zero, high));

    return _mm_packs_epi32(_mm_srai_epi32(a, PFI_WEIGHT_BITS),
                           _mm_srai_epi32(b, PFI_WEIGHT_BITS));
}

static inline __m128i sum_columns(const struct pfi_pairs *pairs, size_t x)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i low0 = _mm_set1_epi32(PFI_HALF), low1 = low0, low2 = low0,
            low3 = low0;
    __m128i high0 = zero, high1 = zero;

    for (int32_t k = 0; k < pairs->n; k++) {
        const __m128i a = load(pairs->rows[2 * k] + x);
        const __m128i b = load(pairs->rows[2 * k + 1] + x);
        const __m128i ab0 = _mm_unpacklo_epi8(a, b);
        const __m128i ab1 = _mm_unpackhi_epi8(a, b);
        const __m128i low = _mm_set1_epi32(pairs->low[k]);
        const __m128i high = _mm_set1_epi16(pairs->high[k]);

        high0 = _mm_add_epi16(high0, _mm_maddubs_epi16(ab0, high));
        high1 = _mm_add_epi16(high1, _mm_maddubs_epi16(ab1, high));
        low0 = add_low(low0, _mm_unpacklo_epi8(ab0, zero), low);
        low1 = add_low(low1, _mm_unpackhi_epi8(ab0, zero), low);
        low2 = add_low(low2, _mm_unpacklo_epi8(ab1, zero), low);
        low3 = add_low(low3, _mm_unpackhi_epi8(ab1, zero), low);
    }
    return _mm_packus_epi16(to_words(low0, low1, high0),
                            to_words(low2, low3, high1));
}

void pfi_vertical_sse41(unsigned char *out, const unsigned char *const *rows,
                        const int32_t *weights, int32_t count, size_t bytes)
{
    struct pfi_pairs pairs;

    if (bytes < PFI_COLUMNS || !pfi_pairs_make(&pairs, rows, weights, count)) {
        pfi_vertical_c(out, rows, weights, count, bytes);
        return;
    }
    for (size_t x = 0; x < bytes; x += PFI_COLUMNS) {
        /* The last columns may be those before them, too. */
        const size_t at = x + PFI_COLUMNS > bytes ? bytes - PFI_COLUMNS : x;

        _mm_storeu_si128((__m128i *)(out + at), sum_columns(&pairs, at));
    }
}
