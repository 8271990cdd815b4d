/* SPDX-License-Identifier: Apache-2.0
 * Lookup tables that decode several Huffman symbols at once. */
#ifndef PFI_CODEC_FASTJPEG_HUFFMAN_H
#define PFI_CODEC_FASTJPEG_HUFFMAN_H

#include "src/codec/fastjpeg/header.h"

/* Bits that one lookup sees.  Eleven keep the control words of a photograph's
 * four tables (32 KiB) in the first-level cache. */
#define PFI_FAST_BITS 11
#define PFI_FAST_ENTRIES (1u << PFI_FAST_BITS)

/* What the next PFI_FAST_BITS bits begin with.
 *
 * control: bits 0 to 5: bits that its symbols take, 1 to PFI_FAST_BITS;
 *          8 to 14: coefficients that it goes on by;
 *          16 to 21: coefficients in front of the first value;
 *          31: the block ends.
 * values:  up to 8 coefficients from the first value on, a signed byte each,
 *          the first in the lowest; what is no value is 0.
 *
 * Where the first symbol's code is there but not all of its value, or the value
 * takes more than a byte, bits 0 to 5 are 0, and 8 to 11 are the symbol's size,
 * 12 to 15 its run, 16 to 20 its code's length.  0: the code is longer, or none.
 * The two arrays are apart because only control is waited for. */
struct pfi_fast_table {
    uint32_t control[PFI_FAST_ENTRIES];
    uint64_t values[PFI_FAST_ENTRIES];
};

#define PFI_FAST_END 0x80000000u
#define PFI_FAST_ADVANCE(control) ((control) >> 8 & 127)
#define PFI_FAST_OFFSET(control) ((control) >> 16 & 63)
#define PFI_FAST_SIZE(control) ((control) >> 8 & 15)
#define PFI_FAST_RUN(control) ((control) >> 12 & 15)
#define PFI_FAST_LENGTH(control) ((control) >> 16 & 31)

/* For one symbol of any length: codes of `length` bits, aligned to the left of
 * 16 bits, are below limit[length]; symbol = symbols[base[length] + code]. */
struct pfi_fast_codes {
    uint32_t limit[17];
    int32_t base[17];
    unsigned char symbols[256];
};

/* What a block of one component is decoded with. */
struct pfi_fast_coder {
    struct pfi_fast_huffman dc_from, ac_from; /* what it was made of */
    struct pfi_fast_table first; /* where a DC difference comes next */
    struct pfi_fast_table rest;  /* where an AC symbol comes next */
    struct pfi_fast_codes dc, ac;
    uint64_t used;               /* by the cache; 0 = not made yet */
};

/* Room for the building. */
struct pfi_fast_building {
    uint32_t control[2 * PFI_FAST_ENTRIES];
    uint64_t values[2 * PFI_FAST_ENTRIES];
};

/* False where libjpeg would refuse a table (jdhuff.c,
 * jpeg_make_d_derived_tbl()). */
bool pfi_fast_coder_make(struct pfi_fast_coder *out,
                         const struct pfi_fast_huffman *dc,
                         const struct pfi_fast_huffman *ac,
                         struct pfi_fast_building *room);

#endif
