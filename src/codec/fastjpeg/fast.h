/* SPDX-License-Identifier: Apache-2.0
 * A JPEG decoder for the common files, with libjpeg-turbo's pixels, several
 * times as fast.  What it has any doubt about it leaves to libjpeg-turbo. */
#ifndef PFI_CODEC_FASTJPEG_FAST_H
#define PFI_CODEC_FASTJPEG_FAST_H

#include "src/codec/codec.h"
#include "src/codec/fastjpeg/kernels.h"
#include "src/codec/fastjpeg/progress.h"

/* One component's samples within the window. */
struct pfi_fast_plane {
    int h, v;                  /* its blocks in an MCU */
    int in_mcu;                /* its first one's place there */
    int shared_h, shared_v;    /* pixels to a sample */
    int32_t width, height;     /* of the component in the picture, in samples */
    int32_t left, right;       /* of the window's blocks, in blocks */
    int32_t top, bottom;
    size_t stride;
    unsigned char *samples;    /* those of block (left, top) first */
    struct pfi_fast_quant quant;
};

struct pfi_fast {
    struct pfi_fast_header header;
    const unsigned char *data; /* the file */
    size_t size;
    const struct pfi_fast_kernels *kernels;
    uint64_t bytes;            /* taken of the arena */
    struct pfi_window window;
    int32_t across, down;      /* MCUs */
    int32_t left, right, top, bottom; /* of those, what the window needs */
    struct pfi_fast_plane plane[PFI_FAST_MAX_COMPONENTS];
    struct pfi_fast_scan scan;
    struct pfi_fast_progress *progress; /* NULL: sequential */
    int32_t row;               /* of MCUs, the next to be decoded */
    int16_t *blocks;           /* of one row of MCUs, left to right */
    size_t blocks_bytes;
    const int16_t **from;      /* arguments of the inverse transform */
    unsigned char **to;
    int32_t y;                 /* the next row of pixels */
    uint16_t *sums;            /* a row of chroma, two rows blended */
    unsigned char *edged;      /* a row of chroma with its neighbours */
    unsigned char *chroma[2];  /* a row of Cb and of Cr, as wide as luma */
};

/* Reads the header and takes memory.  NULL: `out` can decode `window`;
 * otherwise why libjpeg must, in words, a literal.  kernels == NULL: the best
 * that limits->cpu_level allows. */
const char *pfi_fast_open(struct pfi_fast **out, struct pfi_arena *arena,
                          const unsigned char *data, size_t size,
                          const struct pfi_window *window,
                          const struct pfi_limits *limits,
                          const struct pfi_fast_kernels *kernels);

/* Of a sequential picture: decodes the next row of MCUs; its blocks are at
 * fast->blocks where the window needs it.  False: libjpeg must decide. */
bool pfi_fast_mcu_row(struct pfi_fast *fast);

/* Decodes the window's samples and looks at the rest of the file.  NULL: well;
 * otherwise why libjpeg must decide. */
const char *pfi_fast_decode_window(struct pfi_fast *fast);

/* The window's next row of pixels, 3 bytes each. */
void pfi_fast_row(struct pfi_fast *fast, unsigned char *rgb);

/* ----------------------------------- for the parts of the decoder alone --- */

/* Takes `count` * `size` bytes, counted; the caller bounds them. */
void *pfi_fast_take(struct pfi_fast *fast, struct pfi_arena *arena,
                    size_t count, size_t size);

/* For a progressive picture whose window is placed: the bytes of coefficients
 * and masks; that memory, false where there is none; all scans, NULL or why
 * libjpeg must decide. */
uint64_t pfi_fast_progress_bytes(const struct pfi_fast *fast);
bool pfi_fast_progress_begin(struct pfi_fast *fast, struct pfi_arena *arena,
                             struct pfi_fast_building *room);
const char *pfi_fast_progress_decode(struct pfi_fast *fast);

#endif
