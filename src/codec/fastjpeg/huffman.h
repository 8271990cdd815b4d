/* SPDX-License-Identifier: Apache-2.0
 * Lookup tables that decode several Huffman symbols at once. */
#ifndef PFI_CODEC_FASTJPEG_HUFFMAN_H
#define PFI_CODEC_FASTJPEG_HUFFMAN_H

#include "src/codec/fastjpeg/header.h"

/* Bits that one lookup sees.  Eleven keep what is waited for of a photograph's two
 * tables (8 KiB) in the first-level cache. */
#define PFI_FAST_BITS 11
#define PFI_FAST_ENTRIES (1u << PFI_FAST_BITS)

/* Bits that one lookup takes at most: the last value may lie beyond what it
 * sees. */
#define PFI_FAST_REACH 18

/* What the AC symbols of the next PFI_FAST_BITS bits are.  Arrays of their own,
 * because only control is waited for.
 *
 * control: bits that its symbols take, 1 to PFI_FAST_REACH, and in the higher
 *   byte the coefficients that it goes on by, and PFI_FAST_END more if the block
 *   ends; or PFI_FAST_SPECIAL there, where nothing is known of the first symbol.
 *   A position plus the higher byte is thus below 64 in the common case and only
 *   there.
 * tail: as many ones as the last symbol's value has bits.  They are the last of
 *   those taken, and belong to the coefficient before the one that it goes on
 *   to.
 * values, offset: up to 8 coefficients before that one, a signed byte each, the
 *   first in the lowest, and how many are in front of it; what is no value is
 *   0. */
struct pfi_fast_table {
    uint16_t control[PFI_FAST_ENTRIES];
    uint8_t offset[PFI_FAST_ENTRIES];
    uint16_t tail[PFI_FAST_ENTRIES];
    uint64_t values[PFI_FAST_ENTRIES];
};

#define PFI_FAST_END 128u
#define PFI_FAST_SPECIAL 192u
#define PFI_FAST_USED(control) ((control) & 255)
#define PFI_FAST_ADVANCE(control) ((control) >> 8)

/* For one symbol of any length: codes of `length` bits, aligned to the left of
 * 16 bits, are below limit[length]; symbol = symbols[base[length] + code]. */
struct pfi_fast_codes {
    uint32_t limit[17];
    int32_t base[17];
    unsigned char symbols[256];
};

/* For a DC difference: the length of its code, and in the higher byte the size
 * of its value.  Length 0: the code is longer than PFI_FAST_DC_BITS, or there
 * is none. */
#define PFI_FAST_DC_BITS 9
struct pfi_fast_sizes {
    uint16_t entry[1 << PFI_FAST_DC_BITS];
};

/* What a block of one component is decoded with. */
struct pfi_fast_coder {
    struct pfi_fast_huffman dc_from, ac_from; /* what it was made of */
    struct pfi_fast_sizes dc;
    struct pfi_fast_table ac;
    struct pfi_fast_codes dc_codes, ac_codes;
    uint64_t used; /* by the cache; 0 = not made yet */
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

/* The parts of that: false where libjpeg would refuse the table; the lookups
 * that AC symbols begin whose values have `largest` bits at most. */
bool pfi_fast_codes_make(struct pfi_fast_codes *out,
                         const struct pfi_fast_huffman *h);
bool pfi_fast_dc_symbols_allowed(const struct pfi_fast_huffman *h);
void pfi_fast_table_make(struct pfi_fast_table *out,
                         const struct pfi_fast_huffman *ac, uint32_t largest,
                         struct pfi_fast_building *room);

#endif
