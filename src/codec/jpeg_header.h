/* SPDX-License-Identifier: Apache-2.0
 * What Pillow checks of a JPEG before libjpeg sees it. */
#ifndef PFI_CODEC_JPEG_HEADER_H
#define PFI_CODEC_JPEG_HEADER_H

#include "src/base/error.h"

struct pfi_jpeg_header {
    int32_t width, height;
    int components; /* 1, 3 or 4 */
};

/* Walks the markers up to the first scan as JpegImagePlugin._open() of Pillow
 * 13.0.0 does, and refuses what that refuses. */
pinfold_status pfi_jpeg_header(const unsigned char *data, size_t size,
                               struct pfi_jpeg_header *out, pinfold_error *err);

#endif
