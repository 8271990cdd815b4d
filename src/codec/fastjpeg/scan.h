/* SPDX-License-Identifier: Apache-2.0
 * The coded data of one picture: bytes without stuffing, a bit reader, and the
 * decoder's state between two calls. */
#ifndef PFI_CODEC_FASTJPEG_SCAN_H
#define PFI_CODEC_FASTJPEG_SCAN_H

#include "src/codec/fastjpeg/huffman.h"

/* Blocks in an MCU of 4:2:0. */
#define PFI_FAST_MAX_BLOCKS 6
/* Bytes that an MCU can take: 64 symbols a block, each a code of 16 bits and a
 * value of 15.  What is read from is followed by as many, and 8 for the bit
 * reader, so that nothing is checked inside an MCU. */
#define PFI_FAST_MCU_BYTES (PFI_FAST_MAX_BLOCKS * 64 * 4)
#define PFI_FAST_SLACK (PFI_FAST_MCU_BYTES + 64)
/* Bytes unstuffed at a time: they stay in the first-level cache. */
#define PFI_FAST_CHUNK 8192

/* The next bits of the data.
 *
 * The first `n` bits of `bits`, from its highest on, have not been used yet.
 * Bits below those are what follows them in the data, or 0: a refill may
 * therefore put 8 bytes over them with an OR, whatever they are.  `at` is the
 * byte behind those n bits, up to 7 of which may begin it. */
struct pfi_fast_bits {
    uint64_t bits;
    uint32_t n;
    const unsigned char *at;
};

struct pfi_fast_scan {
    /* What an MCU is made of. */
    int n_blocks;
    int component[PFI_FAST_MAX_BLOCKS];
    const struct pfi_fast_coder *coder[PFI_FAST_MAX_BLOCKS];
    uint32_t restart;            /* MCUs in a segment; 0 = all */
    /* Where in the file the data are to be unstuffed from. */
    const unsigned char *from, *end;
    unsigned char *chunk;        /* PFI_FAST_CHUNK + PFI_FAST_SLACK bytes */
    /* Where an MCU may begin without asking pfi_fast_scan_more(): below
     * `limit`.  `data_end` is behind the bytes that were unstuffed. */
    const unsigned char *limit, *data_end;
    bool segment_ends;           /* a marker stands behind data_end */
    struct pfi_fast_bits reader;
    int dc[PFI_FAST_MAX_COMPONENTS]; /* of the last block */
    uint32_t mcus_left;          /* in the segment */
    int next_restart;            /* 0 to 7 */
    int doubt;                   /* a DC value beyond 16 bits was seen */
    /* Blocks that nobody wants, and what a store may spill. */
    _Alignas(64) int16_t unwanted[PFI_FAST_MAX_BLOCKS * 64 + 64];
};

/* Decodes `count` MCUs of one segment, one row of them at most: the blocks in
 * the order of the data, 64 coefficients each in zigzag order, added to `out`,
 * which must be 0 and have 64 coefficients to spare.  out == NULL: not stored.
 * False: libjpeg must decide what the data mean. */
typedef bool pfi_fast_decode(struct pfi_fast_scan *scan, uint32_t count,
                             int16_t *out);

/* Begins the scan at `data`; `chunk` is set by the caller, as are the fields of
 * the MCU. */
void pfi_fast_scan_begin(struct pfi_fast_scan *scan, const unsigned char *data,
                         const unsigned char *end);

/* The bit reader has come to `limit`: brings in more of the segment.  False
 * where it has read past the segment's end. */
bool pfi_fast_scan_more(struct pfi_fast_scan *scan);

/* Whether what was used of the segment lies within it. */
bool pfi_fast_scan_within(const struct pfi_fast_scan *scan);

/* Whether all of the segment was unstuffed and used, but for less than a byte;
 * what comes next is then at scan->from. */
bool pfi_fast_scan_used_up(struct pfi_fast_scan *scan);

/* After a segment's last MCU: checks that it ends here and that the next one
 * follows. */
bool pfi_fast_scan_restart(struct pfi_fast_scan *scan);

/* Whether only coded data and restart markers lie before the end marker.
 * `exact`: all MCUs were decoded, the end marker must stand here. */
bool pfi_fast_scan_finish(struct pfi_fast_scan *scan, bool exact);

#endif
