/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the header and the plan, of pictures of any size.  The first bytes
 * choose the recipe. */
#include "tests/fuzz/fuzz.h"

static bool within(int64_t first, int64_t end, int64_t most)
{
    return 0 <= first && first < end && end <= most;
}

static void check(const pinfold_plan *p)
{
    fuzz_require(p->width > 0 && p->height > 0, "a picture's sides");
    fuzz_require(p->output_width > 0 && p->output_height > 0, "output's sides");
    fuzz_require(within(p->window_left, p->window_right, p->width) &&
                     within(p->window_top, p->window_bottom, p->height),
                 "a window inside the picture");
    fuzz_require(within(p->region_left,
                        (int64_t)p->region_left + p->region_width, p->width) &&
                     within(p->region_top,
                            (int64_t)p->region_top + p->region_height,
                            p->height),
                 "a region inside the picture");
    fuzz_require(p->taps_x > 0 && p->taps_y > 0, "taps");
    fuzz_require(p->format && p->mode && p->decoder, "names");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    pinfold_recipe recipe;
    pinfold_error err;

    fuzz_recipe(&recipe, &input);
    recipe.max_pixels = 0;
    recipe.max_scratch = 0;
    if (!pinfold_plan_picture(&recipe, input.at, input.left, &plan, &err))
        check(&plan);
    return 0;
}
