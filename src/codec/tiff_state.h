/* SPDX-License-Identifier: Apache-2.0
 * What the two ways of reading a TIFF's pixels share. */
#ifndef PFI_CODEC_TIFF_STATE_H
#define PFI_CODEC_TIFF_STATE_H

#include "src/codec/codec.h"
#include "src/codec/tiff_header.h"
#include "src/codec/tiff_unpack.h"

struct pfi_tiff_state {
    struct pfi_tiff_info info;
    unsigned char *picture; /* the window's rows, whole, of info.mode */
    size_t stride;          /* of those rows */
    int32_t next;           /* row of the window */
    char message[128];      /* libtiff's first error */
};

/* Where the pixel (x, y) of the whole picture goes; NULL outside the window's
 * rows. */
unsigned char *pfi_tiff_place(const struct pfi_decoder *decoder, int64_t x,
                              int64_t y);

/* Fills state->picture from strips or tiles that are not compressed, as Pillow's
 * raw decoder. */
pinfold_status pfi_tiff_raw(struct pfi_decoder *decoder, pinfold_error *err);

/* The same through libtiff. */
pinfold_status pfi_tiff_compressed(struct pfi_decoder *decoder,
                                   pinfold_error *err);

#endif
