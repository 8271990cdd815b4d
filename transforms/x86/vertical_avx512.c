/* SPDX-License-Identifier: Apache-2.0
 * Vertical pass: four rows at once, the weights in three signed digits. */
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "transforms/x86/kernels_x86.h"

/* Fours of rows that are summed at once; more of them are left to C. */
#define PFI_FOURS 32

struct fours {
    int32_t n;
    const unsigned char *rows[4 * PFI_FOURS];
    unsigned char digits[3][4 * PFI_FOURS];
};

/* weight = d[2] * 65536 + d[1] * 256 + d[0], each signed: adding 128 at each
 * place carries what makes a digit negative.  False where that does not hold
 * every weight. */
static bool make_fours(struct fours *fours, const unsigned char *const *rows,
                       const int32_t *weights, int32_t count)
{
    if (count < 1 || count > 4 * PFI_FOURS)
        return false;
    fours->n = (count + 3) / 4;
    for (int32_t k = 0; k < 4 * fours->n; k++) {
        /* What is missing in the last four is a row once more, by 0. */
        const int32_t w = k < count ? weights[k] : 0;
        const uint32_t digits = (uint32_t)w + 0x808080u;

        if (w > 0x7F7F7F || w < -0x808080)
            return false;
        fours->rows[k] = rows[k < count ? k : count - 1];
        fours->digits[0][k] = (unsigned char)((digits & 0xFF) ^ 0x80);
        fours->digits[1][k] = (unsigned char)((digits >> 8 & 0xFF) ^ 0x80);
        fours->digits[2][k] = (unsigned char)((digits >> 16 & 0xFF) ^ 0x80);
    }
    return true;
}

static inline __m512i digit(const unsigned char *digits)
{
    int four;

    memcpy(&four, digits, sizeof(four));
    return _mm512_set1_epi32(four);
}

static inline __m512i to_words(const __m512i a[3], const __m512i b[3])
{
    const __m512i a1 = _mm512_add_epi32(a[1], _mm512_slli_epi32(a[2], 8));
    const __m512i b1 = _mm512_add_epi32(b[1], _mm512_slli_epi32(b[2], 8));
    const __m512i a0 = _mm512_add_epi32(a[0], _mm512_slli_epi32(a1, 8));
    const __m512i b0 = _mm512_add_epi32(b[0], _mm512_slli_epi32(b1, 8));

    return _mm512_packs_epi32(_mm512_srai_epi32(a0, PFI_WEIGHT_BITS),
                              _mm512_srai_epi32(b0, PFI_WEIGHT_BITS));
}

/* The 64 columns from x on; only those in `mask` are read. */
static inline __m512i sum_columns(const struct fours *fours, size_t x,
                                  __mmask64 mask)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i half = _mm512_set1_epi32(PFI_HALF);
    __m512i s0[3] = {half, zero, zero}, s1[3] = {half, zero, zero};
    __m512i s2[3] = {half, zero, zero}, s3[3] = {half, zero, zero};

    for (int32_t k = 0; k < 4 * fours->n; k += 4) {
        const unsigned char *const *const r = fours->rows + k;
        const __m512i a = _mm512_maskz_loadu_epi8(mask, r[0] + x);
        const __m512i b = _mm512_maskz_loadu_epi8(mask, r[1] + x);
        const __m512i c = _mm512_maskz_loadu_epi8(mask, r[2] + x);
        const __m512i d = _mm512_maskz_loadu_epi8(mask, r[3] + x);
        const __m512i ab0 = _mm512_unpacklo_epi8(a, b);
        const __m512i ab1 = _mm512_unpackhi_epi8(a, b);
        const __m512i cd0 = _mm512_unpacklo_epi8(c, d);
        const __m512i cd1 = _mm512_unpackhi_epi8(c, d);
        const __m512i p0 = _mm512_unpacklo_epi16(ab0, cd0);
        const __m512i p1 = _mm512_unpackhi_epi16(ab0, cd0);
        const __m512i p2 = _mm512_unpacklo_epi16(ab1, cd1);
        const __m512i p3 = _mm512_unpackhi_epi16(ab1, cd1);

        for (int i = 0; i < 3; i++) {
            const __m512i w = digit(fours->digits[i] + k);

            s0[i] = _mm512_dpbusd_epi32(s0[i], p0, w);
            s1[i] = _mm512_dpbusd_epi32(s1[i], p1, w);
            s2[i] = _mm512_dpbusd_epi32(s2[i], p2, w);
            s3[i] = _mm512_dpbusd_epi32(s3[i], p3, w);
        }
    }
    return _mm512_packus_epi16(to_words(s0, s1), to_words(s2, s3));
}

void pfi_vertical_avx512(unsigned char *out, const unsigned char *const *rows,
                         const int32_t *weights, int32_t count, size_t bytes)
{
    struct fours fours;

    if (!make_fours(&fours, rows, weights, count)) {
        pfi_vertical_c(out, rows, weights, count, bytes);
        return;
    }
    for (size_t x = 0; x < bytes; x += 64) {
        const size_t left = bytes - x;
        const __mmask64 mask =
            left < 64 ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;

        _mm512_mask_storeu_epi8(out + x, mask, sum_columns(&fours, x, mask));
    }
}
