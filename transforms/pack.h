/* SPDX-License-Identifier: Apache-2.0
 * Tables of taps in the shape that vector kernels load. */
#ifndef PFI_TRANSFORMS_PACK_H
#define PFI_TRANSFORMS_PACK_H

#include "transforms/taps.h"

/* A block makes `lanes` sums in n_steps steps.  A step loads one window of
 * input bytes for every so many lanes, from its offset on, picks each lane's
 * bytes by a byte shuffle and multiplies them by the lane's weights.
 *
 *   16: 8 lanes of 2 taps, two windows of 16 bytes; 16-bit elements
 *       32 picks, 16 low halves of the weights, 16 high halves; the low halves
 *       are signed: weight = high * 65536 + low, modulo 2^32
 *   8:  16 lanes of 4 taps, one window of 64 bytes; 8-bit elements
 *       64 picks, 64 digits each of weight = d[2] * 65536 + d[1] * 256 + d[0],
 *       every digit signed
 *   32: 8 lanes of 1 tap, two windows of 16 bytes; 32-bit elements
 *       32 picks, 8 weights
 *
 * A pick of 0x80 is a zero (in 8: anything, with a weight of zero).
 *
 * In a narrow table the lanes of a block are the next output bytes.  In a wide
 * one, for outputs that lie too far apart to share windows, a block is one
 * pixel: lane l is channel l % 4 (3 is none) of every so many taps, and the
 * sums of equal channels have to be added up. */
enum pfi_pack_format {
    PFI_PACK_NONE = 0,
    PFI_PACK_16 = 1,
    PFI_PACK_8 = 2,
    PFI_PACK_32 = 3
};

struct pfi_pack {
    bool wide;
    int32_t n_blocks, n_steps;
    size_t in_bytes, out_bytes;
    int32_t *offsets;     /* [n_blocks][n_steps][windows] */
    unsigned char *cells; /* [n_blocks][n_steps] of picks and weights; 64-byte
                           * aligned */
};

/* Most bytes that pfi_pack_make() takes for an axis in any format. */
size_t pfi_pack_bytes(const struct pfi_axis *axis);

/* Makes the tables for rows of in_bytes.  Returns PINFOLD_OK;
 * PINFOLD_E_UNSUPPORTED where the format cannot hold these taps or rows, or the
 * tables would be too large to pay; PINFOLD_E_MEMORY. */
pinfold_status pfi_pack_make(struct pfi_pack *pack, struct pfi_arena *arena,
                             const struct pfi_axis *axis,
                             const struct pfi_taps *taps,
                             enum pfi_pack_format format);

#endif
