/* SPDX-License-Identifier: Apache-2.0
 * Resampling in fixed point; every pass rounds to 8 bits. */
#include "transforms/resample.h"

#include "transforms/kernels.h"

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

static void combine_block(unsigned char *out, const unsigned char *const *rows,
                          size_t at, size_t n, const int32_t *weights,
                          int32_t count)
{
    int32_t sums[PFI_BLOCK];

    for (size_t x = 0; x < n; x++)
        sums[x] = PFI_HALF;
    for (int32_t k = 0; k < count; k++)
        for (size_t x = 0; x < n; x++)
            sums[x] += weights[k] * rows[k][at + x];
    for (size_t x = 0; x < n; x++)
        out[at + x] = clip8(sums[x]);
}

void pfi_vertical_c(unsigned char *out, const unsigned char *const *rows,
                    const int32_t *weights, int32_t count, size_t bytes)
{
    for (size_t x = 0; x < bytes; x += PFI_BLOCK)
        combine_block(out, rows, x, bytes - x < PFI_BLOCK ? bytes - x : PFI_BLOCK,
                      weights, count);
}
