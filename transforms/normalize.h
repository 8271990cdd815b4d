/* SPDX-License-Identifier: Apache-2.0
 * Codes 0..255 to elements of the output, in their layout. */
#ifndef PFI_TRANSFORMS_NORMALIZE_H
#define PFI_TRANSFORMS_NORMALIZE_H

#include "transforms/stream.h"

/* Nearest value, ties to even, as its bits. */
uint16_t pfi_f16_from_f32(float value);
uint16_t pfi_bf16_from_f32(float value);

/* Writes n pixels of `rgb` to row y of the sample `dst`, from column x on. */
void pfi_store_pixels(const struct pfi_recipe *recipe,
                      const struct pfi_norm *norm, void *dst, int32_t y,
                      int32_t x, const unsigned char *rgb, int32_t n);

/* As pfi_store_pixels(), with n black pixels. */
void pfi_store_black(const struct pfi_recipe *recipe,
                     const struct pfi_norm *norm, void *dst, int32_t y,
                     int32_t x, int32_t n);

#endif
