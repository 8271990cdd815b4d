/* SPDX-License-Identifier: Apache-2.0
 * TIFF below the public interface: windows, turned and not, limits, and words.
 * Pixels and verdicts are in test_formats.c. */
#include <criterion/criterion.h>
#include <stdio.h>

#include <pinfold/pinfold.h>

#include "tests/support/pictures.h"

static bool built(void)
{
    pinfold_info info = {.struct_size = sizeof(info)};

    pinfold_info_get(&info);
    if (!info.libtiff)
        (void)fprintf(stderr, "skipped: built without libtiff\n");
    return info.libtiff != NULL;
}

static void check_window(const char *name, struct pfi_window w)
{
    const size_t stride = (size_t)(w.right - w.left) * 3;
    size_t size;
    unsigned char *const data = picture_load(name, &size);
    struct picture whole = {0}, part = {.window = w};

    cr_assert_not_null(data, "%s", name);
    cr_assert_eq(picture_decode(&whole, data, size, NULL), PINFOLD_OK);
    cr_assert_eq(picture_decode(&part, data, size, NULL), PINFOLD_OK);
    for (int32_t y = w.top; y < w.bottom; y++)
        cr_assert_arr_eq(part.rgb + (size_t)(y - w.top) * stride,
                         whole.rgb + 3 * (y * whole.width + w.left), stride,
                         "%s", name);
    free(whole.rgb);
    free(part.rgb);
    free(data);
}

Test(tiff, windows_are_parts_of_the_picture)
{
    static const char *const names[] = {
        "tiles-1.tif",        "tiles-8.tif",          "strips-1.tif",
        "strips-8.tif",       "planar-rgba-8.tif",    "planar-cmyk-1.tif",
        "jpeg.tif",           "jpeg-YCbCr.tif",       "ycbcr-22.tif",
        "orientation6-1.tif", "orientation7-8.tif",   "orientation2-8.tif",
        "tiff_lzw.tif",       "planar-deep-32773.tif"};

    for (size_t i = 0; built() && i < sizeof(names) / sizeof(names[0]); i++) {
        check_window(names[i], (struct pfi_window){1, 1, 3, 3});
        check_window(names[i], (struct pfi_window){0, 2, 1, 3});
    }
}

Test(tiff, is_limited)
{
    static const char *const names[] = {"tiles-1.tif", "tiles-8.tif"};

    for (size_t i = 0; built() && i < 2; i++) {
        size_t size;
        unsigned char *const data = picture_load(names[i], &size);
        struct picture few = {.max_pixels = 35 * 20 - 1};
        struct picture small = {.max_scratch = 35 * 20 * 4 - 1};
        pinfold_error err;

        cr_assert_not_null(data);
        cr_assert_eq(picture_decode(&few, data, size, &err), PINFOLD_E_LIMIT);
        cr_assert_eq(picture_decode(&small, data, size, &err),
                     PINFOLD_E_LIMIT);
        cr_assert_not_null(strstr(err.message, "TIFF: 2800 bytes"), "%s",
                           err.message);
        free(small.rgb);
        free(data);
    }
}

/* A picture of 60000 x 60000 pixels in a file of 100 bytes is refused before
 * memory is taken. */
Test(tiff, a_huge_claim_costs_nothing)
{
    static const unsigned char head[] = {
        'I', 'I', '*', 0, 8, 0, 0, 0, 3, 0, /* three entries: */
        0, 1, 3, 0, 1, 0, 0, 0, 0x60, 0xEA, 0, 0,
        1, 1, 3, 0, 1, 0, 0, 0, 0x60, 0xEA, 0, 0,
        0x11, 1, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0};
    struct picture picture = {.max_pixels = 178956970};
    pinfold_error err;

    if (!built())
        return;
    cr_assert_eq(picture_decode(&picture, head, sizeof(head), &err),
                 PINFOLD_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "3600000000 pixels"), "%s",
                       err.message);
}

Test(tiff, passes_on_what_libtiff_says)
{
    size_t size;
    unsigned char *const data = picture_load("tiff_lzw.tif", &size);
    struct picture picture = {0};
    pinfold_error err;

    cr_assert_not_null(data);
    if (built()) {
        cr_assert_eq(picture_decode(&picture, data, size / 2, &err),
                     PINFOLD_E_CORRUPT);
        cr_assert_eq(strncmp(err.message, "TIFF: ", 6), 0);
        cr_assert_gt(strlen(err.message), 10, "%s", err.message);
        free(picture.rgb);
    }
    free(data);
}

Test(tiff, says_what_it_does_not_read)
{
    static const struct {
        const char *name, *words;
        pinfold_status status;
    } cases[] = {
        {"odd-lab.tif", "CIE L*a*b* pixels are not supported",
         PINFOLD_E_UNSUPPORTED},
        {"odd-ycbcr-tiles.tif", "tiles of 4 x 4 pixels a sample of colour",
         PINFOLD_E_UNSUPPORTED},
        {"odd-compression-webp.tif", "WebP in TIFF", PINFOLD_E_UNSUPPORTED},
        {"odd-photo.tif", "Windows Media Photo", PINFOLD_E_UNSUPPORTED},
        {"ii-p0-s1-f2-b8x1-e-c1.tif", "TIFF: L;IR is not supported",
         PINFOLD_E_UNSUPPORTED},
        {"odd-width-long.tif", "rows are too long", PINFOLD_E_CORRUPT},
        {"odd-width-long-packed.tif", "rows are too long", PINFOLD_E_CORRUPT}};

    for (size_t i = 0; built() && i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t size;
        unsigned char *const data = picture_load(cases[i].name, &size);
        struct picture picture = {0};
        pinfold_error err;

        cr_assert_not_null(data, "%s", cases[i].name);
        cr_assert_eq(picture_decode(&picture, data, size, &err),
                     cases[i].status, "%s", cases[i].name);
        cr_assert_not_null(strstr(err.message, cases[i].words), "%s: %s",
                           cases[i].name, err.message);
        free(picture.rgb);
        free(data);
    }
}
