/* SPDX-License-Identifier: Apache-2.0
 * PNM files with the pixels that Pillow 13.0.0 gives, and plain ones whose
 * numbers and comments lie across the blocks that Pillow reads. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pinfold/pinfold.h>

#define BLOCK 1048576 /* bytes, counted from behind the header */

/* A literal with its size. */
#define FILE_OF(text) (text), sizeof(text) - 1

static pinfold_status decode(const void *file, size_t size, int32_t width,
                             unsigned char *out, pinfold_error *err)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = 1;
    recipe.crop_width = width;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    return pinfold_preprocess(&recipe, file, size, out, (size_t)width * 3, err);
}

static void check(const void *file, size_t size, int32_t width,
                  const unsigned char *want)
{
    unsigned char out[64];
    pinfold_error err;

    cr_assert_eq(decode(file, size, width, out, &err), PINFOLD_OK, "%s",
                 err.message);
    cr_assert_arr_eq(out, want, (size_t)width * 3);
}

static void refused(const void *file, size_t size, pinfold_status want,
                    const char *why)
{
    unsigned char out[3];
    pinfold_error err;

    cr_assert_eq(decode(file, size, 1, out, &err), want, "%s", err.message);
    cr_assert_not_null(strstr(err.message, why), "%s", err.message);
}

Test(pnm, grey_of_two_bytes_is_clipped_and_colours_are_scaled)
{
    check(FILE_OF("P5 2 1 65535\n\0\5\1\2"), 2,
          (const unsigned char[]){5, 5, 5, 255, 255, 255});
    check(FILE_OF("P6 1 1 65535\n\0\xFF\x80\0\xFF\xFF"), 1,
          (const unsigned char[]){1, 128, 255});
}

Test(pnm, halves_go_to_the_even_code)
{
    /* 1, 3 and 5 of 102 are 2.5, 7.5 and 12.5 of 255. */
    check(FILE_OF("P5 3 1 102\n\1\3\5"), 3,
          (const unsigned char[]){2, 2, 2, 8, 8, 8, 12, 12, 12});
}

Test(pnm, a_comment_in_a_number_leaves_it_whole)
{
    check(FILE_OF("P2 2 1 255\n1#c\n2 3"), 2,
          (const unsigned char[]){12, 12, 12, 3, 3, 3});
    check(FILE_OF("P5 1#\n 1 25#x\r5 \7"), 1, (const unsigned char[]){7, 7, 7});
}

Test(pnm, floats_are_cut_and_not_a_number_is_black)
{
    check(
        FILE_OF("Pf 4 1 "
                "-1\n\0\0\xC0\x7F\0\0\x80\xBF\x33\x33\x33\x3F\x9A\xF9\x7E\x43"),
        4, (const unsigned char[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 254, 254, 254});
}

Test(pnm, a_header_that_claims_too_much_is_refused_at_once)
{
    refused(FILE_OF("P2 13000 13000 255\n1 2 3"), PINFOLD_E_CORRUPT,
            "cut short");
    refused(FILE_OF("P5 99999 99999 255\n1 2 3"), PINFOLD_E_LIMIT, "pixels");
    refused(FILE_OF("P5 9999999999 1 255\n"), PINFOLD_E_LIMIT, "a side");
    refused(FILE_OF("P6 89478479 1 255\n"), PINFOLD_E_LIMIT, "limit 89478478");
}

Test(pnm, a_text_that_begins_alike_is_no_picture)
{
    refused(FILE_OF("Python 3\n"), PINFOLD_E_FORMAT, "known format");
}

/* ---------------------------------------------------------- plain blocks ---
 */

/* A picture of 2 x 1: `head`, then `first`, then as many `fill` as leave the
 * block `left` bytes short of its end, then `rest`. */
struct text {
    const char *head, *first;
    char fill;
    size_t left;
    const char *rest;
};

static unsigned char *make(const struct text *t, size_t *size)
{
    const size_t head = strlen(t->head), first = strlen(t->first);
    const size_t rest = strlen(t->rest);
    unsigned char *const file = malloc(head + BLOCK + rest);

    cr_assert_not_null(file);
    memcpy(file, t->head, head);
    memcpy(file + head, t->first, first);
    memset(file + head + first, t->fill, BLOCK - t->left - first);
    memcpy(file + head + BLOCK - t->left, t->rest, rest);
    *size = head + BLOCK - t->left + rest;
    return file;
}

static void check_text(struct text text, int first, int second)
{
    const unsigned char a = (unsigned char)first, b = (unsigned char)second;
    size_t size;
    unsigned char *const file = make(&text, &size);

    check(file, size, 2, (const unsigned char[]){a, a, a, b, b, b});
    free(file);
}

static void refused_text(struct text text, const char *why)
{
    size_t size;
    unsigned char *const file = make(&text, &size);

    refused(file, size, PINFOLD_E_CORRUPT, why);
    free(file);
}

#define GREY "P2 2 1 255\n"
#define BITS "P1 2 1\n"

Test(pnm, a_number_may_lie_across_blocks)
{
    check_text((struct text){GREY, "", ' ', 1, "12 3"}, 12, 3);
    check_text((struct text){GREY, "1#", 'c', 0, "c\n2 3"}, 12, 3);
    refused_text((struct text){GREY, "", ' ', 2, "1234 5"}, "out of range");
}

Test(pnm, a_comment_that_ends_with_its_block_goes_on_to_the_other_line_end)
{
    check_text((struct text){GREY, "#", 'c', 0, "\n7 8 9\r5 6"}, 5, 6);
    check_text((struct text){GREY, "#", 'c', 0, "\r7 8 9\n5 6"}, 5, 6);
    check_text((struct text){GREY, "#", 'c', 0, "\n7 8 9"}, 7, 8);
    check_text((struct text){GREY, "#", 'c', 0, "x\n7 8\r9 5 6"}, 7, 8);
}

Test(pnm, what_follows_counts_to_the_end_of_the_block)
{
    check_text((struct text){GREY, "1 2 ", ' ', 0, "xxxxxxxxxxx"}, 1, 2);
    check_text((struct text){GREY, "1 2 ", ' ', 10, "xxxxxxxxxxx"}, 1, 2);
    refused_text((struct text){GREY, "1 2 ", ' ', 11, "xxxxxxxxxxx"},
                 "more than 10");
    check_text((struct text){BITS, "10", ' ', 0, "2"}, 0, 255);
    refused_text((struct text){BITS, "10", ' ', 1, "2"}, "neither 0 nor 1");
    refused_text((struct text){BITS, "1", ' ', 0, "02"}, "neither 0 nor 1");
}
