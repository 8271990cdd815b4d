/* SPDX-License-Identifier: Apache-2.0
 * One picture in memory: gaps between planes, flips, scales, limits, seeds. */
#include <criterion/criterion.h>
#include <string.h>

#include <pinfold/pinfold.h>

#include "tests/support/tinypng.h"

static unsigned char png[TINY_PNG_MAX];

static pinfold_recipe crop_only(int32_t height, int32_t width)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = height;
    recipe.crop_width = width;
    return recipe;
}

static void make(const pinfold_recipe *recipe, size_t png_size, void *out,
                 size_t size)
{
    pinfold_error err;

    cr_assert_eq(pinfold_preprocess(recipe, png, png_size, out, size, &err),
                 PINFOLD_OK, "%s", err.message);
}

Test(preprocess, gaps_between_planes_are_zero_and_planes_stay_equal)
{
    const size_t size = tiny_png(png, 5, 3, 0x102030);
    pinfold_recipe recipe = crop_only(3, 5);
    unsigned char dense[45], spaced[192];

    recipe.dtype = PINFOLD_U8;
    make(&recipe, size, dense, sizeof(dense));
    recipe.plane_alignment = 64;
    memset(spaced, 0xEE, sizeof(spaced));
    make(&recipe, size, spaced, sizeof(spaced));
    for (size_t c = 0; c < 3; c++) {
        cr_assert_arr_eq(spaced + 64 * c, dense + 15 * c, 15);
        for (size_t i = 15; i < 64; i++)
            cr_assert_eq(spaced[64 * c + i], 0);
    }
}

Test(preprocess, multiplying_differs_from_dividing_in_126_codes)
{
    pinfold_recipe recipe = crop_only(1, 1);
    int differ = 0;

    recipe.stddev[0] = recipe.stddev[1] = recipe.stddev[2] = 1.0f;
    for (uint32_t code = 0; code < 256; code++) {
        const size_t size = tiny_png(png, 1, 1, code * 0x10101u);
        float divided[3], multiplied[3];

        recipe.scale = PINFOLD_DIVIDE;
        make(&recipe, size, divided, sizeof(divided));
        recipe.scale = PINFOLD_MULTIPLY;
        make(&recipe, size, multiplied, sizeof(multiplied));
        cr_assert_eq(divided[0], (float)code / 255.0f);
        cr_assert_eq(multiplied[0], (float)code * (float)(1 / 255.0));
        differ += divided[2] != multiplied[2];
    }
    cr_assert_eq(differ, 126);
}

Test(preprocess, a_flip_after_the_crop_mirrors_the_padding_too)
{
    const size_t size = tiny_png(png, 2, 1, 0xFFFFFF);
    pinfold_recipe recipe = crop_only(1, 5);
    static const unsigned char before[5] = {0, 255, 255, 0, 0};
    static const unsigned char after[5] = {0, 0, 255, 255, 0};
    unsigned char out[15];

    recipe.dtype = PINFOLD_U8;
    make(&recipe, size, out, sizeof(out));
    cr_assert_arr_eq(out, before, 5);
    recipe.flip = 1.0f;
    make(&recipe, size, out, sizeof(out));
    cr_assert_arr_eq(out, after, 5);
}

Test(preprocess, sizes_of_no_or_too_many_samples)
{
    const pinfold_recipe recipe = crop_only(4, 4);
    size_t bytes = 1;
    pinfold_error err;

    cr_assert_eq(pinfold_recipe_size(&recipe, 0, &bytes, NULL, &err),
                 PINFOLD_OK);
    cr_assert_eq(bytes, 0);
    cr_assert_eq(pinfold_recipe_size(&recipe, -1, &bytes, NULL, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(pinfold_recipe_size(&recipe, INT64_MAX, &bytes, NULL, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(bytes, 0);
}

Test(preprocess, limits_name_themselves)
{
    const size_t size = tiny_png(png, 4, 4, 0);
    pinfold_recipe recipe = crop_only(4, 4);
    unsigned char out[192];
    pinfold_error err;

    recipe.max_pixels = 15;
    cr_assert_eq(pinfold_preprocess(&recipe, png, size, out, sizeof(out), &err),
                 PINFOLD_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "limit 15"), "%s", err.message);
    recipe.max_pixels = 16;
    cr_assert_eq(pinfold_preprocess(&recipe, png, size, out, sizeof(out), &err),
                 PINFOLD_OK, "%s", err.message);
    recipe = pinfold_recipe_default();
    recipe.crop_height = 4;
    recipe.max_side = 255;
    cr_assert_eq(pinfold_preprocess(&recipe, png, size, out, sizeof(out), &err),
                 PINFOLD_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "1 to 255"), "%s", err.message);
}

Test(preprocess, refuses_what_is_missing_or_too_small)
{
    const size_t size = tiny_png(png, 1, 1, 0);
    pinfold_recipe recipe = crop_only(1, 1);
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    unsigned char out[12];
    pinfold_error err;

    cr_assert_eq(pinfold_preprocess(&recipe, NULL, 1, out, sizeof(out), &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "encoded or dst is NULL");
    cr_assert_eq(pinfold_preprocess(&recipe, png, size, NULL, 12, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(pinfold_preprocess(&recipe, png, size, out, 11, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "dst has 11 bytes, a sample 12");
    cr_assert_eq(pinfold_plan_picture(&recipe, NULL, 1, &plan, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "encoded or out is NULL");
    cr_assert_eq(pinfold_plan_picture(&recipe, png, size, NULL, &err),
                 PINFOLD_E_ARGUMENT);
    /* No bytes at all are a damaged picture, not a wrong call. */
    cr_assert_eq(pinfold_preprocess(&recipe, NULL, 0, out, sizeof(out), &err),
                 PINFOLD_E_FORMAT, "%s", err.message);
}

Test(preprocess, the_shape_of_a_batch_is_that_of_its_layout)
{
    pinfold_recipe recipe = crop_only(3, 5);
    int64_t shape[4];
    pinfold_error err;
    size_t bytes;

    cr_assert_eq(pinfold_recipe_size(&recipe, 2, &bytes, shape, &err),
                 PINFOLD_OK);
    cr_assert_eq(bytes, 2 * 3 * 3 * 5 * sizeof(float));
    cr_assert_arr_eq(shape, ((int64_t[]){2, 3, 3, 5}), sizeof(shape));
    recipe.layout = PINFOLD_NHWC;
    cr_assert_eq(pinfold_recipe_size(&recipe, 2, &bytes, shape, &err),
                 PINFOLD_OK);
    cr_assert_arr_eq(shape, ((int64_t[]){2, 3, 5, 3}), sizeof(shape));
    cr_assert_eq(pinfold_recipe_size(&recipe, SIZE_MAX / 2, &bytes, NULL, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, "do not fit in memory"), "%s",
                       err.message);
}
