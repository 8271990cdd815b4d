/* SPDX-License-Identifier: Apache-2.0
 * Small BMP and PNM files of every kind, whole and cut at every byte, against
 * Pillow (scripts/make-raster-golden). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include <pinfold/pinfold.h>

#include "tests/support/sha256hex.h"

#define LINE_MAX_BYTES 8192
#define PIXELS_MAX (512 * 512)

enum {
    NAME,
    FORMAT,
    MODE,
    WIDTH,
    HEIGHT,
    WHOLE,
    HALF,
    LEAST,
    FILE_HEX,
    FIELDS
};

static unsigned char pixels[PIXELS_MAX * 3];

static size_t split(char *line, char *fields[FIELDS])
{
    size_t n = 0;

    line[strcspn(line, "\n")] = '\0';
    for (char *next = line; next && n < FIELDS; n++) {
        fields[n] = next;
        next = strchr(next, '\t');
        if (next)
            *next++ = '\0';
    }
    return n;
}

static size_t unhex(const char *hex, unsigned char *out)
{
    const size_t n = strlen(hex) / 2;

    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;

        cr_assert_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (unsigned char)byte;
    }
    return n;
}

/* Decodes from a block of just these bytes, so that a sanitizer sees a read
 * beyond them. */
static pinfold_status decode(const unsigned char *file, size_t size,
                             int32_t height, int32_t width, pinfold_error *err)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    unsigned char *const copy = malloc(size ? size : 1);
    pinfold_status status;

    cr_assert_not_null(copy);
    if (size)
        memcpy(copy, file, size);
    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = height;
    recipe.crop_width = width;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    status =
        pinfold_preprocess(&recipe, copy, size, pixels, sizeof(pixels), err);
    free(copy);
    return status;
}

static void check_pixels(char *const *fields, const unsigned char *file,
                         size_t size, int32_t height, int32_t width,
                         const char *want)
{
    pinfold_error err;
    char hex[65];

    cr_assert_eq(decode(file, size, height, width, &err), PINFOLD_OK, "%s: %s",
                 fields[NAME], err.message);
    sha256_hex(pixels, (size_t)height * (size_t)width * 3, hex);
    cr_assert_str_eq(hex, want, "%s: other pixels", fields[NAME]);
}

static void check_plan(char *const *fields, const unsigned char *file,
                       size_t size)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    pinfold_error err;

    cr_assert_eq(pinfold_plan_picture(&recipe, file, size, &plan, &err),
                 PINFOLD_OK, "%s: %s", fields[NAME], err.message);
    cr_assert_str_eq(plan.format, fields[FORMAT], "%s", fields[NAME]);
    cr_assert_str_eq(plan.mode, fields[MODE], "%s", fields[NAME]);
    cr_assert_eq(plan.width, atoi(fields[WIDTH]), "%s", fields[NAME]);
    cr_assert_eq(plan.height, atoi(fields[HEIGHT]), "%s", fields[NAME]);
}

static void check_cuts(char *const *fields, const unsigned char *file,
                       size_t size, size_t least)
{
    pinfold_error err;

    for (size_t n = 0; least && n < size; n++) {
        const pinfold_status status = decode(file, n, 1, 1, &err);

        if (n >= least)
            cr_assert_eq(status, PINFOLD_OK, "%s cut to %zu: %s", fields[NAME],
                         n, err.message);
        else
            cr_assert_lt(status, 0, "%s cut to %zu", fields[NAME], n);
    }
}

static void check(char *const *fields)
{
    static unsigned char file[LINE_MAX_BYTES / 2];
    const size_t size = unhex(fields[FILE_HEX], file);
    const int32_t width = atoi(fields[WIDTH]), height = atoi(fields[HEIGHT]);
    pinfold_error err;

    if (!strcmp(fields[WHOLE], "error")) {
        cr_assert_lt(decode(file, size, 1, 1, &err), 0, "%s is accepted",
                     fields[NAME]);
        return;
    }
    cr_assert_leq((int64_t)width * height, PIXELS_MAX, "%s", fields[NAME]);
    check_plan(fields, file, size);
    check_pixels(fields, file, size, height, width, fields[WHOLE]);
    check_pixels(fields, file, size, (height + 1) / 2, (width + 1) / 2,
                 fields[HALF]);
    check_cuts(fields, file, size, (size_t)atoi(fields[LEAST]));
}

Test(raster, every_kind_is_as_in_pillow)
{
    static char line[LINE_MAX_BYTES];
    FILE *const table = fopen(PFI_GOLDEN_DIR "/raster.tsv", "r");
    char *fields[FIELDS];
    int checked = 0;

    cr_assert_not_null(table);
    while (fgets(line, sizeof(line), table)) {
        if (line[0] == '#')
            continue;
        cr_assert_eq(split(line, fields), FIELDS, "line %d", checked);
        check(fields);
        checked++;
    }
    cr_assert_eq(fclose(table), 0);
    cr_assert_gt(checked, 500);
}
