/* SPDX-License-Identifier: Apache-2.0
 * The scans of a progressive JPEG: coefficients of the window's blocks, and of
 * every block of the picture which of them are not 0. */
#ifndef PFI_CODEC_FASTJPEG_PROGRESS_H
#define PFI_CODEC_FASTJPEG_PROGRESS_H

#include "src/codec/fastjpeg/progress_tables.h"
#include "src/codec/fastjpeg/scan.h"

/* More scans than any encoder's script has are libjpeg's to limit. */
#define PFI_FAST_SCANS 32
/* Beyond this shift a lookup's byte leaves 16 bits. */
#define PFI_FAST_MOST_SHIFT 8

/* A scan's header (ITU-T T.81, B.2.3). */
struct pfi_fast_band {
    int n;           /* components; 0 = no scan, the file ends */
    int component[PFI_FAST_MAX_COMPONENTS];
    int dc[PFI_FAST_MAX_COMPONENTS], ac[PFI_FAST_MAX_COMPONENTS];
    int first, last; /* coefficients, in zigzag order */
    int before;      /* lowest bit that is known already; 0 = none are */
    int shift;       /* lowest bit that this scan brings */
};

/* What the scans so far have brought. */
struct pfi_fast_known {
    /* The lowest bit of each coefficient that is known; -1 = none are. */
    int8_t low[PFI_FAST_MAX_COMPONENTS][64];
    int32_t scans;
};

/* The AC scan that a kernel is in. */
struct pfi_fast_ac {
    uint32_t first, last, shift;
    uint32_t rest; /* blocks from here on that have no further symbol */
    struct pfi_fast_ac_coder coder;
};

/* Decodes `count` blocks of an AC scan, one row and one segment at most, into
 * out, 64 coefficients each in zigzag order with as many to spare behind; out
 * == NULL: not stored.  Bit k of a block's mask: coefficient k is not 0.
 * False: libjpeg must decide what the data mean. */
typedef bool pfi_fast_ac_scan(struct pfi_fast_scan *scan,
                              struct pfi_fast_ac *ac, uint32_t count,
                              int16_t *out, uint64_t *masks);

struct pfi_fast_progress {
    struct pfi_fast_band band;
    struct pfi_fast_known known;
    int32_t across[PFI_FAST_MAX_COMPONENTS]; /* blocks that are not padding */
    int32_t down[PFI_FAST_MAX_COMPONENTS];
    uint64_t *masks[PFI_FAST_MAX_COMPONENTS];
    int16_t *blocks[PFI_FAST_MAX_COMPONENTS]; /* the window's, row after row */
    int16_t *dc_row;          /* of a row of MCUs */
    struct pfi_fast_dc_coder dc[PFI_FAST_MAX_COMPONENTS];
    struct pfi_fast_ac ac;
    struct pfi_fast_building *room;
};

void pfi_fast_scans_begin(struct pfi_fast_known *known);

/* Reads what stands before the next scan, and its header, and notes what it
 * brings.  NULL, or why libjpeg must decide: it would mend or remark on that
 * scan, or the file ends and not all is known. */
const char *pfi_fast_scans_next(struct pfi_fast_header *header,
                                struct pfi_fast_known *known,
                                const unsigned char *data, size_t size,
                                size_t *at, struct pfi_fast_band *out);

/* Goes over all scans without decoding: NULL, or why not. */
const char *pfi_fast_scans_check(const struct pfi_fast_header *header,
                                 const unsigned char *data, size_t size,
                                 int32_t most);

/* DC scans: `count` MCUs to one value a block, in the data's order; scan's MCU
 * is that of the scan.  A later scan brings 0 or its bit. */
bool pfi_fast_dc_first(struct pfi_fast_scan *scan,
                       const struct pfi_fast_dc_coder *coders, uint32_t shift,
                       uint32_t count, int16_t *out);
bool pfi_fast_dc_refine(struct pfi_fast_scan *scan, uint32_t shift,
                        uint32_t count, int16_t *out);

#endif
