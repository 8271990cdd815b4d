/* SPDX-License-Identifier: Apache-2.0
 * Codes 0..255 to elements of the output, in their layout. */
#ifndef PFI_TRANSFORMS_NORMALIZE_H
#define PFI_TRANSFORMS_NORMALIZE_H

#include "transforms/stream.h"

/* 1 / 255 in two parts: fma(x, UNIT, x * UNIT_LOW) equals x / 255.0f for each
 * code x (tests/unit/test_normalize.c looks at all 256). */
#define PFI_UNIT 0x1.010102p-8f
#define PFI_UNIT_LOW -0x1.fdfdfep-33f

/* Nearest value, ties to even, as its bits. */
uint16_t pfi_f16_from_f32(float value);
uint16_t pfi_bf16_from_f32(float value);

/* The C kernel. */
pfi_store_function *pfi_store_c(pinfold_dtype dtype, pinfold_layout layout);

/* Where pixel (y, x) of the sample `dst` starts: its first channel. */
void *pfi_store_place(const struct pfi_recipe *recipe, void *dst, int32_t y,
                      int32_t x);

/* Writes n black pixels to row y of the sample `dst`, from column x on. */
void pfi_store_black(const struct pfi_recipe *recipe,
                     const struct pfi_norm *norm, void *dst, int32_t y,
                     int32_t x, int32_t n);

#endif
