/* SPDX-License-Identifier: Apache-2.0
 * Random inputs, the same for a seed everywhere. */
#include "tests/kernels/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t state;

void draw_seed(uint32_t seed)
{
    state = seed;
}

uint32_t draw(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return n ? (uint32_t)((uint64_t)state * n >> 32) : 0;
}

void draw_bytes(unsigned char *bytes, size_t n)
{
    const uint32_t kind = draw(5);

    for (size_t i = 0; i < n; i++) {
        const uint32_t byte = draw(256);

        bytes[i] = (unsigned char)(kind == 0   ? 0
                                   : kind == 1 ? 255
                                   : kind == 2 ? (byte < 128 ? 0 : 255)
                                               : byte);
    }
}

struct pfi_plan draw_plan(void)
{
    pinfold_recipe r = pinfold_recipe_default();
    const int32_t width = 1 + (int32_t)draw(draw(4) ? 600 : 5000);
    struct pfi_recipe recipe;
    struct pfi_plan plan;
    pinfold_error err;

    r.filter = (pinfold_filter)draw(6);
    r.resize_width = 1 + (int32_t)draw(draw(2) ? 300 : 1000);
    r.resize_height = 1;
    r.crop_height = PINFOLD_OFF;
    if (draw(2)) {
        r.crop_height = 1;
        r.crop_width = 1 + (int32_t)draw((uint32_t)r.resize_width);
    }
    pfi_error_clear(&err);
    if (pfi_recipe_resolve(&recipe, &r, &err) ||
        pfi_plan_make(&plan, &recipe,
                      &(struct pfi_region){.width = width, .height = 1},
                      &err)) {
        (void)printf("%s\n", err.message);
        exit(1);
    }
    return plan;
}

static float draw_float(void)
{
    return (float)draw(1u << 24) / (float)(1 << 24);
}

struct pfi_recipe draw_norm(pinfold_dtype dtype, pinfold_layout layout)
{
    static const float absurd[] = {1e-41f, -1e-30f, 3e38f, -0.5f, 1e20f};
    pinfold_recipe r = pinfold_recipe_default();
    const uint32_t kind = draw(6);
    struct pfi_recipe recipe;

    for (int c = 0; c < 3; c++) {
        if (kind == 2) {
            r.mean[c] = r.stddev[c] = 0.5f;
        } else if (kind == 3) {
            r.stddev[c] = 1;
        } else if (kind == 4) {
            r.mean[c] = draw_float();
            r.stddev[c] = 0.01f + draw_float();
        } else if (kind == 5) {
            r.mean[c] = draw(2) ? draw_float() : (float)draw(256) / 255.0f;
            r.stddev[c] = absurd[draw(5)];
        }
    }
    r.dtype = dtype;
    r.layout = layout;
    if (pfi_recipe_resolve(&recipe, &r, NULL))
        exit(1);
    return recipe;
}
