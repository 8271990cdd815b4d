/* SPDX-License-Identifier: Apache-2.0
 * Random numbers, the same everywhere. */
#include "tests/support/draw.h"

static uint64_t state = 1;

void draw_seed(uint64_t seed)
{
    state = seed;
}

uint32_t draw(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}
