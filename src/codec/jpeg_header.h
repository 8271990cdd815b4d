/* SPDX-License-Identifier: Apache-2.0
 * What Pillow checks of a JPEG before libjpeg sees it. */
#ifndef PFI_CODEC_JPEG_HEADER_H
#define PFI_CODEC_JPEG_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"

struct pfi_jpeg_header {
    int32_t width, height;
    int components;  /* 1, 3 or 4 */
    bool arithmetic; /* coded so */
    size_t scan;     /* offset behind the first SOS segment */
};

/* Walks the markers up to the first scan as JpegImagePlugin._open() of Pillow
 * 13.0.0 does, and refuses what that refuses.  The arena lends memory where EXIF
 * data are in several segments. */
pinfold_status pfi_jpeg_header(const unsigned char *data, size_t size,
                               struct pfi_arena *arena,
                               struct pfi_jpeg_header *out, pinfold_error *err);

/* Scans of the file, of which the first ends its header at offset `at`; stops
 * counting above `most`. */
int32_t pfi_jpeg_scans(const unsigned char *data, size_t size, size_t at,
                       int32_t most);

/* How many of them a picture may have: what one costs grows with the picture, so
 * that below a megapixel more than `limit` are allowed, in proportion. */
static inline int32_t pfi_jpeg_most_scans(int32_t limit, int32_t width,
                                          int32_t height)
{
    const uint64_t pixels = (uint64_t)width * (uint64_t)height;
    const uint64_t most = pixels >= 1 << 20
                              ? (uint64_t)limit
                              : (uint64_t)limit * (1 << 20) / pixels;

    return most < INT32_MAX ? (int32_t)most : INT32_MAX;
}

#endif
