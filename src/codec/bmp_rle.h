/* SPDX-License-Identifier: Apache-2.0
 * Run lengths of a BMP, by Pillow's rules. */
#ifndef PFI_CODEC_BMP_RLE_H
#define PFI_CODEC_BMP_RLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/codec/codec.h"

/* Decodes the stream at `offset` of the file: `four` bits a pixel, or eight.
 * Its first row is the picture's last, or with `top_down` its first.  The
 * window's indices go to `out`, rows top to bottom, which must be zero and may
 * be NULL.  False where the stream ends before the picture. */
bool pfi_bmp_rle(const struct pfi_decoder *decoder, uint64_t offset, bool four,
                 bool top_down, unsigned char *out);

#endif
