/* SPDX-License-Identifier: Apache-2.0
 * A PNG's container, by Pillow's rules. */
#ifndef PFI_CODEC_PNG_CHUNKS_H
#define PFI_CODEC_PNG_CHUNKS_H

#include <stdbool.h>

#include "src/base/error.h"

struct pfi_png_info {
    int32_t width, height;
    int depth, colour, interlace;
    const char *mode;             /* Pillow's */
    const unsigned char *palette; /* 3 bytes an entry, or NULL */
    int palette_size;             /* entries */
    size_t idat;                  /* offset of the first IDAT chunk */
};

/* Walks the chunks before the first IDAT as PngImagePlugin of Pillow 13.0.0
 * does: their CRCs must be right, their contents are read by few. */
pinfold_status pfi_png_info(const unsigned char *data, size_t size,
                            struct pfi_png_info *out, pinfold_error *err);

/* The run of IDAT chunks, whose CRCs nobody checks. */
struct pfi_png_data {
    const unsigned char *data;
    size_t size, next; /* offset of the next chunk's header */
};

/* Stores the next IDAT's bytes that are there, maybe none; false at the end of
 * the run. */
bool pfi_png_next_data(struct pfi_png_data *run, const unsigned char **bytes,
                       size_t *n);

/* Channels of a pixel as it is stored. */
int pfi_png_channels(int colour);

#endif
