/* SPDX-License-Identifier: Apache-2.0
 * What Pillow reads of a TIFF before a pixel is decoded (TiffImagePlugin.py,
 * 13.0.0), and refuses. */
#ifndef PFI_CODEC_TIFF_HEADER_H
#define PFI_CODEC_TIFF_HEADER_H

#include "src/base/error.h"
#include "src/codec/ifd.h"

/* A value that is not what the rules below know; equal to none of theirs. */
#define PFI_TIFF_OTHER INT64_MIN

/* What decides on the mode. */
struct pfi_tiff_key {
    char order; /* 'I' or 'M' */
    int64_t photometric, format, fill, bits, samples, extras, extra;
};

/* The row of Pillow's table for `key`; false where there is none. */
bool pfi_tiff_mode(const struct pfi_tiff_key *key, const char **mode,
                   const char **raw);

struct pfi_tiff_info {
    struct pfi_ifd ifd;
    uint64_t offset; /* of the first directory */
    int32_t width, height;
    const char *mode, *raw; /* Pillow's */
    bool compressed;        /* read through libtiff */
    bool planar;            /* a plane for each band */
    int64_t bits;           /* of a pixel, all planes together */
    int64_t bands;          /* that a planar row is divided by */
    /* Of what is not compressed: where strips or tiles lie. */
    struct pfi_ifd_field offsets;
    int64_t tile_width, tile_height;
    unsigned char palette[256][3];
    int32_t orientation;
};

pinfold_status pfi_tiff_header(const unsigned char *data, size_t size,
                               struct pfi_tiff_info *out, pinfold_error *err);

#endif
