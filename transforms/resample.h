/* SPDX-License-Identifier: Apache-2.0
 * The two passes on 8-bit RGB: the C reference. */
#ifndef PFI_TRANSFORMS_RESAMPLE_H
#define PFI_TRANSFORMS_RESAMPLE_H

#include "transforms/taps.h"

/* One row: out[i] of taps->n RGB pixels from the row `in`. */
void pfi_resample_row(unsigned char *out, const unsigned char *in,
                      const struct pfi_taps *taps);

/* Output row i of the taps: `bytes` bytes from the rows of a ring, in which
 * source row r lies at ring + (r % rows) * bytes. */
void pfi_combine_rows(unsigned char *out, const unsigned char *ring,
                      int32_t rows, size_t bytes, const struct pfi_taps *taps,
                      int32_t i);

#endif
