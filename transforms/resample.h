/* SPDX-License-Identifier: Apache-2.0
 * The pass along a row, on 8-bit RGB: the C reference. */
#ifndef PFI_TRANSFORMS_RESAMPLE_H
#define PFI_TRANSFORMS_RESAMPLE_H

#include "transforms/taps.h"

/* One row: out[i] of taps->n RGB pixels from the row `in`. */
void pfi_resample_row(unsigned char *out, const unsigned char *in,
                      const struct pfi_taps *taps);

#endif
