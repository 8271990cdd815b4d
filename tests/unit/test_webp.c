/* SPDX-License-Identifier: Apache-2.0
 * WebP below the public interface: windows and limits.  Pixels and verdicts are
 * in test_formats.c. */
#include <criterion/criterion.h>
#include <stdio.h>

#include <pinfold/pinfold.h>

#include "tests/support/pictures.h"

static bool built(void)
{
    pinfold_info info = {.struct_size = sizeof(info)};

    pinfold_info_get(&info);
    if (!info.libwebp)
        (void)fprintf(stderr, "skipped: built without libwebp\n");
    return info.libwebp != NULL;
}

Test(webp, windows_are_parts_of_the_picture)
{
    static const char *const names[] = {
        "RGB-33x20-lossy.webp", "RGBA-33x20-lossless.webp", "animated.webp"};

    for (size_t i = 0; built() && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t size;
        unsigned char *const data = picture_load(names[i], &size);
        struct picture whole = {0}, part = {.window = {1, 2, 5, 4}};

        cr_assert_not_null(data);
        cr_assert_eq(picture_decode(&whole, data, size, NULL), PINFOLD_OK);
        cr_assert_eq(picture_decode(&part, data, size, NULL), PINFOLD_OK);
        for (int y = 0; y < 2; y++)
            cr_assert_arr_eq(part.rgb + 12 * y,
                             whole.rgb + 3 * ((y + 2) * whole.width + 1), 12,
                             "%s", names[i]);
        free(whole.rgb);
        free(part.rgb);
        free(data);
    }
}

Test(webp, is_limited)
{
    size_t size;
    unsigned char *const data = picture_load("RGB-33x20-lossy.webp", &size);
    struct picture few = {.max_pixels = 33 * 20 - 1};
    struct picture small = {.max_scratch = 33 * 20 * 12 - 1};
    struct picture enough = {.max_pixels = 33 * 20,
                             .max_scratch = 33 * 20 * 12};
    pinfold_error err;

    cr_assert_not_null(data);
    if (built()) {
        cr_assert_eq(picture_decode(&few, data, size, &err), PINFOLD_E_LIMIT);
        cr_assert_eq(picture_decode(&small, data, size, &err),
                     PINFOLD_E_LIMIT);
        cr_assert_eq(picture_decode(&enough, data, size, &err), PINFOLD_OK);
        free(small.rgb);
        free(enough.rgb);
    }
    free(data);
}
