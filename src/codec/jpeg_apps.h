/* SPDX-License-Identifier: Apache-2.0
 * A JPEG's application segments, none of which changes a pixel, but some of
 * which Pillow refuses. */
#ifndef PFI_CODEC_JPEG_APPS_H
#define PFI_CODEC_JPEG_APPS_H

#include <stdbool.h>

#include "src/base/error.h"

/* All zero before the first segment. */
struct pfi_jpeg_apps {
    const unsigned char *icc; /* of the ICC segments the first in byte order */
    size_t icc_size;
    const unsigned char *exif; /* the first segment */
    size_t exif_first, exif_size; /* its bytes; those of all, joined */
    bool has_dpi;                 /* from a JFIF segment */
};

/* An APPn segment's contents. */
pinfold_status pfi_jpeg_app(struct pfi_jpeg_apps *apps, int marker,
                            const unsigned char *s, size_t n,
                            pinfold_error *err);

/* A frame header was met: Pillow joins the profile. */
pinfold_status pfi_jpeg_join_icc(struct pfi_jpeg_apps *apps, pinfold_error *err);

/* Whether a segment is one whose contents Pillow joins to the EXIF data; from
 * the second on without their first 6 bytes. */
bool pfi_jpeg_is_exif(int marker, const unsigned char *s, size_t n);

/* Whether Pillow fails over the resolution in the joined EXIF data. */
pinfold_status pfi_jpeg_check_exif(const unsigned char *s, size_t n,
                                   pinfold_error *err);

#endif
