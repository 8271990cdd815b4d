/* SPDX-License-Identifier: Apache-2.0
 * The options that describe what is done to a picture. */
#include "src/cli/recipe_options.h"

#include <stdlib.h>
#include <string.h>

#include "src/cli/values.h"

const char *pfi_cli_take_resize(struct pfi_cli_options *o, const char *text)
{
    pinfold_recipe *const r = &o->recipe;

    r->resize_short = r->resize_height = r->resize_width = 0;
    if (!strcmp(text, "none")) {
        r->resize_short = PINFOLD_OFF;
        return NULL;
    }
    if (pfi_cli_to_pair(text, &r->resize_height, &r->resize_width) ||
        !pfi_cli_to_int32(text, 1, &r->resize_short))
        return NULL;
    return "not N, HxW or none, each 1 or more";
}

const char *pfi_cli_take_crop(struct pfi_cli_options *o, const char *text)
{
    pinfold_recipe *const r = &o->recipe;

    r->crop_width = 0;
    if (!strcmp(text, "none")) {
        r->crop_height = PINFOLD_OFF;
        return NULL;
    }
    if (pfi_cli_to_pair(text, &r->crop_height, &r->crop_width) ||
        !pfi_cli_to_int32(text, 1, &r->crop_height))
        return NULL;
    return "not N, HxW or none, each 1 or more";
}

const char *pfi_cli_take_max_size(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_int32(text, 1, &o->recipe.max_size);
}

const char *pfi_cli_take_filter(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"bilinear", "nearest", "box", "hamming",
                                        "bicubic",  "lanczos", NULL};
    int i = 0;
    const char *const wrong = pfi_cli_to_choice(
        text, names, "not nearest, box, bilinear, hamming, bicubic or lanczos",
        &i);

    o->recipe.filter = (pinfold_filter)i;
    return wrong;
}

const char *pfi_cli_take_mean(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_channels(text, o->recipe.mean);
}

const char *pfi_cli_take_std(struct pfi_cli_options *o, const char *text)
{
    const char *const wrong = pfi_cli_to_channels(text, o->recipe.stddev);

    for (int c = 0; !wrong && c < 3; c++)
        if (o->recipe.stddev[c] == 0.0f)
            return "0: a division by zero";
    return wrong;
}

const char *pfi_cli_take_preset(struct pfi_cli_options *o, const char *text)
{
    pinfold_error err;

    if (!pinfold_recipe_preset(&o->recipe, text, &err))
        return NULL;
    (void)snprintf(o->wrong, sizeof(o->wrong), "%s", err.message);
    return o->wrong;
}

const char *pfi_cli_take_scale(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"divide", "multiply", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not divide or multiply", &i);

    o->recipe.scale = (pinfold_scale)i;
    return wrong;
}

const char *pfi_cli_take_random_crop(struct pfi_cli_options *o,
                                     const char *text)
{
    (void)text;
    o->recipe.random_crop = 1;
    o->recipe.resize_short = 0;
    return NULL;
}

const char *pfi_cli_take_flip(struct pfi_cli_options *o, const char *text)
{
    char *end;

    o->recipe.flip = strtof(text, &end);
    return end == text || *end || !(o->recipe.flip >= 0 && o->recipe.flip <= 1)
               ? "not a probability from 0 to 1"
               : NULL;
}

const char *pfi_cli_take_random_area(struct pfi_cli_options *o,
                                     const char *text)
{
    return pfi_cli_to_range(text, o->recipe.random_area);
}

const char *pfi_cli_take_random_aspect(struct pfi_cli_options *o,
                                       const char *text)
{
    return pfi_cli_to_range(text, o->recipe.random_aspect);
}

const char *pfi_cli_take_max_file(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_bytes(text, &o->recipe.max_file);
}

const char *pfi_cli_take_max_side(struct pfi_cli_options *o, const char *text)
{
    uint64_t side = 0;
    const char *const wrong = pfi_cli_to_pixels(text, &side);

    o->recipe.max_side = (int32_t)(side & INT32_MAX);
    return wrong || side <= INT32_MAX ? wrong : "more than 2147483647";
}

const char *pfi_cli_take_max_ancillary(struct pfi_cli_options *o,
                                       const char *text)
{
    return pfi_cli_to_bytes(text, &o->recipe.max_ancillary);
}

const char *pfi_cli_take_max_pixels(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_pixels(text, &o->recipe.max_pixels);
}

const char *pfi_cli_take_max_scratch(struct pfi_cli_options *o,
                                     const char *text)
{
    return pfi_cli_to_bytes(text, &o->recipe.max_scratch);
}

const char *pfi_cli_take_full_decode(struct pfi_cli_options *o,
                                     const char *text)
{
    (void)text;
    o->recipe.full_decode = 1;
    return NULL;
}

const char *pfi_cli_take_max_scans(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_int32(text, 1, &o->recipe.max_scans);
}

const char *pfi_cli_take_exif(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->recipe.exif = 1;
    return NULL;
}

const char *pfi_cli_take_pillow(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"13", "12", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not 12 or 13", &i);

    o->recipe.pillow = (pinfold_pillow)i;
    return wrong;
}

const char *pfi_cli_take_cpu_level(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"auto",   "c",    "sse4.1", "avx2",
                                        "avx512", "neon", NULL};
    int i = 0;
    const char *const wrong = pfi_cli_to_choice(
        text, names, "not auto, c, sse4.1, avx2, avx512 or neon", &i);

    o->recipe.cpu_level = (pinfold_cpu_level)i;
    return wrong;
}

const char *pfi_cli_take_dtype(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"f32",     "f16",     "u8",
                                        "bf16",    "float32", "float16",
                                        "uint8",   "bfloat16", NULL};
    int i = 0;
    const char *const wrong = pfi_cli_to_choice(
        text, names,
        "not f32, f16, bf16 or u8, nor float32, float16, bfloat16 or uint8",
        &i);

    o->recipe.dtype = (pinfold_dtype)(i % 4);
    return wrong;
}

const char *pfi_cli_take_layout(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"nchw", "nhwc", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not nchw or nhwc", &i);

    o->recipe.layout = (pinfold_layout)i;
    return wrong;
}

const char *pfi_cli_take_jpeg(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"auto", "libjpeg", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not auto or libjpeg", &i);

    o->recipe.jpeg = (pinfold_jpeg)i;
    return wrong;
}
