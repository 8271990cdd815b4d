/* SPDX-License-Identifier: Apache-2.0
 * Progressive JPEGs whose coefficients were not sent to full precision. */
#ifndef PFI_CODEC_JPEG_SMOOTH_H
#define PFI_CODEC_JPEG_SMOOTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

/* After jpeg_start_decompress(): whether the libjpeg that this was built with
 * smooths the picture to other pixels than 3.0.1 and later, which is what Pillow
 * 13.0.0 brings. */
bool pfi_jpeg_smooths_otherwise(const struct jpeg_decompress_struct *cinfo);

#endif
