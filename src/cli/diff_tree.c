/* SPDX-License-Identifier: Apache-2.0
 * Causes that are found by decoding the tree's pictures again: other recipes by
 * the library, and resizes of other libraries by diff_resize.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/describe.h"
#include "src/cli/diff.h"
#include "src/cli/diff_resize.h"
#include "src/cli/run.h"
#include "src/cli/sample_file.h"

struct picture {
    const struct pfi_cli_pair *pair;
    void *file;
    size_t size;
    pinfold_plan plan; /* under the recipe */
};

/* A recipe that others may have used, or false where it makes no sense. */
struct variant {
    const char *id, *words;
    bool (*change)(pinfold_recipe *r, const pinfold_plan *p);
};

static bool other_pillow(pinfold_recipe *r, const pinfold_plan *p)
{
    (void)p;
    r->pillow =
        r->pillow == PINFOLD_PILLOW_12 ? PINFOLD_PILLOW_13 : PINFOLD_PILLOW_12;
    return true;
}

static bool other_exif(pinfold_recipe *r, const pinfold_plan *p)
{
    (void)p;
    r->exif = !r->exif;
    return true;
}

/* Both sides of the resized picture rounded to the nearest number. */
static bool rounded(pinfold_recipe *r, const pinfold_plan *p)
{
    const int32_t height = (int32_t)lround(p->exact_height);
    const int32_t width = (int32_t)lround(p->exact_width);

    if (r->resize_short == PINFOLD_OFF || r->resize_height ||
        (height == p->resized_height && width == p->resized_width))
        return false;
    r->resize_short = r->max_size = 0;
    r->resize_height = height;
    r->resize_width = width;
    return true;
}

static bool squeezed(pinfold_recipe *r, const pinfold_plan *p)
{
    r->resize_short = r->max_size = 0;
    r->resize_height = p->output_height;
    r->resize_width = p->output_width;
    return true;
}

/* A square of the resize's side, then the crop. */
static bool squeezed_before_crop(pinfold_recipe *r, const pinfold_plan *p)
{
    const int32_t side = r->resize_short;

    (void)p;
    if (side <= 0)
        return false;
    r->resize_short = r->max_size = 0;
    r->resize_height = r->resize_width = side;
    return true;
}

static bool no_margin(pinfold_recipe *r, const pinfold_plan *p)
{
    if (p->output_height != p->output_width ||
        r->resize_short == p->output_height)
        return false;
    r->resize_height = r->resize_width = 0;
    r->resize_short = p->output_height;
    return true;
}

static bool no_resize(pinfold_recipe *r, const pinfold_plan *p)
{
    if (r->crop_height == PINFOLD_OFF || r->resize_short == PINFOLD_OFF)
        return false;
    (void)p;
    r->resize_height = r->resize_width = r->max_size = 0;
    r->resize_short = PINFOLD_OFF;
    return true;
}

static const struct variant variants[] = {
    {"pillow", "the other order of passes: Pillow 12 against Pillow 13",
     other_pillow},
    {"exif",
     "one turned pictures as their EXIF orientation says, the other "
     "did not",
     other_exif},
    {"resize-rounding",
     "A's resized sides were rounded to the nearest number; "
     "torchvision truncates",
     rounded},
    {"resize",
     "A was resized to the crop's height and width, without keeping "
     "the proportions",
     squeezed},
    {"resize",
     "A was resized to a square, without keeping the proportions, "
     "then cropped",
     squeezed_before_crop},
    {"resize", "A's shorter side was resized to the crop's side", no_margin},
    {"resize", "A was cropped without a resize", no_resize},
};

/* ------------------------------------------------------------- pictures --- */

static bool open_picture(const struct pfi_cli_diff *d, struct picture *p,
                         const struct pfi_cli_pair *pair)
{
    pinfold_error err;

    *p = (struct picture){.pair = pair,
                          .plan = {.struct_size = sizeof(p->plan)}};
    p->file = pfi_cli_sample_read(d->dataset, pair->sample,
                                  d->o->recipe.max_file, &p->size, &err);
    return p->file && !pinfold_plan_picture(&d->o->recipe, p->file, p->size,
                                            &p->plan, NULL);
}

/* Whether A is what the recipe gives. */
static bool fits(const struct pfi_cli_diff *d, const struct picture *p,
                 const pinfold_recipe *r)
{
    const size_t n = (size_t)d->values;
    int64_t shape[4];
    void *made = NULL;
    float *wide = NULL;
    bool good = false;
    size_t bytes;

    if (pinfold_recipe_size(r, 1, &bytes, shape, NULL) ||
        shape[1] * shape[2] * shape[3] != d->values)
        return false;
    made = malloc(bytes);
    wide = calloc(n, sizeof(*wide));
    if (made && wide &&
        !pinfold_preprocess(r, p->file, p->size, made, bytes, NULL)) {
        pfi_cli_diff_widen(&d->b, made, wide);
        good = true;
        for (size_t i = 0; good && i < n; i++)
            good = wide[i] == p->pair->a[i];
    }
    free(made);
    free(wide);
    return good;
}

static void try_variants(struct pfi_cli_diff *d, const struct picture *pictures)
{
    for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++) {
        int n = 0;

        for (int k = 0; k < d->n_pairs; k++) {
            pinfold_recipe r = d->o->recipe;

            n += pictures[k].file &&
                 variants[v].change(&r, &pictures[k].plan) &&
                 fits(d, &pictures[k], &r);
        }
        if (n)
            pfi_cli_diff_cause(d, variants[v].id, n, "%s", variants[v].words);
    }
}

static void try_filters(struct pfi_cli_diff *d, const struct picture *pictures)
{
    for (int filter = PINFOLD_BILINEAR; filter <= PINFOLD_LANCZOS; filter++) {
        pinfold_recipe r = d->o->recipe;
        int n = 0;

        if (filter == (int)r.filter)
            continue;
        r.filter = (pinfold_filter)filter;
        for (int k = 0; k < d->n_pairs; k++)
            n += pictures[k].file && fits(d, &pictures[k], &r);
        if (n)
            pfi_cli_diff_cause(d, "filter", n,
                               "A was resized with Pillow's %s, B with %s",
                               pfi_cli_filter_name(r.filter),
                               pfi_cli_filter_name(d->o->recipe.filter));
    }
}

/* --------------------------------------------- other libraries' resizes --- */

/* The whole picture in RGB; NULL where that is not possible. */
static unsigned char *decode(const struct pfi_cli_diff *d,
                             const struct picture *p)
{
    pinfold_recipe r = d->o->recipe;
    unsigned char *pixels = NULL;
    size_t bytes;

    r.resize_short = PINFOLD_OFF;
    r.resize_height = r.resize_width = r.max_size = 0;
    r.crop_height = p->plan.height;
    r.crop_width = p->plan.width;
    r.dtype = PINFOLD_U8;
    r.layout = PINFOLD_NHWC;
    if (pinfold_recipe_size(&r, 1, &bytes, NULL, NULL))
        return NULL;
    pixels = malloc(bytes);
    if (pixels &&
        pinfold_preprocess(&r, p->file, p->size, pixels, bytes, NULL)) {
        free(pixels);
        pixels = NULL;
    }
    return pixels;
}

/* Whether A's codes are within 1 of the resized picture's, and nearly all the
 * same: roundings differ from one library to the next. */
static bool near_codes(const struct pfi_cli_diff *d, const struct picture *p,
                       const float *resized)
{
    const pinfold_recipe *const r = &d->o->recipe;
    const int64_t plane = d->a.shape.h * d->a.shape.w;
    const double slack = d->a.dtype == PINFOLD_BF16  ? 2.0
                         : d->a.dtype == PINFOLD_F16 ? 0.3
                                                     : 0.05;
    double sum = 0;

    for (int64_t i = 0; i < d->values; i++) {
        double code = (double)p->pair->a[i];

        if (d->a.dtype != PINFOLD_U8)
            code = (code * (double)r->stddev[i / plane] +
                    (double)r->mean[i / plane]) *
                   255.0;
        const double off = fabs(code - (double)resized[i]);

        if (!(off < 1.0 + slack))
            return false;
        sum += off;
    }
    return sum / (double)d->values < 0.4 + slack;
}

static bool try_resize(const struct pfi_cli_diff *d, const struct picture *p,
                       const unsigned char *pixels, enum pfi_cli_resize how)
{
    const struct pfi_cli_resize_window w = {
        .width = p->plan.width,
        .height = p->plan.height,
        .resized_width = p->plan.resized_width,
        .resized_height = p->plan.resized_height,
        .left = p->plan.crop_left,
        .top = p->plan.crop_top,
        .out_width = p->plan.output_width,
        .out_height = p->plan.output_height,
    };
    float *const out = calloc((size_t)d->values, sizeof(*out));
    const bool good = out && pfi_cli_resize_window(pixels, &w, how, out) &&
                      near_codes(d, p, out);

    free(out);
    return good;
}

static void try_resizes(struct pfi_cli_diff *d, const struct picture *pictures)
{
    static const char *const ids[] = {"no-antialias", "area", "nearest"};
    static const char *const words[] = {
        "A was resized bilinearly without antialias (torchvision with "
        "antialias=False, OpenCV's INTER_LINEAR), within 1 code",
        "A was resized by areas (OpenCV's INTER_AREA), within 1 code",
        "A was resized to the nearest pixel by the corner (OpenCV's "
        "INTER_NEAREST, torch's nearest), within 1 code",
    };
    int n[3] = {0};

    for (int k = 0; k < d->n_pairs; k++) {
        unsigned char *const pixels =
            pictures[k].file ? decode(d, &pictures[k]) : NULL;

        for (int how = 0; pixels && how < 3; how++)
            n[how] +=
                try_resize(d, &pictures[k], pixels, (enum pfi_cli_resize)how);
        free(pixels);
    }
    for (int how = 0; how < 3; how++)
        if (n[how])
            pfi_cli_diff_cause(d, ids[how], n[how], "%s", words[how]);
}

void pfi_cli_diff_try_tree(struct pfi_cli_diff *d)
{
    struct picture pictures[PFI_CLI_DIFF_PAIRS];

    for (int k = 0; k < d->n_pairs; k++) {
        if (!open_picture(d, &pictures[k], &d->pairs[k])) {
            free(pictures[k].file);
            pictures[k].file = NULL;
        }
    }
    try_variants(d, pictures);
    try_filters(d, pictures);
    if (!d->n_causes)
        try_resizes(d, pictures);
    for (int k = 0; k < d->n_pairs; k++)
        free(pictures[k].file);
}
