/* SPDX-License-Identifier: Apache-2.0
 * What a recipe's zeros stand for, and which recipes are refused. */
#include <criterion/criterion.h>
#include <math.h>

#include "transforms/recipe.h"

static struct pfi_recipe resolved(const pinfold_recipe *recipe)
{
    struct pfi_recipe out;
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_recipe_resolve(&out, recipe, &err), PINFOLD_OK, "%s",
                 err.message);
    return out;
}

static void refused(const pinfold_recipe *recipe, const char *word)
{
    struct pfi_recipe out;
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_recipe_resolve(&out, recipe, &err), PINFOLD_E_ARGUMENT);
    cr_assert_eq(err.status, PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, word), "%s", err.message);
    cr_assert_eq(pfi_recipe_resolve(&out, recipe, NULL), PINFOLD_E_ARGUMENT);
}

Test(recipe, nothing_set_is_the_imagenet_recipe)
{
    const struct pfi_recipe r = resolved(NULL);

    cr_assert_eq(r.resize, PFI_RESIZE_SHORT);
    cr_assert_eq(r.resize_short, 256);
    cr_assert_eq(r.max_size, 0);
    cr_assert(r.crop);
    cr_assert_eq(r.height, 224);
    cr_assert_eq(r.width, 224);
    cr_assert_eq(r.mean[2], 0.406f);
    cr_assert_eq(r.stddev[2], 0.225f);
    cr_assert_eq(r.limits.pixels, 178956970);
    cr_assert_eq(r.sample_bytes, (size_t)224 * 224 * 3 * 4);
}

Test(recipe, each_dtype_has_its_size)
{
    const size_t size[] = {4, 2, 1, 2};
    pinfold_recipe recipe = pinfold_recipe_default();

    for (int dtype = PINFOLD_F32; dtype <= PINFOLD_BF16; dtype++) {
        recipe.dtype = (pinfold_dtype)dtype;
        cr_assert_eq(pfi_dtype_size(recipe.dtype), size[dtype]);
        cr_assert_eq(resolved(&recipe).sample_bytes,
                     (size_t)224 * 224 * 3 * size[dtype]);
    }
}

Test(recipe, the_crop_may_be_off_after_an_exact_resize)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_height = 30;
    recipe.resize_width = 50;
    cr_assert_eq(resolved(&recipe).resize, PFI_RESIZE_EXACT);
    cr_assert_eq(resolved(&recipe).height, 224);
    recipe.crop_height = PINFOLD_OFF;
    cr_assert_not(resolved(&recipe).crop);
    cr_assert_eq(resolved(&recipe).height, 30);
    cr_assert_eq(resolved(&recipe).width, 50);
    recipe.crop_width = PINFOLD_OFF;
    cr_assert_eq(resolved(&recipe).width, 50);
    recipe.crop_width = 20;
    refused(&recipe, "crop_height is -1 and crop_width 20");
}

Test(recipe, a_crop_without_a_resize)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = 7;
    cr_assert_eq(resolved(&recipe).resize, PFI_RESIZE_NONE);
    cr_assert_eq(resolved(&recipe).width, 7);
    recipe.crop_width = 9;
    cr_assert_eq(resolved(&recipe).width, 9);
    recipe.crop_height = recipe.crop_width = PINFOLD_OFF;
    refused(&recipe, "cannot make a batch");
}

Test(recipe, a_crop_has_a_height_before_a_width)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.crop_width = 9;
    refused(&recipe, "crop_width 9");
    recipe.crop_height = 9;
    recipe.crop_width = -2;
    refused(&recipe, "crop_width -2");
}

Test(recipe, resizes_that_contradict_are_refused)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = -2;
    refused(&recipe, "resize_short is -2");
    recipe.resize_short = 64;
    recipe.max_size = 64;
    refused(&recipe, "max_size 64 must be above the shorter side 64");
    recipe.max_size = 65;
    cr_assert_eq(resolved(&recipe).max_size, 65);
    recipe.resize_short = PINFOLD_OFF;
    refused(&recipe, "max_size");
    recipe = pinfold_recipe_default();
    recipe.max_size = -1;
    refused(&recipe, "max_size -1");
    recipe = pinfold_recipe_default();
    recipe.resize_width = -5;
    refused(&recipe, "resize_width -5");
    recipe.resize_height = recipe.resize_width = 5;
    recipe.resize_short = 5;
    refused(&recipe, "5x5");
    recipe.resize_short = 0;
    recipe.max_size = 300;
    refused(&recipe, "max_size");
}

Test(recipe, numbers_outside_an_enum_are_refused)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.filter = (pinfold_filter)6;
    refused(&recipe, "filter is 6");
    recipe.filter = PINFOLD_LANCZOS;
    recipe.pillow = (pinfold_pillow)2;
    refused(&recipe, "pillow is 2");
    recipe.pillow = PINFOLD_PILLOW_12;
    recipe.layout = (pinfold_layout)2;
    refused(&recipe, "layout is 2");
}

Test(recipe, mean_and_stddev_are_finite_and_divide)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.stddev[0] = recipe.stddev[2] = 0.5f;
    refused(&recipe, "stddev of channel 1 is 0");
    recipe.stddev[1] = INFINITY;
    refused(&recipe, "channel 1 is not finite");
    recipe.stddev[1] = 1.0f;
    cr_assert_eq(resolved(&recipe).mean[0], 0.0f);
    recipe.mean[2] = NAN;
    refused(&recipe, "channel 2 is not finite");
}

Test(recipe, a_sample_beyond_memory_is_refused)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.crop_height = recipe.crop_width = INT32_MAX;
    refused(&recipe, "2147483647 x 2147483647");
}

Test(recipe, a_newer_callers_unknown_option_is_refused)
{
    struct {
        pinfold_recipe known;
        int64_t unknown;
    } newer = {pinfold_recipe_default(), 0};

    newer.known.struct_size = sizeof(newer);
    cr_assert_eq(resolved(&newer.known).height, 224);
    newer.unknown = 1;
    cr_assert_eq(
        pfi_recipe_resolve(&(struct pfi_recipe){0}, &newer.known, NULL),
        PINFOLD_E_ARGUMENT);
}

Test(recipe, limits_have_defaults_and_bound_the_output)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    struct pfi_recipe out;
    pinfold_error err;

    cr_assert_eq(resolved(NULL).limits.file, (uint64_t)2 << 30);
    cr_assert_eq(resolved(NULL).limits.scratch, (uint64_t)2 << 30);
    cr_assert_eq(resolved(NULL).limits.ancillary, 1 << 20);
    cr_assert_eq(resolved(NULL).limits.scans, 256);
    cr_assert_eq(resolved(NULL).limits.side, 1 << 24);
    recipe.max_file = 4;
    recipe.max_scratch = 1;
    recipe.max_ancillary = 2;
    recipe.max_scans = 3;
    recipe.max_side = 224;
    cr_assert_eq(resolved(&recipe).limits.file, 4);
    cr_assert_eq(resolved(&recipe).limits.scratch, 1);
    cr_assert_eq(resolved(&recipe).limits.ancillary, 2);
    cr_assert_eq(resolved(&recipe).limits.scans, 3);
    recipe.max_side = 223;
    cr_assert_eq(pfi_recipe_resolve(&out, &recipe, &err), PINFOLD_E_LIMIT);
    recipe.max_side = -1;
    refused(&recipe, "max_side -1");
}

/* What means nothing yet may mean something to a newer library. */
Test(recipe, a_switch_is_0_or_1)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.exif = 2;
    refused(&recipe, "exif is 2, not 0 to 1");
    recipe.exif = 0;
    recipe.random_crop = -1;
    refused(&recipe, "random_crop is -1, not 0 to 1");
    recipe.random_crop = 0;
    recipe.struct_size = sizeof(recipe) - 8;
    refused(&recipe, "struct_size");
}

Test(recipe, a_random_crop_takes_the_place_of_the_resize)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.random_crop = 1;
    cr_assert_eq(resolved(&recipe).resize, PFI_RESIZE_EXACT);
    cr_assert_eq(resolved(&recipe).height, 224);
    cr_assert_eq(resolved(&recipe).area[0], 0.08);
    cr_assert_eq(resolved(&recipe).aspect[1], 4.0 / 3.0);
    recipe.crop_height = 30;
    recipe.crop_width = 40;
    cr_assert_eq(resolved(&recipe).width, 40);
    recipe.resize_short = 256;
    refused(&recipe, "takes the place");
    recipe.resize_short = 0;
    recipe.crop_height = PINFOLD_OFF;
    refused(&recipe, "a random crop needs a size, crop_height is -1");
    recipe.crop_height = 30;
    recipe.random_area[1] = 0.5;
    refused(&recipe, "random_area is 0 to 0.5");
    recipe.random_area[0] = 0.4;
    cr_assert_eq(resolved(&recipe).area[1], 0.5);
    recipe.random_aspect[0] = NAN;
    refused(&recipe, "random_aspect");
    recipe.random_aspect[0] = 0;
    recipe.flip = 1.5f;
    refused(&recipe, "flip is 1.5");
    recipe.flip = NAN;
    refused(&recipe, "flip");
}

Test(recipe, planes_may_be_aligned)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.crop_height = 3;
    recipe.crop_width = 5;
    recipe.dtype = PINFOLD_U8;
    cr_assert_eq(resolved(&recipe).plane, 15);
    recipe.plane_alignment = 64;
    cr_assert_eq(resolved(&recipe).plane, 64);
    cr_assert_eq(resolved(&recipe).sample_bytes, 192);
    recipe.dtype = PINFOLD_F32;
    cr_assert_eq(resolved(&recipe).plane, 16);
    recipe.layout = PINFOLD_NHWC;
    cr_assert_eq(resolved(&recipe).sample_bytes, 180);
    recipe.plane_alignment = 48;
    refused(&recipe, "plane_alignment is 48");
    recipe.plane_alignment = 512;
    refused(&recipe, "plane_alignment is 512");
}
