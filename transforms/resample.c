/* SPDX-License-Identifier: Apache-2.0
 * Resampling in fixed point; every pass rounds to 8 bits. */
#include "transforms/resample.h"

#define PFI_HALF ((int32_t)1 << (PFI_WEIGHT_BITS - 1))

/* Columns that are summed at once in the vertical pass. */
#define PFI_BLOCK 256

static unsigned char clip8(int32_t sum)
{
    const int32_t value = sum >> PFI_WEIGHT_BITS;

    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

void pfi_resample_row(unsigned char *out, const unsigned char *in,
                      const struct pfi_taps *taps)
{
    for (int32_t i = 0; i < taps->n; i++) {
        const int32_t *const w =
            taps->weights + (size_t)i * (size_t)taps->stride;
        const unsigned char *p = in + (size_t)taps->first[i] * 3;
        int32_t r = PFI_HALF, g = PFI_HALF, b = PFI_HALF;

        for (int32_t k = 0; k < taps->count[i]; k++, p += 3) {
            r += w[k] * p[0];
            g += w[k] * p[1];
            b += w[k] * p[2];
        }
        out[3 * i] = clip8(r);
        out[3 * i + 1] = clip8(g);
        out[3 * i + 2] = clip8(b);
    }
}

static void combine_block(unsigned char *out, const unsigned char *ring,
                          int32_t rows, size_t bytes, size_t n,
                          const int32_t *weights, int32_t first, int32_t count)
{
    int32_t sums[PFI_BLOCK];

    for (size_t x = 0; x < n; x++)
        sums[x] = PFI_HALF;
    for (int32_t k = 0; k < count; k++) {
        const unsigned char *const row =
            ring + (size_t)((first + k) % rows) * bytes;
        const int32_t w = weights[k];

        for (size_t x = 0; x < n; x++)
            sums[x] += w * row[x];
    }
    for (size_t x = 0; x < n; x++)
        out[x] = clip8(sums[x]);
}

void pfi_combine_rows(unsigned char *out, const unsigned char *ring,
                      int32_t rows, size_t bytes, const struct pfi_taps *taps,
                      int32_t i)
{
    const int32_t *const w = taps->weights + (size_t)i * (size_t)taps->stride;

    for (size_t x = 0; x < bytes; x += PFI_BLOCK) {
        const size_t left = bytes - x;

        combine_block(out + x, ring + x, rows, bytes,
                      left < PFI_BLOCK ? left : PFI_BLOCK, w, taps->first[i],
                      taps->count[i]);
    }
}
