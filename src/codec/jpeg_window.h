/* SPDX-License-Identifier: Apache-2.0
 * Decoding only a window of a JPEG, with the pixels and the verdict of a full
 * decode.  These call libjpeg: only inside its error handler's reach. */
#ifndef PFI_CODEC_JPEG_WINDOW_H
#define PFI_CODEC_JPEG_WINDOW_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "src/codec/codec.h"

/* After jpeg_start_decompress(): whether every coefficient was sent to its full
 * precision.  Otherwise libjpeg smooths, and looks beyond a window for that. */
bool pfi_jpeg_complete(j_decompress_ptr cinfo);

/* After jpeg_start_decompress() and before the first row: narrows the rows to
 * the window's columns and goes to its first row.  Returns the picture's column
 * that rows begin with. */
int32_t pfi_jpeg_window_begin(j_decompress_ptr cinfo,
                              const struct pfi_window *window);

/* Whether only coded data and restart markers lie between offset `at` of the
 * file, behind a scan's header, and an end marker: then, if that scan is the
 * only one, libjpeg can do no worse than warn, whatever the data are. */
bool pfi_jpeg_ends_well(const unsigned char *data, size_t size, size_t at);

#endif
