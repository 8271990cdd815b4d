/* SPDX-License-Identifier: Apache-2.0
 * PNG's row filters. */
#ifndef PFI_CODEC_PNG_FILTER_H
#define PFI_CODEC_PNG_FILTER_H

#include <stddef.h>

/* Undoes filter `type` (0 to 4) on the first n bytes of `row`, whose pixels lie
 * bpp (1 to 8) bytes apart; `up` is the row above, or zeros. */
void pfi_png_unfilter(unsigned char *row, const unsigned char *up, size_t n,
                      size_t bpp, int type);

#endif
