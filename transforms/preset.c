/* SPDX-License-Identifier: Apache-2.0
 * The preprocessing of trained weights, by name. */
#include <stdbool.h>
#include <string.h>

#include "src/base/error.h"

#define TORCHVISION "torchvision 0.29.2"
#define TIMM "timm 1.0.31"

enum norm { IMAGENET, HALF, CODES, CLIP };

static const struct {
    double mean[3], stddev[3];
} norms[] = {
    [IMAGENET] = {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
    [HALF] = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}},
    /* The mean is on 0..1 and the result on 0..255. */
    [CODES] = {{0.48235, 0.45882, 0.40784},
               {1 / 255.0, 1 / 255.0, 1 / 255.0}},
    [CLIP] = {{0.48145466, 0.4578275, 0.40821073},
              {0.26862954, 0.26130258, 0.27577711}},
};

struct row {
    const char *name;
    int32_t resize, crop;
    pinfold_filter filter;
    enum norm norm;
    double accuracy;
    int32_t model_default;
    const char *source, *why_not; /* NULL: torchvision; NULL: none */
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const struct row rows[] = {
#include "transforms/preset_table.h"
    /* Crop shares of 0.875, 0.882, 0.890, 0.904 and 0.920. */
    {"tf_efficientnet_lite0", 256, 224, PINFOLD_BICUBIC, HALF, 0, 1, TIMM},
    {"tf_efficientnet_lite1", 272, 240, PINFOLD_BICUBIC, HALF, 0, 1, TIMM},
    {"tf_efficientnet_lite2", 292, 260, PINFOLD_BICUBIC, HALF, 0, 1, TIMM},
    {"tf_efficientnet_lite3", 331, 300, PINFOLD_BILINEAR, HALF, 0, 1, TIMM},
    {"tf_efficientnet_lite4", 413, 380, PINFOLD_BILINEAR, HALF, 0, 1, TIMM},
    {"clip", 224, 224, PINFOLD_BICUBIC, CLIP, 0, 1, "openai/CLIP"},
    {"clip-336", 336, 336, PINFOLD_BICUBIC, CLIP, 0, 1,
     "openai/CLIP (ViT-L/14@336px)"},
    {"dinov2", 256, 224, PINFOLD_BICUBIC, IMAGENET, 0, 1,
     "facebookresearch/dinov2"},
    {"mlperf-resnet50", 0, 0, PINFOLD_BILINEAR, IMAGENET, 0, 1,
     "MLPerf inference",
     "cannot be exact: its reference prepares pictures with OpenCV (area "
     "interpolation, other JPEG upsampling), not with Pillow"},
};
#pragma GCC diagnostic pop

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

int64_t pinfold_preset_count(void)
{
    return (int64_t)N_ROWS;
}

void pinfold_preset_get(int64_t index, pinfold_preset *out)
{
    const struct row *const row = &rows[index];
    const pinfold_preset preset = {
        .struct_size = sizeof(preset),
        .name = row->name,
        .source = row->source ? row->source : TORCHVISION,
        .why_not = row->why_not,
        .accuracy = row->accuracy,
        .model_default = row->model_default,
    };

    pfi_struct_out(out, &preset, sizeof(preset));
}

/* ------------------------------------------------------------------ names --- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether a begins as b's first n characters, and b ends there or n is all. */
static bool same(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!a[i] || lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

/* Length of "ResNet50" in "ResNet50_Weights.IMAGENET1K_V2". */
static size_t model_size(const char *name)
{
    const char *const end = strstr(name, "_Weights.");

    return end ? (size_t)(end - name) : strlen(name);
}

static bool matches(const struct row *row, const char *name)
{
    static const char by_default[] = "_weights.default";
    const size_t full = strlen(row->name), model = model_size(row->name);
    const size_t size = strlen(name);

    if (size == full && same(name, row->name, full))
        return true;
    if (!row->model_default || !same(name, row->name, model))
        return false;
    return size == model || (size == model + sizeof(by_default) - 1 &&
                             same(name + model, by_default, size - model));
}

/* Edits from `name` to the first n characters of `model`, case apart; names
 * that are too long are far from everything. */
static int distance(const char *name, const char *model, size_t n)
{
    int cells[64];

    if (n >= 64)
        return 1000;
    for (size_t j = 0; j <= n; j++)
        cells[j] = (int)j;
    for (size_t i = 1; name[i - 1]; i++) {
        int corner = cells[0];

        if (i >= 64)
            return 1000;
        cells[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            const int up = cells[j];
            int best =
                corner + (lower(name[i - 1]) != lower(model[j - 1]));

            best = up + 1 < best ? up + 1 : best;
            best = cells[j - 1] + 1 < best ? cells[j - 1] + 1 : best;
            cells[j] = best;
            corner = up;
        }
    }
    return cells[n];
}

static int row_distance(const struct row *row, const char *name)
{
    const int full = distance(name, row->name, strlen(row->name));
    const int model = row->model_default
                          ? distance(name, row->name, model_size(row->name))
                          : full;

    return full < model ? full : model;
}

/* The nearest of all rows but those in `taken`. */
static const struct row *nearest(const char *name, const struct row *first,
                                 const struct row *second)
{
    const struct row *best = NULL;
    int least = 1000;

    for (size_t i = 0; i < N_ROWS; i++) {
        const int d = row_distance(&rows[i], name);

        if (&rows[i] != first && &rows[i] != second && d < least) {
            least = d;
            best = &rows[i];
        }
    }
    return best ? best : &rows[0];
}

static pinfold_status unknown(const char *name, pinfold_error *err)
{
    const struct row *const first = nearest(name, NULL, NULL);
    const struct row *const second = nearest(name, first, NULL);
    const struct row *const third = nearest(name, first, second);

    return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                    "no preset '%.80s'; the nearest are %s, %s and %s", name,
                    first->name, second->name, third->name);
}

static void set_recipe(pinfold_recipe *r, const struct row *row)
{
    r->resize_short = row->resize;
    r->resize_height = r->resize_width = r->max_size = 0;
    r->crop_height = r->crop_width = row->crop;
    r->filter = row->filter;
    for (int c = 0; c < 3; c++) {
        r->mean[c] = (float)norms[row->norm].mean[c];
        r->stddev[c] = (float)norms[row->norm].stddev[c];
    }
}

pinfold_status pinfold_recipe_preset(pinfold_recipe *recipe, const char *name,
                                     pinfold_error *err)
{
    pinfold_recipe known = pinfold_recipe_default();
    pinfold_status status;

    pfi_error_clear(err);
    if (!recipe || !name)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "recipe or name is NULL");
    status = pfi_struct_in(&known, sizeof(known),
                           PFI_SIZE_WITH(pinfold_recipe, jpeg), recipe, err);
    if (status)
        return status;
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!matches(&rows[i], name))
            continue;
        if (rows[i].why_not)
            return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0, "%s: %s",
                            rows[i].name, rows[i].why_not);
        set_recipe(&known, &rows[i]);
        pfi_struct_out(recipe, &known, sizeof(known));
        return PINFOLD_OK;
    }
    return unknown(name, err);
}
