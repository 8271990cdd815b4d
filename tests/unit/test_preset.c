/* SPDX-License-Identifier: Apache-2.0
 * Names of presets, and what they stand for. */
#include <criterion/criterion.h>
#include <string.h>

#include "transforms/recipe.h"

static pinfold_recipe preset(const char *name)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_error err;

    cr_assert_eq(pinfold_recipe_preset(&recipe, name, &err), PINFOLD_OK, "%s",
                 err.message);
    return recipe;
}

static void refused(const char *name, pinfold_status status, const char *word)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    const pinfold_recipe before = recipe;
    pinfold_error err;

    cr_assert_eq(pinfold_recipe_preset(&recipe, name, &err), status);
    cr_assert_not_null(strstr(err.message, word), "%s", err.message);
    cr_assert_arr_eq(&recipe, &before, sizeof(recipe));
}

Test(preset, there_are_torchvisions_115_and_each_can_be_used)
{
    int torchvision = 0;

    for (int64_t i = 0; i < pinfold_preset_count(); i++) {
        pinfold_preset row = {.struct_size = sizeof(row)};
        pinfold_recipe recipe = pinfold_recipe_default();
        struct pfi_recipe resolved;

        pinfold_preset_get(i, &row);
        torchvision += !strncmp(row.source, "torchvision", 11);
        cr_assert_eq(pinfold_recipe_preset(&recipe, row.name, NULL),
                     row.why_not ? PINFOLD_E_UNSUPPORTED : PINFOLD_OK);
        if (!row.why_not)
            cr_assert_eq(pfi_recipe_resolve(&resolved, &recipe, NULL),
                         PINFOLD_OK);
    }
    cr_assert_eq(torchvision, 115);
}

Test(preset, case_and_the_short_name_do_not_matter)
{
    static const char *const names[] = {
        "ResNet50_Weights.IMAGENET1K_V2", "resnet50_weights.imagenet1k_v2",
        "resnet50", "RESNET50", "resnet50_weights.DEFAULT"};

    for (int i = 0; i < 5; i++) {
        const pinfold_recipe r = preset(names[i]);

        cr_assert_eq(r.resize_short, 232, "%s", names[i]);
        cr_assert_eq(r.crop_height, 224);
        cr_assert_eq(r.crop_width, 224);
    }
    cr_assert_eq(preset("ResNet50_Weights.IMAGENET1K_V1").resize_short, 256);
}

Test(preset, numbers_of_some)
{
    const pinfold_recipe inception = preset("inception_v3");
    const pinfold_recipe vgg = preset("VGG16_Weights.IMAGENET1K_FEATURES");
    const pinfold_recipe clip = preset("clip");

    cr_assert_eq(inception.resize_short, 342);
    cr_assert_eq(inception.crop_height, 299);
    cr_assert_eq(preset("efficientnet_b7").filter, PINFOLD_BICUBIC);
    cr_assert_eq(vgg.mean[0], (float)0.48235);
    cr_assert_eq(vgg.stddev[2], (float)(1.0 / 255));
    cr_assert_eq(clip.filter, PINFOLD_BICUBIC);
    cr_assert_eq(clip.stddev[1], (float)0.26130258);
    cr_assert_eq(preset("tf_efficientnet_lite3").resize_short, 331);
}

Test(preset, the_rest_of_the_recipe_stays)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.dtype = PINFOLD_BF16;
    recipe.pillow = PINFOLD_PILLOW_12;
    recipe.resize_height = recipe.resize_width = 9;
    cr_assert_eq(pinfold_recipe_preset(&recipe, "dinov2", NULL), PINFOLD_OK);
    cr_assert_eq(recipe.dtype, PINFOLD_BF16);
    cr_assert_eq(recipe.pillow, PINFOLD_PILLOW_12);
    cr_assert_eq(recipe.resize_height, 0);
}

Test(preset, an_unknown_name_gets_the_nearest)
{
    refused("resnet51", PINFOLD_E_ARGUMENT, "ResNet50_Weights.IMAGENET1K_V2");
    refused("efficientnet-b3", PINFOLD_E_ARGUMENT, "EfficientNet_B3_Weights");
    refused("", PINFOLD_E_ARGUMENT, "no preset ''");
    refused("ResNet50_Weights", PINFOLD_E_ARGUMENT, "no preset");
    refused("mlperf-resnet50", PINFOLD_E_UNSUPPORTED, "OpenCV");
    cr_assert_eq(pinfold_recipe_preset(NULL, "clip", NULL), PINFOLD_E_ARGUMENT);
}

Test(preset, an_older_callers_struct_is_refused)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.struct_size = 8;
    cr_assert_eq(pinfold_recipe_preset(&recipe, "clip", NULL),
                 PINFOLD_E_ARGUMENT);
}
