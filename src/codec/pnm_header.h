/* SPDX-License-Identifier: Apache-2.0
 * The header of PBM, PGM, PPM and PFM, by Pillow's rules. */
#ifndef PFI_CODEC_PNM_HEADER_H
#define PFI_CODEC_PNM_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

enum pfi_pnm_kind {
    PFI_PNM_BITS,    /* a bit a pixel, 1 is black */
    PFI_PNM_SAMPLES, /* of one or two bytes, big-endian */
    PFI_PNM_FLOATS,  /* rows bottom to top */
    PFI_PNM_TEXT     /* numbers in decimal, of mode "1" single digits */
};

struct pfi_pnm_header {
    int32_t width, height;
    const char *mode; /* Pillow's */
    enum pfi_pnm_kind kind;
    int channels;
    unsigned maxval;
    bool little_endian; /* floats */
    size_t offset;      /* of the first sample */
};

/* Reads what PpmImagePlugin of Pillow 13.0.0 reads. */
pinfold_status pfi_pnm_header(const unsigned char *data, size_t size,
                              struct pfi_pnm_header *out, pinfold_error *err);

#endif
