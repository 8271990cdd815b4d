/* SPDX-License-Identifier: Apache-2.0
 * What one file says of itself, and whether all of it decodes. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/sample_file.h"
#include "src/cli/scan.h"
#include "src/cli/sha256.h"

/* Every pixel counts for a picture of so many pixels a side. */
enum { SIDE = 8 };

static void set_bad(struct pfi_cli_scanned *out, const pinfold_error *err)
{
    out->message = strdup(err->message);
    out->status = out->message ? err->status : PINFOLD_E_MEMORY;
}

const char *pfi_cli_scan_reason(const struct pfi_cli_scanned *file)
{
    return file->message ? file->message : "out of memory";
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* Pillow, and so the library, asks for no IEND behind a whole picture. */
static bool png_lacks_end(const unsigned char *file, size_t size)
{
    size_t at = 8;

    while (at <= size && size - at >= 12) {
        const size_t n = get32(file + at);

        if (!memcmp(file + at + 4, "IEND", 4))
            return false;
        if (n > size - at - 12)
            return true;
        at += 12 + n;
    }
    return true;
}

/* An EXIF block too broken to be read turns nothing. */
static pinfold_status read_header(struct pfi_cli_scanned *out, const void *file,
                                  size_t size, pinfold_recipe recipe,
                                  pinfold_error *err)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    pinfold_status status;

    recipe.exif = 1;
    status = pinfold_plan_picture(&recipe, file, size, &plan, err);
    recipe.exif = 0;
    if (status && status != PINFOLD_E_MEMORY)
        status = pinfold_plan_picture(&recipe, file, size, &plan, err);
    if (status)
        return status;
    out->format = plan.format;
    out->mode = plan.mode;
    out->orientation = plan.orientation;
    return status;
}

/* The limits are the options'; the size is one that every picture has, and for
 * which every pixel is asked. */
static pinfold_recipe whole_recipe(const pinfold_recipe *given)
{
    pinfold_recipe recipe = *given;

    recipe.resize_short = recipe.max_size = 0;
    recipe.resize_height = recipe.resize_width = SIDE;
    recipe.crop_height = PINFOLD_OFF;
    recipe.crop_width = 0;
    recipe.filter = PINFOLD_BILINEAR;
    recipe.dtype = PINFOLD_U8;
    return recipe;
}

void pfi_cli_scan_file(struct pfi_cli_scanned *out,
                       const pinfold_dataset *dataset, int64_t index,
                       const pinfold_recipe *recipe, bool whole)
{
    unsigned char sample[SIDE * SIDE * 3];
    pinfold_error err;
    size_t size;
    void *const file = 
        pfi_cli_sample_read(dataset, index, recipe->max_file, &size, &err);

    if (!file) {
        set_bad(out, &err);
        return;
    }
    if (pfi_cli_have_sha256())
        pfi_cli_sha256(file, size, out->hash);
    if (whole) {
        const pinfold_recipe all = whole_recipe(recipe);
        pinfold_status status = read_header(out, file, size, all, &err);

        /* Of what is bad the decoder tells more than the header. */
        if (status != PINFOLD_E_MEMORY)
            status = pinfold_preprocess(&all, file, size, sample,
                                        sizeof(sample), &err);
        if (status)
            set_bad(out, &err);
        else
            out->open_end =
                !strcmp(out->format, "PNG") && png_lacks_end(file, size);
    }
    free(file);
}
