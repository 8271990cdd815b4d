/* SPDX-License-Identifier: Apache-2.0
 * What the fast JPEG decoder must know of a file before its coded data, and
 * whether the file is one that it takes. */
#ifndef PFI_CODEC_FASTJPEG_HEADER_H
#define PFI_CODEC_FASTJPEG_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFI_FAST_MAX_COMPONENTS 3

/* A Huffman table as DHT gives it: `counts[i]` codes of i + 1 bits, and the
 * symbols in the order of their codes. */
struct pfi_fast_huffman {
    unsigned char counts[16];
    unsigned char symbols[256];
};

struct pfi_fast_component {
    int id, h, v;            /* sampling factors */
    int quant, dc, ac;       /* numbers of the tables */
};

struct pfi_fast_header {
    int32_t width, height;
    int n_components;        /* 1 or 3 */
    struct pfi_fast_component component[PFI_FAST_MAX_COMPONENTS];
    bool progressive;
    bool rgb;                /* the components are red, green and blue */
    uint32_t restart;        /* MCUs from one marker to the next; 0 = none */
    size_t scan_at;          /* offset of the first scan's marker */
    size_t data_at;          /* of its coded data */
    uint64_t libjpeg_bytes;  /* memory that libjpeg would be counted with */
    uint16_t quant[4][64];   /* in zigzag order */
    struct pfi_fast_huffman dc[4], ac[4];
    unsigned quants, dcs, acs; /* bits: which of the tables were defined */
};

/* Reads up to the first scan.  NULL where the file is a sequential or a
 * progressive Huffman JPEG of 8 bits, of 1 component or of 3, with luma sampled
 * 1x1, 2x1 or 2x2, a sequential one in one scan, and libjpeg would read these
 * headers without a remark; otherwise why not, in words, a literal. */
const char *pfi_fast_header_read(struct pfi_fast_header *out,
                                 const unsigned char *data, size_t size);

/* The contents of a segment DHT or DRI. */
const char *pfi_fast_header_huffman(struct pfi_fast_header *out,
                                    const unsigned char *s, size_t n);
const char *pfi_fast_header_restart(struct pfi_fast_header *out,
                                    const unsigned char *s, size_t n);

#endif
