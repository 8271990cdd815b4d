/* SPDX-License-Identifier: Apache-2.0
 * The numbers of plain PBM, PGM and PPM, by Pillow's rules. */
#ifndef PFI_CODEC_PNM_TEXT_H
#define PFI_CODEC_PNM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"

/* Pillow reads blocks of so many bytes (ImageFile.SAFEBLOCK), and judges what
 * follows the last number to the end of its block. */
#define PFI_PNM_BLOCK 1048576

struct pfi_pnm_text {
    const unsigned char *data;
    size_t size, at;
    size_t block, block_end; /* the block that `at` is in */
    bool bits;               /* every number is one digit, 0 or 1 */
    unsigned maxval;
};

void pfi_pnm_text_start(struct pfi_pnm_text *text, const unsigned char *data,
                        size_t size, size_t offset, bool bits, unsigned maxval);

/* The next number in *value. */
pinfold_status pfi_pnm_text_next(struct pfi_pnm_text *text, unsigned *value,
                                 pinfold_error *err);

/* After the last: whether Pillow takes what follows it. */
pinfold_status pfi_pnm_text_end(struct pfi_pnm_text *text, pinfold_error *err);

#endif
