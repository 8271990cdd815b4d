/* SPDX-License-Identifier: Apache-2.0
 * What Pillow 13.0.0 finds in EXIF blocks and XMP.  Whole files are in
 * tests/golden/formats. */
#include <criterion/criterion.h>

#include "src/codec/exif.h"
#include "src/codec/ifd.h"
#include "tests/support/pictures.h"

#define STARTS 8 /* of the directory in the blocks below */

static const unsigned char block[] = {
    'I', 'I', '*', 0, STARTS, 0, 0, 0, 1, 0, /* one entry: */
    0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};

static int32_t orientation(const unsigned char *exif, size_t size,
                           const char *xmp)
{
    const struct pfi_exif info = {.exif = exif,
                                  .exif_size = size,
                                  .xmp = (const unsigned char *)xmp,
                                  .xmp_size = xmp ? strlen(xmp) : 0};
    int32_t out = -1;

    if (pfi_exif_orientation(&info, "JPEG", &out, NULL))
        return -1;
    return out;
}

Test(exif, reads_the_field)
{
    unsigned char copy[sizeof(block)];

    cr_assert_eq(orientation(block, sizeof(block), NULL), 6);
    memcpy(copy, block, sizeof(block));
    copy[18] = 9;
    cr_assert_eq(orientation(copy, sizeof(copy), NULL), 0);
    copy[18] = 8;
    copy[12] = 7; /* bytes are no number */
    cr_assert_eq(orientation(copy, sizeof(copy), NULL), 0);
    copy[12] = 9;
    cr_assert_eq(orientation(copy, sizeof(copy), NULL), 8);
}

Test(exif, reads_what_a_cut_leaves)
{
    for (size_t n = 0; n <= sizeof(block); n++) {
        unsigned char *const copy = malloc(n ? n : 1);

        memcpy(copy, block, n);
        cr_assert_eq(orientation(copy, n, NULL),
                     n == 0 ? 0 : n < 8 ? -1 : n < 22 ? 0 : 6, "%zu", n);
        free(copy);
    }
}

Test(exif, falls_back_on_xmp)
{
    cr_assert_eq(orientation(NULL, 0, "x tiff:Orientation=\"3\""), 3);
    cr_assert_eq(orientation(NULL, 0, "tiff:Orientation>8<"), 8);
    cr_assert_eq(orientation(NULL, 0, "tiff:Orientation='8'"), 0);
    cr_assert_eq(orientation(NULL, 0, "tiff:Orientation=\""), 0);
    cr_assert_eq(orientation(NULL, 0, "tiff:Orientation"), 0);
    cr_assert_eq(orientation(NULL, 0, "tiff:Orientation="), 0);
    cr_assert_eq(orientation(NULL, 0, "tiff:Orientation>x tiff:Orientation>2"),
                 2);
    cr_assert_eq(orientation(block, sizeof(block), "tiff:Orientation>2"), 6);
    cr_assert_eq(orientation(block, STARTS, "tiff:Orientation>2"), 2);
}

Test(exif, refuses_a_broken_header)
{
    const struct pfi_exif info = {.exif = block + 1,
                                  .exif_size = sizeof(block) - 1};
    struct pfi_exif lenient = info;
    pinfold_error err;
    int32_t out;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_exif_orientation(&info, "PNG", &out, &err),
                 PINFOLD_E_CORRUPT);
    cr_assert_str_eq(err.message, "PNG: the EXIF block is broken");
    lenient.lenient = true;
    cr_assert_eq(pfi_exif_orientation(&lenient, "JPEG", &out, NULL),
                 PINFOLD_OK);
    cr_assert_eq(out, 0);
}

Test(ifd, numbers_that_are_whole)
{
    /* 12/2, 7/2 and 1/0; 6.0 and 6.5 */
    static const unsigned char fractions[] = {12, 0, 0, 0, 2, 0, 0, 0,
                                              7,  0, 0, 0, 2, 0, 0, 0,
                                              1,  0, 0, 0, 0, 0, 0, 0};
    static const unsigned char floats[] = {0, 0, 0xC0, 0x40, 0, 0, 0xD0, 0x40};
    const struct pfi_ifd ifd = {0};
    const struct pfi_ifd_field f = {1, PFI_IFD_RATIONAL, 3, fractions, 3};
    const struct pfi_ifd_field g = {1, PFI_IFD_FLOAT, 2, floats, 2};
    int64_t value = 0;

    cr_assert(pfi_ifd_whole(&ifd, &f, 0, &value) && value == 6);
    cr_assert_not(pfi_ifd_whole(&ifd, &f, 1, &value));
    cr_assert_not(pfi_ifd_whole(&ifd, &f, 2, &value));
    cr_assert_not(pfi_ifd_whole(&ifd, &f, 3, &value));
    cr_assert(pfi_ifd_whole(&ifd, &g, 0, &value) && value == 6);
    cr_assert_not(pfi_ifd_whole(&ifd, &g, 1, &value));
    cr_assert_not(pfi_ifd_int(&ifd, &g, 0, &value));
}

Test(exif, text_behind_the_pixels_is_limited_too)
{
    size_t size;
    unsigned char *const data = picture_load("exif-ztxt.png", &size);
    struct pfi_arena arena;
    struct pfi_exif out;
    pinfold_error err;

    cr_assert_not_null(data);
    cr_assert(pfi_arena_init(&arena, 4096));
    pfi_error_clear(&err);
    cr_assert_eq(pfi_exif_from_png(&out, &arena, data, size, 10, &err),
                 PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "PNG: a text chunk of more than 10 bytes");
    cr_assert_eq(pfi_exif_from_png(&out, &arena, data, size, 1000, &err),
                 PINFOLD_OK);
    cr_assert_not_null(out.exif);
    pfi_arena_end(&arena);
    free(data);
}
