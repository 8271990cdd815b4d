/* SPDX-License-Identifier: Apache-2.0
 * Pictures of every format, whole and cut at every length, against what Pillow
 * makes of them (scripts/make-format-golden). */
#include <criterion/criterion.h>
#include <stdio.h>

#include <pinfold/pinfold.h>

#include "tests/support/sha256hex.h"

#define FOLDER PFI_GOLDEN_DIR "/formats/"

struct file {
    char name[64];
    unsigned char *data;
    size_t size;
};

static void load(struct file *file, const char *name)
{
    char path[512];
    FILE *stream;

    if (!strcmp(file->name, name))
        return;
    free(file->data);
    (void)snprintf(file->name, sizeof(file->name), "%s", name);
    (void)snprintf(path, sizeof(path), FOLDER "%s", name);
    stream = fopen(path, "rb");
    cr_assert_not_null(stream, "%s", path);
    file->data = malloc(65536);
    file->size = fread(file->data, 1, 65536, stream);
    cr_assert(file->size > 0 && file->size < 65536, "%s", path);
    (void)fclose(stream);
}

/* "WIDTHxHEIGHT:SHA256", or "error"; *why says which. */
static void decode(const unsigned char *data, size_t size, int turn,
                   char out[128], pinfold_error *why)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    unsigned char *pixels;
    size_t bytes;
    int head;

    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = 1;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    recipe.exif = turn;
    (void)strcpy(out, "error");
    if (pinfold_plan_picture(&recipe, data, size, &plan, why))
        return;
    recipe.crop_height = plan.height;
    recipe.crop_width = plan.width;
    bytes = (size_t)plan.width * (size_t)plan.height * 3;
    pixels = malloc(bytes);
    if (!pinfold_preprocess(&recipe, data, size, pixels, bytes, why)) {
        head = snprintf(out, 40, "%dx%d:", plan.width, plan.height);
        sha256_hex(pixels, bytes, out + head);
    }
    free(pixels);
}

static bool is_verdict(pinfold_status status)
{
    return status == PINFOLD_E_CORRUPT || status == PINFOLD_E_FORMAT ||
           status == PINFOLD_E_UNSUPPORTED;
}

static void check(const struct file *file, int turn, size_t size,
                  const char *expected)
{
    /* Of its own size, so that a sanitizer sees a read behind it. */
    unsigned char *const data = malloc(size ? size : 1);
    pinfold_error why;
    char got[128];

    memcpy(data, file->data, size);
    decode(data, size, turn, got, &why);
    cr_assert_str_eq(got, expected, "%s, %zu bytes, turned %d: %s", file->name,
                     size, turn, why.status ? why.message : "");
    cr_assert(strcmp(got, "error") || is_verdict(why.status), "%s: %d",
              file->name, why.status);
    free(data);
}

/* The library that the file's format needs, where this build lacks it. */
static const char *lacking(const char *name)
{
    pinfold_info info = {.struct_size = sizeof(info)};

    pinfold_info_get(&info);
    if (strstr(name, ".tif") && !info.libtiff)
        return "libtiff";
    return strstr(name, ".webp") && !info.libwebp ? "libwebp" : NULL;
}

Test(formats, are_what_pillow_makes_of_them)
{
    FILE *const table = fopen(FOLDER "formats.tsv", "r");
    struct file file = {0};
    char line[256], name[64], expected[128];
    size_t from, to, rows = 0, skipped = 0;
    int turn;

    cr_assert_not_null(table);
    while (fgets(line, sizeof(line), table)) {
        if (line[0] == '#')
            continue;
        cr_assert_eq(sscanf(line, "%63s %d %zu %zu %127s", name, &turn, &from,
                            &to, expected),
                     5, "%s", line);
        rows++;
        if (lacking(name)) {
            skipped++;
            continue;
        }
        load(&file, name);
        for (size_t n = from; n <= to; n++)
            check(&file, turn, n, expected);
    }
    (void)fclose(table);
    free(file.data);
    if (skipped)
        (void)fprintf(stderr,
                      "skipped %zu of %zu: built without libtiff or libwebp\n",
                      skipped, rows);
    cr_assert_gt(rows, 300);
}

Test(formats, a_build_without_one_names_it)
{
    static const unsigned char tiff[16] = "II*\0", webp[16] = "RIFF....WEBPVP8 ";
    pinfold_info info = {.struct_size = sizeof(info)};
    pinfold_error err;
    char out[128];

    pinfold_info_get(&info);
    decode(tiff, sizeof(tiff), 0, out, &err);
    cr_assert_eq(!info.libtiff, err.status == PINFOLD_E_UNSUPPORTED);
    cr_assert_eq(!info.libtiff,
                 strstr(err.message, "built without libtiff") != NULL, "%s",
                 err.message);
    decode(webp, sizeof(webp), 0, out, &err);
    cr_assert_eq(!info.libwebp,
                 strstr(err.message, "built without libwebp") != NULL, "%s",
                 err.message);
}

Test(formats, others_are_named)
{
    static const struct {
        const char *bytes, *name;
    } others[] = {{"\xFF\x4F\xFF\x51............", "JPEG 2000"},
                  {"....ftypavif....", "AVIF"},
                  {"....ftypheic....", "HEIC"},
                  {"\xFF\x0A..............", "JPEG XL"}};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        pinfold_error err;
        char out[128];

        decode((const unsigned char *)others[i].bytes, 16, 0, out, &err);
        cr_assert_eq(err.status, PINFOLD_E_UNSUPPORTED, "%s", others[i].name);
        cr_assert_not_null(strstr(err.message, others[i].name), "%s",
                           err.message);
    }
}

Test(formats, a_plan_tells_the_orientation_where_it_is_asked_for)
{
    static const struct {
        const char *name;
        int32_t left, asked; /* what is told with exif off, and on */
    } cases[] = {{"exif6.jpg", 0, 6},
                 {"exif8.png", 0, 8},
                 {"exif3.webp", 0, 3},
                 {"orientation7-8.tif", 7, 7},
                 {"plain.gif", 0, 0}};
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    struct file file = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (lacking(cases[i].name))
            continue;
        load(&file, cases[i].name);
        for (recipe.exif = 0; recipe.exif < 2; recipe.exif++) {
            cr_assert_eq(pinfold_plan_picture(&recipe, file.data, file.size,
                                              &plan, NULL),
                         PINFOLD_OK, "%s", file.name);
            cr_assert_eq(plan.orientation,
                         recipe.exif ? cases[i].asked : cases[i].left,
                         "%s, exif %d: %d", file.name, recipe.exif,
                         plan.orientation);
        }
    }
    free(file.data);
}
