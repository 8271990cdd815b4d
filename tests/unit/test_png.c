/* SPDX-License-Identifier: Apache-2.0
 * PNGs: missing rows, limits, windows.  The pixels are Pillow 13.0.0's; many
 * more files are in test_codec.c. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/decode.h"
#include "tests/support/pngmake.h"

/* A PNG whose stream ends after the first of three rows, and which uses a colour
 * that its palette lacks. */
static const unsigned char picture[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d,
    0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x03,
    0x08, 0x03, 0x00, 0x00, 0x00, 0x83, 0x2a, 0x5e, 0xf4, 0x00, 0x00, 0x00,
    0x06, 0x50, 0x4c, 0x54, 0x45, 0x09, 0x08, 0x07, 0x01, 0x02, 0x03, 0x85,
    0x32, 0xc2, 0x70, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0x60, 0x64, 0x60, 0x64, 0x02, 0x00, 0x00, 0x0d, 0x00, 0x05,
    0x48, 0xe3, 0x04, 0xf5, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44,
    0xae, 0x42, 0x60, 0x82};

static const unsigned char pixels[36] = {
    0x01, 0x02, 0x03, 0x09, 0x08, 0x07, 0x01, 0x02, 0x03, 0x00, 0x00, 0x00,
    0x09, 0x08, 0x07, 0x09, 0x08, 0x07, 0x09, 0x08, 0x07, 0x09, 0x08, 0x07,
    0x09, 0x08, 0x07, 0x09, 0x08, 0x07, 0x09, 0x08, 0x07, 0x09, 0x08, 0x07};

Test(png, missing_rows_hold_the_first_colour)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    unsigned char out[36];
    pinfold_error err;

    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = 3;
    recipe.crop_width = 4;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    cr_assert_eq(pinfold_preprocess(&recipe, picture, sizeof(picture), out,
                                    sizeof(out), &err),
                 PINFOLD_OK, "%s", err.message);
    cr_assert_arr_eq(out, pixels, sizeof(pixels));
}

/* ------------------------------------------------------------------ limits --- */

#define SIDE 24

/* SIDE x SIDE grey pixels, none of them filtered. */
static void put_grey(struct bytes *png, int interlace)
{
    unsigned char rows[2 * SIDE * (SIDE + 1)];

    for (size_t i = 0; i < sizeof(rows); i++)
        rows[i] = 0;
    put_header(png, SIDE, SIDE, 8, 0, interlace);
    put_packed(png, "IDAT", NULL, 0, rows, sizeof(rows));
}

static void expect_limit(const pinfold_recipe *recipe, struct bytes *png,
                         const char *name, const char *value)
{
    struct decoded d = decode_with(recipe, png->data, png->size);

    cr_expect_eq(d.err.status, PINFOLD_E_LIMIT, "%s", d.err.message);
    cr_expect(strstr(d.err.message, name) && strstr(d.err.message, value),
              "%s lacks %s or %s", d.err.message, name, value);
    free(d.rgb);
}

static void expect_decoded(const pinfold_recipe *recipe, struct bytes *png)
{
    struct decoded d = decode_with(recipe, png->data, png->size);

    cr_expect_eq(d.err.status, PINFOLD_OK, "%s", d.err.message);
    free(d.rgb);
}

/* A chunk whose contents inflate to `n` bytes, before or behind the picture. */
static struct bytes with_inflated(const char *name, size_t n, bool before)
{
    const char *const prefix = !strcmp(name, "iTXt") ? "k\0\1\0\0" : "k\0";
    const size_t prefix_size = !strcmp(name, "iTXt") ? 6 : 3;
    char *const data = calloc(n + 1, 1);
    struct bytes png = {0};

    put_signature(&png);
    if (before)
        put_packed(&png, name, prefix, prefix_size, data, n);
    put_grey(&png, 0);
    if (!before)
        put_packed(&png, name, prefix, prefix_size, data, n);
    free(data);
    return png;
}

Test(png, a_text_or_profile_inflates_to_the_limit_and_no_further)
{
    static const char *const names[] = {"zTXt", "iTXt", "iCCP"};
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.max_ancillary = 1000;
    for (int i = 0; i < 6; i++) {
        struct bytes png = with_inflated(names[i / 2], 1000, i % 2);

        expect_decoded(&recipe, &png);
        free(png.data);
        png = with_inflated(names[i / 2], 30000, i % 2);
        expect_limit(&recipe, &png, names[i / 2], "1000");
        free(png.data);
    }
}

Test(png, all_texts_together_have_64_times_the_limit)
{
    static const char zeros[1000];
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.max_ancillary = sizeof(zeros);
    for (int n = 64; n <= 65; n++) {
        struct bytes png = {0};

        put_signature(&png);
        for (int i = 0; i < n; i++)
            put_packed(&png, "zTXt", "k\0", 3, zeros, sizeof(zeros));
        put_grey(&png, 0);
        if (n == 64)
            expect_decoded(&recipe, &png);
        else
            expect_limit(&recipe, &png, "text", "64000");
        free(png.data);
    }
}

Test(png, profiles_have_as_much_again)
{
    static const char zeros[1000];
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.max_ancillary = sizeof(zeros);
    for (int n = 128; n <= 129; n++) {
        struct bytes png = {0};

        put_signature(&png);
        for (int i = 0; i < n; i++)
            put_packed(&png, "iCCP", "k\0", 3, zeros, sizeof(zeros));
        put_grey(&png, 0);
        if (n == 128)
            expect_decoded(&recipe, &png);
        else
            expect_limit(&recipe, &png, "inflated", "128000");
        free(png.data);
    }
}

Test(png, an_interlaced_picture_needs_scratch_for_its_window)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    struct bytes png = {0};

    put_signature(&png);
    put_grey(&png, 1);
    recipe.max_scratch = SIDE * SIDE * 3 - 1;
    expect_limit(&recipe, &png, "1728 bytes", "1727");
    free(png.data);
}

Test(png, four_gigapixels_are_refused_before_any_memory_is_taken)
{
    const pinfold_recipe recipe = pinfold_recipe_default();
    struct bytes png = {0};

    put_signature(&png);
    put_header(&png, 65535, 65535, 16, 6, 1);
    put_packed(&png, "IDAT", NULL, 0, "", 0);
    expect_limit(&recipe, &png, "4294836225 pixels", "178956970");
    free(png.data);
    png = (struct bytes){0};
    put_signature(&png);
    put_header(&png, UINT32_MAX, 1, 1, 0, 0);
    put_packed(&png, "IDAT", NULL, 0, "", 0);
    expect_limit(&recipe, &png, "4294967295", "2147483647");
    free(png.data);
}

/* ------------------------------------------------------------------ windows --- */

/* Pixel i of a 4 x 4 picture is i; each pass in turn, each row with filter 0. */
static const unsigned char interlaced[] = {
    0, 0, /* pass 1: (0, 0); passes 2 and 3 have no pixels */
    0, 2, /* pass 4: (2, 0) */
    0, 8, 10, /* pass 5: row 2 */
    0, 1, 3, 0, 9, 11, /* pass 6: columns 1 and 3 */
    0, 4, 5, 6, 7, 0, 12, 13, 14, 15};

Test(png, a_crop_of_an_interlaced_picture_is_its_middle)
{
    static const unsigned char middle[12] = {5, 5, 5, 6,  6,  6,
                                             9, 9, 9, 10, 10, 10};
    pinfold_recipe recipe = pinfold_recipe_default();
    struct bytes png = {0};
    unsigned char out[12];
    pinfold_error err;

    put_signature(&png);
    put_header(&png, 4, 4, 8, 0, 1);
    put_packed(&png, "IDAT", NULL, 0, interlaced, sizeof(interlaced));
    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = recipe.crop_width = 2;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    cr_assert_eq(pinfold_preprocess(&recipe, png.data, png.size, out,
                                    sizeof(out), &err),
                 PINFOLD_OK, "%s", err.message);
    cr_assert_arr_eq(out, middle, sizeof(middle));
    free(png.data);
}

/* What lies behind the wanted rows is still judged. */
Test(png, a_crop_does_not_hide_a_broken_end)
{
    unsigned char rows[8 * 9] = {0};
    pinfold_recipe recipe = pinfold_recipe_default();
    struct bytes png = {0};
    unsigned char out[12];
    pinfold_error err;

    put_signature(&png);
    put_header(&png, 8, 8, 8, 0, 0);
    rows[7 * 9] = 9; /* the last row's filter */
    put_packed(&png, "IDAT", NULL, 0, rows, sizeof(rows));
    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = recipe.crop_width = 2;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    cr_assert_eq(pinfold_preprocess(&recipe, png.data, png.size, out,
                                    sizeof(out), &err),
                 PINFOLD_E_CORRUPT);
    cr_assert_str_eq(err.message, "PNG: unknown row filter");
    free(png.data);
}

/* An animation's first frame of 2 x 1 pixels at (1, 2) in 4 x 4. */
Test(png, a_small_first_frame_lies_in_its_place)
{
    static const unsigned char frame[26] = {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1,
                                            0, 0, 0, 1, 0, 0, 0, 2};
    static const unsigned char rows[3] = {0, 77, 99};
    struct bytes png = {0};
    struct decoded d;

    put_signature(&png);
    put_header(&png, 4, 4, 8, 0, 0);
    put_chunk(&png, "fcTL", frame, sizeof(frame));
    put_packed(&png, "IDAT", NULL, 0, rows, sizeof(rows));
    d = decode(png.data, png.size);
    cr_assert_eq(d.err.status, PINFOLD_OK, "%s", d.err.message);
    for (size_t i = 0; i < 48; i++) {
        const size_t pixel = i / 3;

        cr_expect_eq(d.rgb[i], pixel == 9 ? 77 : pixel == 10 ? 99 : 0);
    }
    free(d.rgb);
    free(png.data);
}

Test(png, a_missing_chunk_header_at_the_very_end_is_none_too_many)
{
    const unsigned char *const end = picture + sizeof(picture) - 12;

    for (size_t n = sizeof(picture) - 12; n < sizeof(picture); n++) {
        struct decoded d = decode(picture, n);

        cr_expect_eq(d.err.status, PINFOLD_OK, "%zu: %s", n, d.err.message);
        free(d.rgb);
    }
    cr_assert_arr_eq(end + 4, "IEND", 4);
}
