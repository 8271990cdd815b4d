/* SPDX-License-Identifier: Apache-2.0
 * A PNG's container, by Pillow's rules. */
#ifndef PFI_CODEC_PNG_CHUNKS_H
#define PFI_CODEC_PNG_CHUNKS_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/limits.h"

/* What Pillow's info["transparency"] holds.  It changes no pixel, but some of
 * it makes convert("RGB") fail. */
enum pfi_png_trns {
    PFI_PNG_TRNS_NONE,
    PFI_PNG_TRNS_BYTES,  /* an alpha for each palette entry */
    PFI_PNG_TRNS_INT,    /* a grey, or a palette entry */
    PFI_PNG_TRNS_COLOUR, /* three samples of 8 bits */
    PFI_PNG_TRNS_DEEP,   /* three samples, one of them above 255 */
    PFI_PNG_TRNS_TEXT    /* a text chunk with that keyword */
};

struct pfi_png_info {
    const unsigned char *data; /* the whole file */
    size_t size, at;           /* `at`: where Pillow's file pointer stands */
    uint32_t left;             /* bytes of the picture's chunk after `at` */
    const struct pfi_limits *limits;

    int32_t width, height;        /* of the picture */
    uint32_t header_width, header_height; /* of the last IHDR */
    int depth, colour;
    bool interlace;
    const char *mode;             /* Pillow's; NULL before an IHDR */
    const unsigned char *palette; /* 3 bytes an entry, or NULL */
    uint32_t palette_bytes;
    struct {
        int32_t left, top, width, height;
    } tile; /* the part that the data fill */

    /* An animation's first frame may be smaller than the picture. */
    bool has_box, box_is_text, has_sequence, default_image, animated;
    bool has_frames;
    uint32_t box[4]; /* left, top, width, height */
    uint32_t sequence, frames;

    enum pfi_png_trns transparency;
    uint64_t text;     /* length of all texts */
    uint64_t inflated; /* bytes that texts and profiles inflated to */
};

/* Walks the chunks before the picture's data as PngImagePlugin of Pillow 13.0.0
 * does: their CRCs must be right, and some of their contents.  `data`, `size`
 * and `limits` must be set, all else 0. */
pinfold_status pfi_png_open(struct pfi_png_info *info, pinfold_error *err);

/* Stores the next bytes of the picture's data, at most 64 KiB and never none;
 * their CRCs are not checked. */
pinfold_status pfi_png_next_data(struct pfi_png_info *info,
                                 const unsigned char **bytes, size_t *n,
                                 pinfold_error *err);

/* Walks the chunks behind the picture, whose contents can still make Pillow
 * refuse it. */
pinfold_status pfi_png_end(struct pfi_png_info *info, pinfold_error *err);

/* Channels of a pixel as it is stored. */
int pfi_png_channels(int colour);

#endif
