/* SPDX-License-Identifier: Apache-2.0
 * GIF below the public interface: windows and limits.  Pixels and verdicts are
 * in test_formats.c. */
#include <criterion/criterion.h>

#include "tests/support/pictures.h"

static const char *const names[] = {"plain.gif", "interlaced.gif",
                                    "smaller.gif", "larger.gif", "long.gif"};

Test(gif, windows_are_parts_of_the_picture)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
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

Test(gif, is_limited)
{
    size_t size;
    unsigned char *const data = picture_load("long.gif", &size);
    struct picture few = {.max_pixels = 90 * 70 - 1};
    struct picture small = {.max_scratch = 90 * 70 - 1};
    struct picture enough = {.max_pixels = 90 * 70, .max_scratch = 90 * 70};
    pinfold_error err;

    cr_assert_not_null(data);
    cr_assert_eq(picture_decode(&few, data, size, &err), PINFOLD_E_LIMIT);
    cr_assert_eq(picture_decode(&small, data, size, &err), PINFOLD_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "6300 bytes"), "%s", err.message);
    cr_assert_eq(picture_decode(&enough, data, size, &err), PINFOLD_OK);
    free(small.rgb);
    free(enough.rgb);
    free(data);
}
