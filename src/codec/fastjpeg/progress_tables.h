/* SPDX-License-Identifier: Apache-2.0
 * Lookup tables for the scans of a progressive JPEG. */
#ifndef PFI_CODEC_FASTJPEG_PROGRESS_TABLES_H
#define PFI_CODEC_FASTJPEG_PROGRESS_TABLES_H

#include "src/codec/fastjpeg/huffman.h"

/* DC differences.  An entry: how many bits code and value take, and above its
 * lowest 16 bits the value; 0: they take more bits than the lookup sees. */
struct pfi_fast_dc_coder {
    uint32_t entry[PFI_FAST_ENTRIES];
    struct pfi_fast_codes codes;
};

#define PFI_FAST_REFINE_BITS 10
#define PFI_FAST_REFINE_ENTRIES (1u << PFI_FAST_REFINE_BITS)

/* What a symbol means where known coefficients are refined. */
enum pfi_fast_refine {
    PFI_FAST_LONG,  /* its code is not all there, or is none */
    PFI_FAST_FRESH, /* a coefficient that was 0 behind `run` others */
    PFI_FAST_ZEROS, /* 16 that stay 0 */
    PFI_FAST_REST,  /* no fresh one in 2^run blocks and more */
    PFI_FAST_NO_MEANING
};

/* An entry: the bits that it takes, of a fresh coefficient with its sign; the
 * run; what it is; whether a fresh coefficient is negative.  A byte each. */
#define PFI_FAST_REFINE_RUN(entry) ((entry) >> 8 & 255)
#define PFI_FAST_REFINE_KIND(entry) ((entry) >> 16 & 255)
#define PFI_FAST_REFINE_NEGATIVE(entry) ((entry) >> 24)

struct pfi_fast_ac_coder {
    struct pfi_fast_table table;              /* of a first scan */
    uint32_t refine[PFI_FAST_REFINE_ENTRIES]; /* of a later one */
    struct pfi_fast_codes codes;
    /* The places of a byte's bits, lowest first, a byte each. */
    uint64_t places[256];
};

/* Both return false where libjpeg would refuse the table. */
bool pfi_fast_dc_coder_make(struct pfi_fast_dc_coder *out,
                            const struct pfi_fast_huffman *h);
/* Only the table that is wanted is made; values are shifted by `shift`. */
bool pfi_fast_ac_coder_make(struct pfi_fast_ac_coder *out,
                            const struct pfi_fast_huffman *h, bool refine,
                            uint32_t shift, struct pfi_fast_building *room);

/* Once, before the first scan: the places. */
void pfi_fast_ac_coder_begin(struct pfi_fast_ac_coder *out);

#endif
