/* SPDX-License-Identifier: Apache-2.0
 * pinfold explain: every step of a recipe on one picture, with its numbers. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/describe.h"
#include "src/cli/run.h"
#include "src/cli/sample_file.h"
#include "src/cli/sandbox.h"
#include "src/cli/text.h"

/* What convert("RGB") does to each of Pillow's modes. */
static const struct {
    const char *mode, *text;
} colours[] = {
    {"1", "black and white: 0 becomes black, 1 becomes 255 in each channel"},
    {"L", "grey: the one channel is copied to red, green and blue"},
    {"LA", "grey with alpha: alpha is dropped, not blended with anything"},
    {"La", "grey with alpha: alpha is dropped, not blended with anything"},
    {"PA", "palette with alpha: colours looked up, alpha is dropped"},
    {"P", "palette: each number is looked up, transparency is ignored"},
    {"RGB", "red, green and blue: taken as they are"},
    {"RGBX", "red, green, blue and a fourth byte, which is dropped"},
    {"RGBA", "alpha is dropped, not blended with anything"},
    {"CMYK", "inks to light by Pillow's integer formula, no colour profile"},
    {"YCbCr", "luma and chroma to red, green and blue"},
    {"LAB", "CIE L*a*b* to red, green and blue"},
    {"I;16", "16-bit grey: clipped at 255, not scaled (so most turn white)"},
    {"I;16B", "16-bit grey: clipped at 255, not scaled (so most turn white)"},
    {"I", "32-bit grey: clipped to 0..255, not scaled"},
    {"F", "floating-point grey: clipped to 0..255, not scaled"},
};

static const char *colour_text(const pinfold_plan *p)
{
    /* A JPEG's four components are always taken as inverted. */
    if (!strcmp(p->format, "JPEG") && !strcmp(p->mode, "CMYK"))
        return "four inks, stored inverted as JPEG has them: turned round, "
               "then "
               "to light by\n          Pillow's integer formula, no colour "
               "profile";
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        if (!strcmp(p->mode, colours[i].mode))
            return colours[i].text;
    return "to red, green and blue";
}

static void region_in_words(const pinfold_plan *p, const pinfold_recipe *r)
{
    if (r->random_crop)
        (void)printf(
            "region    %d x %d from column %d, row %d, drawn with seed "
            "%llu\n",
            p->region_width, p->region_height, p->region_left, p->region_top,
            (unsigned long long)r->random_seed);
    if (r->flip > 0)
        (void)printf("flip      %s (probability %g)\n",
                     p->mirrored ? "left to right" : "no", (double)r->flip);
}

static void decoder_in_words(const pinfold_plan *p)
{
    if (p->decoder_why)
        (void)printf("decoder   %s: %s\n", p->decoder, p->decoder_why);
    else if (strcmp(p->format, "JPEG") != 0)
        (void)printf("decoder   %s\n", p->decoder);
    else
        (void)printf("decoder   %s's own, %llu bytes; libjpeg-turbo where the "
                     "data are in doubt\n",
                     p->decoder, (unsigned long long)p->decoder_bytes);
}

static void in_words(const pinfold_plan *p, const pinfold_recipe *r,
                     const int64_t shape[4], size_t bytes)
{
    (void)printf("picture   %s, mode %s, %d x %d (width x height)\n", p->format,
                 p->mode, p->width, p->height);
    decoder_in_words(p);
    (void)printf("colour    %s\n", colour_text(p));
    region_in_words(p, r);
    (void)printf("resize    to %d x %d (%.4f x %.4f before truncation)\n",
                 p->resized_width, p->resized_height, p->exact_width,
                 p->exact_height);
    (void)printf(
        "          filter %s, at most %d columns and %d rows a pixel\n",
        pfi_cli_filter_name(r->filter), p->taps_x, p->taps_y);
    (void)printf("          %s resampled first (Pillow %s)\n",
                 p->vertical_first ? "rows are" : "columns are",
                 r->pillow == PINFOLD_PILLOW_12 ? "12.3.0 and before"
                                                : "13.0.0");
    if (p->pad_left || p->pad_top || p->pad_right || p->pad_bottom)
        (void)printf("pad       left %d, top %d, right %d, bottom %d, black\n",
                     p->pad_left, p->pad_top, p->pad_right, p->pad_bottom);
    else
        (void)puts("pad       none: the resized picture covers the crop");
    (void)printf("crop      %d x %d from column %d, row %d\n", p->output_width,
                 p->output_height, p->crop_left, p->crop_top);
    (void)printf(
        "window    the crop needs columns %d to %d, rows %d to %d of the "
        "picture\n",
        p->window_left, p->window_right, p->window_top, p->window_bottom);
    (void)printf("output    %s [%lld, %lld, %lld], %zu bytes\n",
                 pfi_cli_dtype_name(r->dtype), (long long)shape[1],
                 (long long)shape[2], (long long)shape[3], bytes);
    (void)printf("scratch   %llu bytes besides the decoder's\n",
                 (unsigned long long)p->scratch_bytes);
}

static void in_json(const pinfold_plan *p, const pinfold_recipe *r,
                    const int64_t shape[4], size_t bytes)
{
    (void)printf("{\"schema\":1,\"format\":\"%s\",\"mode\":\"%s\",\"width\":%d,"
                 "\"height\":%d,\"exact_width\":%.17g,\"exact_height\":%.17g,"
                 "\"resized_width\":%d,\"resized_height\":%d,\"filter\":\"%s\","
                 "\"vertical_first\":%s,\"pillow\":%d,",
                 p->format, p->mode, p->width, p->height, p->exact_width,
                 p->exact_height, p->resized_width, p->resized_height,
                 pfi_cli_filter_name(r->filter),
                 p->vertical_first ? "true" : "false",
                 r->pillow == PINFOLD_PILLOW_12 ? 12 : 13);
    (void)printf(
        "\"pad\":[%d,%d,%d,%d],\"crop\":[%d,%d,%d,%d],"
        "\"window\":[%d,%d,%d,%d],\"taps\":[%d,%d],\"dtype\":\"%s\","
        "\"shape\":[%lld,%lld,%lld],\"bytes\":%zu,"
        "\"region\":[%d,%d,%d,%d],\"mirrored\":%s,"
        "\"scratch_bytes\":%llu,\"decoder\":\"%s\",",
        p->pad_left, p->pad_top, p->pad_right, p->pad_bottom, p->crop_left,
        p->crop_top, p->output_width, p->output_height, p->window_left,
        p->window_top, p->window_right, p->window_bottom, p->taps_x, p->taps_y,
        pfi_cli_dtype_name(r->dtype), (long long)shape[1], (long long)shape[2],
        (long long)shape[3], bytes, p->region_left, p->region_top,
        p->region_width, p->region_height, p->mirrored ? "true" : "false",
        (unsigned long long)p->scratch_bytes, p->decoder);
    /* The reasons have nothing that JSON would escape. */
    if (p->decoder_why)
        (void)printf("\"decoder_why\":\"%s\",", p->decoder_why);
    (void)printf("\"decoder_bytes\":%llu}\n",
                 (unsigned long long)p->decoder_bytes);
}

int pfi_cli_explain(const struct pfi_cli_options *o)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    const char *const path = o->arguments[0];
    pinfold_recipe recipe = o->recipe;
    pinfold_status status;
    pinfold_error err;
    int64_t shape[4];
    size_t size, bytes;
    void *const data =
        pfi_cli_read_file(path, o->recipe.max_file, &size, &err);

    if (!data) {
        pfi_cli_say("pinfold: %s: %s", path, err.message);
        return PFI_CLI_FAILED;
    }
    if (o->sandbox)
        pfi_cli_sandbox(o);
    recipe.random_seed = o->loader.seed;
    status = pinfold_plan_picture(&recipe, data, size, &plan, &err);
    free(data);
    if (!status)
        status = pinfold_recipe_size(&o->recipe, 1, &bytes, shape, &err);
    if (status) {
        pfi_cli_say("pinfold: %s: %s", path, err.message);
        return PFI_CLI_FAILED;
    }
    (o->json ? in_json : in_words)(&plan, &recipe, shape, bytes);
    return PFI_CLI_OK;
}
