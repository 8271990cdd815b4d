/* SPDX-License-Identifier: Apache-2.0
 * Weights of pairs of rows as pmaddwd and pmaddubsw take them. */
#ifndef PFI_TRANSFORMS_X86_SPLIT_H
#define PFI_TRANSFORMS_X86_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pairs of rows that are summed at once; more of them are left to C. */
#define PFI_PAIRS 64

/* weight = high * 65536 + low, modulo 2^32; low is signed and has 16 bits. */
struct pfi_pairs {
    int32_t n;
    const unsigned char *rows[2 * PFI_PAIRS];
    int32_t low[PFI_PAIRS];  /* of the first row, of the second << 16 */
    int16_t high[PFI_PAIRS]; /* of the first row, of the second << 8 */
};

/* False where there are too many rows, or where pmaddubsw would saturate: its 16
 * bits hold 255 * 128.  Sums of its results may wrap, for only their lowest 16
 * bits count in a sum of 32. */
static inline bool pfi_pairs_make(struct pfi_pairs *pairs,
                                  const unsigned char *const *rows,
                                  const int32_t *weights, int32_t count)
{
    int32_t size = 0; /* of a pair's high halves */

    if (count < 1 || count > 2 * PFI_PAIRS)
        return false;
    pairs->n = (count + 1) / 2;
    for (int32_t k = 0; k < 2 * pairs->n; k++) {
        const bool last = k == count; /* of an odd number: once more, by 0 */
        const uint32_t w = last ? 0 : (uint32_t)weights[k];
        const int32_t high = (int16_t)((w + 0x8000u) >> 16);
        const uint32_t low = w & 0xFFFFu;

        pairs->rows[k] = rows[last ? k - 1 : k];
        size = (k % 2 ? size : 0) + (high < 0 ? -high : high);
        if (k % 2 == 0) {
            pairs->low[k / 2] = (int32_t)low;
            pairs->high[k / 2] = (int16_t)(high & 0xFF);
        } else {
            pairs->low[k / 2] =
                (int32_t)((uint32_t)pairs->low[k / 2] | low << 16);
            pairs->high[k / 2] =
                (int16_t)((pairs->high[k / 2] & 0xFF) | (high & 0xFF) << 8);
        }
        if (size > 128 || high > 127)
            return false;
    }
    return true;
}

#endif
