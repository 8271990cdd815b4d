/* SPDX-License-Identifier: Apache-2.0
 * Sizes, crops and windows against torchvision's arithmetic, and recipes that
 * are refused. */
#include <criterion/criterion.h>

#include "transforms/normalize.h"
#include "transforms/plan.h"

static struct pfi_plan plan_of(const pinfold_recipe *recipe, int32_t width,
                               int32_t height)
{
    struct pfi_recipe resolved;
    struct pfi_plan plan;
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_recipe_resolve(&resolved, recipe, &err), PINFOLD_OK, "%s",
                 err.message);
    cr_assert_eq(pfi_plan_make(&plan, &resolved,
                               &(struct pfi_region){.width = width,
                                                    .height = height},
                               &err),
                 PINFOLD_OK, "%s", err.message);
    return plan;
}

Test(plan, the_longer_side_is_truncated)
{
    const struct pfi_plan plan = plan_of(NULL, 375, 500);

    cr_assert_eq(plan.x.resized, 256);
    cr_assert_eq(plan.y.resized, 341);
    cr_assert_float_eq(plan.y.exact, 341.3333, 1e-3);
    cr_assert_eq(plan.y.crop_offset, 58); /* 58.5, half to even */
    cr_assert_eq(plan.x.crop_offset, 16);
}

Test(plan, max_size_truncates_twice)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.max_size = 300;
    const struct pfi_plan plan = plan_of(&recipe, 500, 333);

    cr_assert_eq(plan.x.resized, 300);
    cr_assert_eq(plan.y.resized, 200); /* 300 * 256 / 384 */
    cr_assert_eq(plan.y.pad_before, 12);
    cr_assert_eq(plan.y.pad_after, 12);
}

Test(plan, rows_come_first_only_for_pillow_13_and_tall_pictures)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    cr_assert(plan_of(&recipe, 300, 700).vertical_first);
    cr_assert_not(plan_of(&recipe, 700, 300).vertical_first);
    cr_assert_not(plan_of(&recipe, 512, 1024).vertical_first);
    recipe.pillow = PINFOLD_PILLOW_12;
    cr_assert_not(plan_of(&recipe, 300, 700).vertical_first);
    recipe.resize_height = recipe.resize_width = 100;
    cr_assert_not(plan_of(&recipe, 3, 300).vertical_first);
    cr_assert(plan_of(&recipe, 3, 301).vertical_first);
}

Test(plan, the_odd_black_pixel_goes_right_and_below)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = 8;
    const struct pfi_plan plan = plan_of(&recipe, 5, 3);

    cr_assert_eq(plan.x.pad_before, 1);
    cr_assert_eq(plan.x.pad_after, 2);
    cr_assert_eq(plan.y.pad_before, 2);
    cr_assert_eq(plan.y.pad_after, 3);
}

Test(plan, a_huge_enlargement_takes_little_memory)
{
    const struct pfi_plan plan = plan_of(NULL, 1, 30000);

    cr_assert_eq(plan.y.resized, 7680000);
    cr_assert_leq(plan.scratch_bytes, 100000);
    cr_assert_leq(plan.y.window_end - plan.y.window_first, 3);
}

Test(plan, a_side_beyond_reason_is_a_limit)
{
    struct pfi_recipe resolved;
    struct pfi_plan plan;
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_recipe_resolve(&resolved, NULL, &err), PINFOLD_OK);
    cr_assert_eq(pfi_plan_make(&plan, &resolved,
                               &(struct pfi_region){.width = 1,
                                                    .height = 178956970},
                               &err),
                 PINFOLD_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "45812984320"), "%s", err.message);
}

static void refused(const pinfold_recipe *recipe, const char *word)
{
    struct pfi_recipe resolved;
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_recipe_resolve(&resolved, recipe, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, word), "%s", err.message);
}

Test(recipe, mistakes_are_named)
{
    pinfold_recipe r = pinfold_recipe_default();

    r.crop_height = PINFOLD_OFF;
    refused(&r, "cannot make a batch");
    r = pinfold_recipe_default();
    r.mean[0] = 0.5f;
    refused(&r, "stddev of channel 0 is 0");
    r = pinfold_recipe_default();
    r.max_size = 256;
    refused(&r, "max_size 256 must be above");
    r = pinfold_recipe_default();
    r.resize_height = 10;
    refused(&r, "both or none");
    r = pinfold_recipe_default();
    r.dtype = (pinfold_dtype)9;
    refused(&r, "dtype is 9");
    r = pinfold_recipe_default();
    r.crop_height = -7;
    refused(&r, "crop_height is -7");
    r = pinfold_recipe_default();
    r.struct_size = 0;
    refused(&r, "struct_size");
}

Test(normalize, f16_and_bf16_round_to_even)
{
    cr_assert_eq(pfi_f16_from_f32(1.0f), 0x3C00);
    cr_assert_eq(pfi_f16_from_f32(-2.0f), 0xC000);
    cr_assert_eq(pfi_f16_from_f32(65504.0f), 0x7BFF);
    cr_assert_eq(pfi_f16_from_f32(65520.0f), 0x7C00);
    cr_assert_eq(pfi_f16_from_f32(0x1p-24f), 0x0001);
    cr_assert_eq(pfi_f16_from_f32(0x1p-25f), 0x0000);
    cr_assert_eq(pfi_f16_from_f32(0x1.8p-24f), 0x0002);
    cr_assert_eq(pfi_f16_from_f32(0x1.002p0f), 0x3C00); /* a tie */
    cr_assert_eq(pfi_f16_from_f32(0x1.006p0f), 0x3C02);
    cr_assert_eq(pfi_bf16_from_f32(1.0f), 0x3F80);
    cr_assert_eq(pfi_bf16_from_f32(0x1.01p0f), 0x3F80); /* a tie */
    cr_assert_eq(pfi_bf16_from_f32(0x1.03p0f), 0x3F82);
}

Test(normalize, the_table_has_three_roundings)
{
    struct pfi_recipe recipe;
    struct pfi_norm norm;

    cr_assert_eq(pfi_recipe_resolve(&recipe, NULL, NULL), PINFOLD_OK);
    pfi_norm_make(&norm, &recipe);
    for (int c = 0; c < 3; c++) {
        for (int x = 0; x < 256; x++) {
            volatile float v = (float)x / 255.0f;

            v = v - recipe.mean[c];
            v = v / recipe.stddev[c];
            cr_assert_eq(norm.channel[c].f32[x], v);
        }
    }
}

/* 256 outputs of 1398102 taps and more each. */
Test(plan, refuses_tables_beyond_256_MiB)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    const struct pfi_region region = {.width = 178956970, .height = 1};
    struct pfi_recipe resolved;
    struct pfi_plan plan;
    pinfold_error err;

    recipe.resize_short = 0;
    recipe.resize_height = recipe.resize_width = 256;
    pfi_error_clear(&err);
    cr_assert_eq(pfi_recipe_resolve(&resolved, &recipe, &err), PINFOLD_OK);
    cr_assert_eq(pfi_plan_make(&plan, &resolved, &region, &err),
                 PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "the filter's tables would take more than "
                                  "268435456 bytes");
}
