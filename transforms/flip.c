/* SPDX-License-Identifier: Apache-2.0
 * Mirrors a row of RGB pixels: the C reference. */
#include "transforms/kernels.h"

void pfi_flip_c(unsigned char *out, const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            out[3 * i + c] = in[3 * (n - 1 - i) + c];
}
