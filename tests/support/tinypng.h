/* SPDX-License-Identifier: Apache-2.0
 * Pictures of one colour, made without a picture library. */
#ifndef PFI_TESTS_TINYPNG_H
#define PFI_TESTS_TINYPNG_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that tiny_png() may need. */
#define TINY_PNG_MAX 1024

/* Writes an RGB PNG of width x height (at most 8 x 8) pixels of colour
 * 0xRRGGBB to `out` (TINY_PNG_MAX bytes) and returns its size. */
size_t tiny_png(unsigned char *out, int width, int height, uint32_t colour);

#endif
