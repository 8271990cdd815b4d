/* SPDX-License-Identifier: Apache-2.0
 * Decodes with a recipe that changes no pixel. */
#include "tests/support/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of exactly `size` bytes, so that a sanitizer sees what lies behind. */
static void *exact(const void *data, size_t size)
{
    void *const copy = malloc(size ? size : 1);

    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

struct decoded decode_with(const pinfold_recipe *limits, const void *data,
                           size_t size)
{
    pinfold_recipe recipe = *limits;
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    struct decoded d = {0};
    void *const copy = exact(data, size);

    recipe.resize_short = PINFOLD_OFF;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    recipe.crop_height = recipe.crop_width = 1;
    d.err.status = pinfold_plan_picture(&recipe, copy, size, &plan, &d.err);
    if (d.err.status == PINFOLD_OK) {
        recipe.crop_height = d.height = plan.height;
        recipe.crop_width = d.width = plan.width;
        d.size = (size_t)d.width * (size_t)d.height * 3;
        d.rgb = malloc(d.size);
        d.err.status =
            pinfold_preprocess(&recipe, copy, size, d.rgb, d.size, &d.err);
    }
    if (d.err.status != PINFOLD_OK) {
        free(d.rgb);
        d.rgb = NULL;
    }
    free(copy);
    return d;
}

struct decoded decode(const void *data, size_t size)
{
    const pinfold_recipe recipe = pinfold_recipe_default();

    return decode_with(&recipe, data, size);
}

unsigned char *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    unsigned char *data = NULL;
    long end;

    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END) && (end = ftell(file)) >= 0) {
        rewind(file);
        data = malloc((size_t)end + 1);
        *size = data ? fread(data, 1, (size_t)end, file) : 0;
    }
    (void)fclose(file);
    return data;
}
