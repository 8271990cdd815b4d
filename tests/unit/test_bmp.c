/* SPDX-License-Identifier: Apache-2.0
 * BMP files byte by byte, with the pixels that Pillow 13.0.0 gives, and what
 * their headers may cost. */
#include <criterion/criterion.h>
#include <string.h>

#include <pinfold/pinfold.h>

/* 2 x 2, 24 bits, rows of 6 bytes and 2 of padding. */
static const unsigned char rgb[] = {
    0x42, 0x4d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x36, 0x00,
    0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
    0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10};

/* 2 x 1, 16 bits with masks of 5, 6 and 5: 0xF81F and 0x07E1. */
static const unsigned char words[] = {
    0x42, 0x4d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x42, 0x00,
    0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x10, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8, 0x00, 0x00, 0xe0, 0x07,
    0x00, 0x00, 0x1f, 0x00, 0x00, 0x00, 0x1f, 0xf8, 0xe1, 0x07};

/* 4 x 2, run lengths, 2 colours: two of index 1, a step of one, index 9, the
 * row's end; three as they are, a filler, index 1. */
static const unsigned char runs[] = {
    0x42, 0x4d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3e, 0x00,
    0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x02, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x08, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x00, 0x04, 0x05,
    0x06, 0x00, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00, 0x01, 0x09, 0x00, 0x00,
    0x00, 0x03, 0x01, 0x00, 0x01, 0xff, 0x01, 0x01};

static pinfold_recipe whole(int32_t height, int32_t width)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = height;
    recipe.crop_width = width;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    return recipe;
}

static void check(const unsigned char *file, size_t size, int32_t height,
                  int32_t width, const unsigned char *want)
{
    const pinfold_recipe recipe = whole(height, width);
    unsigned char out[64];
    pinfold_error err;

    cr_assert_eq(
        pinfold_preprocess(&recipe, file, size, out, sizeof(out), &err),
        PINFOLD_OK, "%s", err.message);
    cr_assert_arr_eq(out, want, (size_t)(height * width * 3));
}

static void refused(const unsigned char *file, size_t size, pinfold_status want,
                    const char *why)
{
    const pinfold_recipe recipe = whole(1, 1);
    unsigned char out[3];
    pinfold_error err;

    cr_assert_eq(
        pinfold_preprocess(&recipe, file, size, out, sizeof(out), &err), want,
        "%s", err.message);
    cr_assert_not_null(strstr(err.message, why), "%s", err.message);
}

Test(bmp, the_last_row_comes_first)
{
    static const unsigned char want[] = {11, 10, 9, 14, 13, 12,
                                         3,  2,  1, 6,  5,  4};

    check(rgb, sizeof(rgb), 2, 2, want);
    check(rgb, sizeof(rgb) - 2, 2, 2, want);
    refused(rgb, sizeof(rgb) - 3, PINFOLD_E_CORRUPT, "cut short");
}

Test(bmp, five_and_six_bits_become_eight)
{
    check(words, sizeof(words), 1, 2,
          (const unsigned char[]){255, 0, 255, 0, 255, 8});
}

Test(bmp, run_lengths_step_and_leave_the_palette)
{
    static const unsigned char want[] = {6, 5, 4, 3, 2, 1, 6, 5, 4, 6, 5, 4,
                                         6, 5, 4, 6, 5, 4, 3, 2, 1, 0, 0, 0};

    check(runs, sizeof(runs), 2, 4, want);
    refused(runs, sizeof(runs) - 1, PINFOLD_E_CORRUPT, "cut short");
}

Test(bmp, run_lengths_ask_before_they_take_memory)
{
    pinfold_recipe recipe = whole(2, 4);
    unsigned char out[24];
    pinfold_error err;

    recipe.max_scratch = 8;
    cr_assert_eq(
        pinfold_preprocess(&recipe, runs, sizeof(runs), out, sizeof(out), &err),
        PINFOLD_OK, "%s", err.message);
    recipe.max_scratch = 7;
    cr_assert_eq(
        pinfold_preprocess(&recipe, runs, sizeof(runs), out, sizeof(out), &err),
        PINFOLD_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "BMP: 8 bytes"), "%s", err.message);
}

Test(bmp, what_is_not_supported_is_named)
{
    unsigned char file[sizeof(rgb)];

    memcpy(file, rgb, sizeof(rgb));
    file[30] = 4;
    refused(file, sizeof(file), PINFOLD_E_UNSUPPORTED, "compression 4");
    file[30] = 0;
    file[28] = 2;
    refused(file, sizeof(file), PINFOLD_E_UNSUPPORTED, "bits a pixel: 2");
    file[14] = 41;
    refused(file, sizeof(file), PINFOLD_E_UNSUPPORTED, "unknown size 41");
    memcpy(file, words, sizeof(words));
    file[54] = 1;
    refused(file, sizeof(words), PINFOLD_E_UNSUPPORTED, "masks f801");
}

Test(bmp, a_header_that_claims_too_much_is_a_limit)
{
    unsigned char file[sizeof(rgb)];

    memcpy(file, rgb, sizeof(rgb));
    memset(file + 18, 0x7F, 8);
    refused(file, sizeof(file), PINFOLD_E_LIMIT, "pixels");
    file[21] = 0xFF;
    refused(file, sizeof(file), PINFOLD_E_LIMIT, "limit 2147483647 a side");
    memcpy(file + 18, (const unsigned char[]){0x4F, 0x55, 0x55, 5, 1, 0, 0, 0},
           8);
    refused(file, sizeof(file), PINFOLD_E_LIMIT, "limit 89478478 pixels");
}
