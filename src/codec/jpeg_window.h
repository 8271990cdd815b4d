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

/* After the window's last row: whether what is left of the file cannot turn
 * this picture into one that Pillow refuses. */
bool pfi_jpeg_window_sound(j_decompress_ptr cinfo);

#endif
