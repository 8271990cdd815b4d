/* SPDX-License-Identifier: Apache-2.0
 * Lookup tables that decode several Huffman symbols at once. */
#ifndef PFI_CODEC_FASTJPEG_HUFFMAN_H
#define PFI_CODEC_FASTJPEG_HUFFMAN_H

#include "src/codec/fastjpeg/header.h"

/* Bits that one lookup sees.  Eleven keep the control words of a photograph's
 * two tables (16 KiB) in the first-level cache. */
#define PFI_FAST_BITS 11
#define PFI_FAST_ENTRIES (1u << PFI_FAST_BITS)

/* What the AC symbols of the next PFI_FAST_BITS bits are.
 *
 * control, from its lowest byte on:
 *   bits that its symbols take, 1 to PFI_FAST_BITS;
 *   coefficients that it goes on by, and PFI_FAST_END more if the block ends;
 *   coefficients in front of the first value;
 *   the first symbol's code length times 16 and its size, or 0 where that
 *   symbol is 16 zeros: for the case that the others are not wanted.
 * values: up to 8 coefficients from the first value on, a signed byte each, the
 *   first in the lowest; what is no value is 0.
 *
 * Where the first symbol's code is there but not all of its value, or the value
 * takes more than a byte, control is: 0, PFI_FAST_SPECIAL, the symbol, its
 * code's length.  Length 0: the code is longer than the lookup, or there is
 * none.  A position plus the second byte is thus below 64 in the common case
 * and only there.  The two arrays are apart because only control is waited
 * for. */
struct pfi_fast_table {
    uint32_t control[PFI_FAST_ENTRIES];
    uint64_t values[PFI_FAST_ENTRIES];
};

#define PFI_FAST_END 128u
#define PFI_FAST_SPECIAL 192u
#define PFI_FAST_USED(control) ((control) & 255)
#define PFI_FAST_ADVANCE(control) ((control) >> 8 & 255)
#define PFI_FAST_OFFSET(control) ((control) >> 16 & 255)
#define PFI_FAST_LAST(control) ((control) >> 24)

/* For one symbol of any length: codes of `length` bits, aligned to the left of
 * 16 bits, are below limit[length]; symbol = symbols[base[length] + code]. */
struct pfi_fast_codes {
    uint32_t limit[17];
    int32_t base[17];
    unsigned char symbols[256];
};

/* For blocks that nobody wants: what the AC symbols of the next
 * PFI_FAST_SKIP_BITS bits take with their values, PFI_FAST_SKIP_MOST bits at
 * most, and in the higher byte how far they go on, as in a table's control.
 * The last value may lie beyond what the lookup sees.  PFI_FAST_SPECIAL:
 * nothing is known of the first symbol. */
#define PFI_FAST_SKIP_BITS 11
#define PFI_FAST_SKIP_MOST 18
struct pfi_fast_skips {
    uint16_t entry[1 << PFI_FAST_SKIP_BITS];
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
    struct pfi_fast_skips skips;
    struct pfi_fast_codes dc_codes, ac_codes;
    uint64_t used; /* by the cache; 0 = not made yet */
};

/* Room for the building. */
struct pfi_fast_building {
    uint32_t control[2 * PFI_FAST_ENTRIES];
    uint64_t values[2 * PFI_FAST_ENTRIES];
    uint16_t skips[2 << PFI_FAST_SKIP_BITS];
};

/* False where libjpeg would refuse a table (jdhuff.c,
 * jpeg_make_d_derived_tbl()). */
bool pfi_fast_coder_make(struct pfi_fast_coder *out,
                         const struct pfi_fast_huffman *dc,
                         const struct pfi_fast_huffman *ac,
                         struct pfi_fast_building *room);

/* Fills `out`; `room` has twice as many entries. */
void pfi_fast_skips_make(struct pfi_fast_skips *out,
                         const struct pfi_fast_huffman *ac, uint16_t *room);

/* The parts of that: false where libjpeg would refuse the table; the lookups
 * that AC symbols begin. */
bool pfi_fast_codes_make(struct pfi_fast_codes *out,
                         const struct pfi_fast_huffman *h);
bool pfi_fast_dc_symbols_allowed(const struct pfi_fast_huffman *h);
void pfi_fast_table_make(struct pfi_fast_table *out,
                         const struct pfi_fast_huffman *ac,
                         struct pfi_fast_building *room);

#endif
