/* SPDX-License-Identifier: Apache-2.0
 * JPEGs of every kind that libjpeg's encoder makes: the same pixels however they
 * are coded, limits, ends, and the walks over markers.  Pillow's verdicts and
 * pixels are in test_codec.c. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "src/codec/jpeg_apps.h"
#include "src/codec/jpeg_header.h"
#include "tests/support/decode.h"
#include "tests/support/jpegmake.h"

static struct decoded decode_made(const pinfold_recipe *limits,
                                  const struct jpeg_options *options)
{
    size_t size;
    unsigned char *const data = make_jpeg(options, &size);
    const struct decoded d = decode_with(limits, data, size);

    free(data);
    return d;
}

/* ------------------------------------------------------------------ coding --- */

static void expect_same(const struct decoded *a, const struct jpeg_options *o)
{
    const pinfold_recipe recipe = pinfold_recipe_default();
    struct decoded b = decode_made(&recipe, o);

    cr_expect_eq(b.err.status, PINFOLD_OK, "%s", b.err.message);
    cr_expect(a->size == b.size && b.rgb && !memcmp(a->rgb, b.rgb, a->size),
              "%d components, %d x %d, scans %d, arithmetic %d, restart %u",
              o->components, o->h, o->v, (int)o->scans, o->arithmetic,
              o->restart);
    free(b.rgb);
}

/* The coefficients are the same, whichever way they are sent. */
static void expect_coding_is_all_one(struct jpeg_options o)
{
    const pinfold_recipe recipe = pinfold_recipe_default();
    struct decoded a = decode_made(&recipe, &o);

    cr_assert_eq(a.err.status, PINFOLD_OK, "%s", a.err.message);
    for (int i = 1; i < 8; i++) {
        o.scans = i & 1 ? JPEG_PROGRESSIVE : JPEG_ONE_SCAN;
        o.arithmetic = i & 2;
        o.restart = i & 4 ? 3 : 0;
        expect_same(&a, &o);
    }
    free(a.rgb);
}

Test(jpeg, pixels_do_not_depend_on_the_coding)
{
    static const int components[] = {1, 3, 4};
    static const int sampling[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 5; k++)
            expect_coding_is_all_one((struct jpeg_options){
                .width = 67, .height = 45, .components = components[i],
                .h = sampling[k][0], .v = sampling[k][1], .level = -1});
}

/* Pillow's blocks end where they like: in the middle of what libjpeg reads. */
Test(jpeg, files_of_many_blocks_are_read_to_the_end)
{
    for (int restart = 0; restart < 2; restart++)
        expect_coding_is_all_one((struct jpeg_options){
            .width = 700, .height = 500, .components = 3, .h = 2, .v = 2,
            .restart = (unsigned)restart, .level = -1});
}

/* What Pillow 13.0.0 gives for a CMYK picture of one value. */
Test(jpeg, four_components_are_taken_as_inverted)
{
    static const int levels[][2] = {{255, 255}, {200, 157}, {128, 64}, {0, 0}};
    const pinfold_recipe recipe = pinfold_recipe_default();

    for (size_t i = 0; i < 4; i++) {
        struct decoded d = decode_made(
            &recipe, &(struct jpeg_options){.width = 5, .height = 5,
                                            .components = 4,
                                            .level = levels[i][0]});

        cr_assert_eq(d.err.status, PINFOLD_OK, "%s", d.err.message);
        for (size_t k = 0; k < d.size; k++)
            cr_expect_eq(d.rgb[k], levels[i][1], "%d", d.rgb[k]);
        free(d.rgb);
    }
}

/* ------------------------------------------------------------------ limits --- */

static void expect_limit(struct decoded d, const char *what, const char *value)
{
    cr_expect_eq(d.err.status, PINFOLD_E_LIMIT, "%s", d.err.message);
    cr_expect(strstr(d.err.message, what) && strstr(d.err.message, value), "%s",
              d.err.message);
    free(d.rgb);
}

Test(jpeg, scans_are_counted_before_any_is_decoded)
{
    struct jpeg_options o = {.width = 1100, .height = 1000, .components = 3,
                             .scans = JPEG_PROGRESSIVE, .level = -1};
    pinfold_recipe recipe = pinfold_recipe_default();
    struct decoded d;

    recipe.max_scans = 10; /* as many as libjpeg's script has */
    d = decode_made(&recipe, &o);
    cr_assert_eq(d.err.status, PINFOLD_OK, "%s", d.err.message);
    free(d.rgb);
    recipe.max_scans = 9;
    expect_limit(decode_made(&recipe, &o), "scans", "limit of 9");
    o.width = o.height = 40; /* 655 times as many are allowed */
    d = decode_made(&recipe, &o);
    cr_assert_eq(d.err.status, PINFOLD_OK, "%s", d.err.message);
    free(d.rgb);
}

Test(jpeg, coefficients_of_a_whole_picture_count_as_scratch)
{
    struct jpeg_options o = {.width = 200, .height = 200, .components = 3,
                             .level = 90};
    pinfold_recipe recipe = pinfold_recipe_default();
    struct decoded d;

    recipe.max_scratch = 200000;
    d = decode_made(&recipe, &o);
    cr_expect_eq(d.err.status, PINFOLD_OK, "%s", d.err.message);
    free(d.rgb);
    o.scans = JPEG_PROGRESSIVE; /* 3 * 25 * 25 blocks of 128 bytes */
    expect_limit(decode_made(&recipe, &o), "bytes to decode", "200000");
}

Test(jpeg, four_gigapixels_are_refused_from_the_header)
{
    size_t size;
    unsigned char *const data = make_jpeg(
        &(struct jpeg_options){.width = 8, .height = 8, .components = 3,
                               .scans = JPEG_PROGRESSIVE},
        &size);

    for (size_t i = 0; i + 9 < size; i++)
        if (data[i] == 0xFF && data[i + 1] == 0xC2)
            memset(data + i + 5, 0xFF, 4);
    expect_limit(decode(data, size), "4294836225 pixels", "178956970");
    free(data);
}

/* -------------------------------------------------------------------- ends --- */

Test(jpeg, a_progressive_file_that_never_ends_is_cut)
{
    size_t size;
    unsigned char *const data = make_jpeg(
        &(struct jpeg_options){.width = 30, .height = 30, .components = 3,
                               .scans = JPEG_PROGRESSIVE, .level = -1},
        &size);

    for (size_t n = 3; n < size; n++) {
        struct decoded d = decode(data, n);

        cr_expect_eq(d.err.status, PINFOLD_E_CORRUPT, "%zu: %s", n,
                     d.err.message);
        free(d.rgb);
    }
    free(data);
}

/* Only libjpeg-turbo 3.0.1 and later smooths as Pillow's does. */
Test(jpeg, an_unfinished_picture_is_never_smoothed_otherwise)
{
    static const struct {
        int components, width, h, v;
        bool differs;
    } cases[] = {{3, 40, 1, 1, false}, {3, 40, 2, 1, false},
                 {3, 40, 2, 2, true},  {3, 40, 1, 2, true},
                 {3, 16, 1, 1, true},  {1, 16, 1, 1, true},
                 {1, 40, 1, 1, false}, {3, 8, 1, 1, false}};
    const pinfold_recipe recipe = pinfold_recipe_default();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct jpeg_options o = {
            .width = cases[i].width, .height = 40,
            .components = cases[i].components, .h = cases[i].h,
            .v = cases[i].v, .scans = JPEG_UNFINISHED, .level = -1};
        struct decoded d = decode_made(&recipe, &o);
        const bool refused =
            cases[i].differs && LIBJPEG_TURBO_VERSION_NUMBER < 3000001;

        cr_expect_eq(d.err.status,
                     refused ? PINFOLD_E_UNSUPPORTED : PINFOLD_OK, "%zu: %s", i,
                     d.err.message);
        cr_expect(!refused || strstr(d.err.message, "progressive"), "%s",
                  d.err.message);
        free(d.rgb);
    }
}

/* ------------------------------------------------------------------- walks --- */

Test(jpeg, scans_are_told_from_what_looks_like_one)
{
    static const unsigned char data[] = {
        1, 0xFF, 0x00, 0xDA,             /* a stuffed byte */
        0xFF, 0xD0, 0xFF, 0xDA, 0, 2, 5, /* a restart, the second scan */
        0xFF, 0xFE, 0, 4, 0xFF, 0xDA,    /* in a comment */
        0xFF, 0xFF, 0xDA, 0, 3, 9, 7,    /* padding, the third */
        0xFF, 0xD9, 0xFF, 0xDA, 0, 2};   /* behind the end */

    cr_expect_eq(pfi_jpeg_scans(data, sizeof(data), 0, 100), 3);
    cr_expect_eq(pfi_jpeg_scans(data, sizeof(data), 0, 1), 2);
    cr_expect_eq(pfi_jpeg_scans(data, 8, 0, 100), 1);
    cr_expect_eq(pfi_jpeg_scans(data, 0, 0, 100), 1);
    cr_expect_eq(pfi_jpeg_scans(data, 5, 5, 100), 1);
}

static pinfold_status app(int marker, const char *s, size_t n)
{
    struct pfi_jpeg_apps apps = {0};

    return pfi_jpeg_app(&apps, marker, (const unsigned char *)s, n, NULL);
}

Test(jpeg, segments_that_pillow_trips_over)
{
    cr_expect_eq(app(0xE0, "JFIF\0\1", 6), PINFOLD_E_CORRUPT);
    cr_expect_eq(app(0xE0, "JFIF\0\1\1", 7), PINFOLD_OK);
    cr_expect_eq(app(0xE0, "JFI", 3), PINFOLD_OK);
    cr_expect_eq(app(0xE1, "JFIF", 4), PINFOLD_OK);
    cr_expect_eq(app(0xEE, "Adobe\0", 6), PINFOLD_E_CORRUPT);
    cr_expect_eq(app(0xEE, "Adobe\0d", 7), PINFOLD_OK);
    cr_expect_eq(app(0xED, "Photoshop 3.0\0" "8BIM\4\4", 20),
                 PINFOLD_E_CORRUPT);
    cr_expect_eq(app(0xED, "Photoshop 3.0\0" "8BIM\4", 19), PINFOLD_OK);
    cr_expect_eq(app(0xED, "Photoshop 3.0\0" "8BIM\4\4\xFF", 21), PINFOLD_OK);
}

Test(jpeg, the_first_icc_segment_in_byte_order_must_have_a_count)
{
    struct pfi_jpeg_apps apps = {0};

    cr_expect_eq(pfi_jpeg_join_icc(&apps, NULL), PINFOLD_OK);
    (void)pfi_jpeg_app(&apps, 0xE2, (const unsigned char *)"ICC_PROFILE\0\2",
                       13, NULL);
    (void)pfi_jpeg_app(&apps, 0xE2, (const unsigned char *)"ICC_PROFILE\0\1\2",
                       14, NULL);
    cr_expect_eq(pfi_jpeg_join_icc(&apps, NULL), PINFOLD_OK);
    (void)pfi_jpeg_app(&apps, 0xE2, (const unsigned char *)"ICC_PROFILE\0\2\2",
                       14, NULL);
    (void)pfi_jpeg_app(&apps, 0xE2, (const unsigned char *)"ICC_PROFILE\0\1",
                       13, NULL);
    cr_expect_eq(pfi_jpeg_join_icc(&apps, NULL), PINFOLD_E_CORRUPT);
}

/* ResolutionUnit and XResolution of `count` units of `type`, little-endian. */
static pinfold_status exif(int type, int count, const char *value)
{
    unsigned char s[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', '*', 0, 8, 0, 0, 0,
                         2, 0, 0x28, 1, 3, 0, 1, 0, 0, 0, 2, 0, 0, 0,
                         0x1A, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

    s[30] = (unsigned char)type;
    s[32] = (unsigned char)count;
    memcpy(s + 36, value, 4);
    return pfi_jpeg_check_exif(s, sizeof(s), NULL);
}

Test(jpeg, a_resolution_of_one_element_is_refused)
{
    cr_expect_eq(exif(7, 1, "5\0\0\0"), PINFOLD_E_CORRUPT);
    cr_expect_eq(exif(1, 1, "\0\0\0\0"), PINFOLD_E_CORRUPT);
    cr_expect_eq(exif(7, 2, "5\0\0\0"), PINFOLD_OK);
    cr_expect_eq(exif(2, 1, "5\0\0\0"), PINFOLD_E_CORRUPT);
    cr_expect_eq(exif(2, 2, "5\0\0\0"), PINFOLD_E_CORRUPT);
    cr_expect_eq(exif(2, 2, "57\0\0"), PINFOLD_OK);
    cr_expect_eq(exif(2, 1, "x\0\0\0"), PINFOLD_OK);
    cr_expect_eq(exif(2, 1, "\0\0\0\0"), PINFOLD_E_CORRUPT);
    cr_expect_eq(exif(3, 1, "5\0\0\0"), PINFOLD_OK);
    cr_expect_eq(exif(99, 1, "5\0\0\0"), PINFOLD_OK);
    cr_expect_eq(exif(5, 1, "\377\0\0\0"), PINFOLD_OK); /* outside the data */
}
