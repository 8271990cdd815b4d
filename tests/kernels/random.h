/* SPDX-License-Identifier: Apache-2.0
 * Random inputs, the same for a seed everywhere. */
#ifndef PFI_TESTS_KERNELS_RANDOM_H
#define PFI_TESTS_KERNELS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "transforms/plan.h"

void draw_seed(uint32_t seed);
/* 0 to n - 1; 0 where n is 0. */
uint32_t draw(uint32_t n);
/* Noise, or nothing but 0 and 255. */
void draw_bytes(unsigned char *bytes, size_t n);
/* Any filter between any widths, cropped or not. */
struct pfi_plan draw_plan(void);
/* ImageNet's mean and deviation, other usual ones, any, or absurd ones. */
struct pfi_recipe draw_norm(pinfold_dtype dtype, pinfold_layout layout);

#endif
