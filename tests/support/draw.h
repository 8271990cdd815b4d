/* SPDX-License-Identifier: Apache-2.0
 * Random numbers, the same everywhere. */
#ifndef PFI_TESTS_DRAW_H
#define PFI_TESTS_DRAW_H

#include <stdint.h>

/* A number below n, from a generator of its own; seed it first. */
uint32_t draw(uint32_t n);
void draw_seed(uint64_t seed);

#endif
