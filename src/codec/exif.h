/* SPDX-License-Identifier: Apache-2.0
 * The orientation that PIL.ImageOps.exif_transpose() of Pillow 13.0.0 finds. */
#ifndef PFI_CODEC_EXIF_H
#define PFI_CODEC_EXIF_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/memory.h"

/* A picture's metadata, as Image.info holds it; NULL where there is none. */
struct pfi_exif {
    const unsigned char *exif; /* an EXIF block, maybe behind "Exif\0\0" */
    size_t exif_size;
    bool bare; /* the format leaves "Exif\0\0" out, and Pillow adds one */
    const unsigned char *xmp;
    size_t xmp_size;
    bool xmp_is_text; /* Pillow searches bytes only, and fails */
    /* The block is looked at once before, where mistakes count for nothing. */
    bool lenient;
};

/* Stores 1 to 8, or 0 where no orientation is known.  PINFOLD_E_CORRUPT where
 * Pillow raises: the block's header is broken. */
pinfold_status pfi_exif_orientation(const struct pfi_exif *info,
                                    const char *format, int32_t *out,
                                    pinfold_error *err);

/* The digit behind the first tiff:Orientation in XMP; 0 where there is none. */
int32_t pfi_exif_xmp(const unsigned char *xmp, size_t size);

/* Collects what a JPEG's markers before the first scan hold (APP1).  The markers
 * have been checked.  false when out of memory. */
bool pfi_exif_from_jpeg(struct pfi_exif *out, struct pfi_arena *arena,
                        const unsigned char *data, size_t size);

/* Collects what a PNG's chunks hold, those behind the picture too; zTXt and iTXt
 * are inflated to at most `limit` bytes each. */
pinfold_status pfi_exif_from_png(struct pfi_exif *out, struct pfi_arena *arena,
                                 const unsigned char *data, size_t size,
                                 uint64_t limit, pinfold_error *err);

#endif
