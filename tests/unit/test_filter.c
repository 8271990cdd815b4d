/* SPDX-License-Identifier: Apache-2.0
 * The filters at their knots, and the symmetry that they share. */
#include <criterion/criterion.h>
#include <math.h>

#include "transforms/filter.h"

static double at(pinfold_filter filter, double x)
{
    return pfi_filter_get(filter)->weight(x);
}

Test(filter, each_has_pillows_half_width)
{
    cr_assert_eq(pfi_filter_get(PINFOLD_BOX)->support, 0.5);
    cr_assert_eq(pfi_filter_get(PINFOLD_BILINEAR)->support, 1.0);
    cr_assert_eq(pfi_filter_get(PINFOLD_HAMMING)->support, 1.0);
    cr_assert_eq(pfi_filter_get(PINFOLD_BICUBIC)->support, 2.0);
    cr_assert_eq(pfi_filter_get(PINFOLD_LANCZOS)->support, 3.0);
    cr_assert_null(pfi_filter_get(PINFOLD_NEAREST)->weight);
}

Test(filter, a_box_is_open_on_the_left)
{
    cr_assert_eq(at(PINFOLD_BOX, -0.5), 0.0);
    cr_assert_eq(at(PINFOLD_BOX, -0.4999), 1.0);
    cr_assert_eq(at(PINFOLD_BOX, 0.5), 1.0);
    cr_assert_eq(at(PINFOLD_BOX, 0.5001), 0.0);
}

Test(filter, values_at_simple_points)
{
    cr_assert_eq(at(PINFOLD_BILINEAR, -0.25), 0.75);
    cr_assert_eq(at(PINFOLD_BILINEAR, 1.0), 0.0);
    cr_assert_eq(at(PINFOLD_BICUBIC, 0.5), 0.5625);
    cr_assert_eq(at(PINFOLD_BICUBIC, -1.5), -0.0625);
    cr_assert_eq(at(PINFOLD_BICUBIC, 2.0), 0.0);
    cr_assert_eq(at(PINFOLD_HAMMING, 0.0), 1.0);
    cr_assert_eq(at(PINFOLD_HAMMING, 1.0), 0.0);
    cr_assert_eq(at(PINFOLD_LANCZOS, 0.0), 1.0);
    cr_assert_eq(at(PINFOLD_LANCZOS, 3.0), 0.0);
    /* sinc(1.5) * sinc(0.5) = -4 / (3 pi^2) */
    cr_assert_float_eq(at(PINFOLD_LANCZOS, 1.5), -0.135094911, 1e-9);
}

Test(filter, hamming_has_float_constants)
{
    const double pi = 3.14159265358979323846, x = 0.25 * pi;
    const double value = at(PINFOLD_HAMMING, 0.25);

    cr_assert_eq(value, sin(x) / x * ((double)0.54f + (double)0.46f * cos(x)));
    cr_assert_neq(value, sin(x) / x * ((double)0.54f + 0.46 * cos(x)));
    cr_assert_neq(value, sin(x) / x * (0.54 + (double)0.46f * cos(x)));
}

Test(filter, all_but_the_box_are_symmetric_and_end_at_their_support)
{
    const pinfold_filter filters[] = {PINFOLD_BILINEAR, PINFOLD_HAMMING,
                                      PINFOLD_BICUBIC, PINFOLD_LANCZOS};

    for (size_t f = 0; f < sizeof(filters) / sizeof(filters[0]); f++) {
        const double support = pfi_filter_get(filters[f])->support;

        for (int i = 1; i < 1000; i++) {
            const double x = support * i / 1000;

            cr_assert_eq(at(filters[f], x), at(filters[f], -x));
        }
        cr_assert_eq(at(filters[f], support + 0.001), 0.0);
        cr_assert_eq(at(filters[f], -support - 0.001), 0.0);
    }
}

Test(filter, shifted_copies_add_up_to_one)
{
    for (int i = 0; i < 100; i++) {
        const double x = i / 100.0;

        cr_assert_float_eq(
            at(PINFOLD_BILINEAR, x) + at(PINFOLD_BILINEAR, x - 1), 1.0, 1e-12);
        cr_assert_float_eq(at(PINFOLD_BICUBIC, x + 1) + at(PINFOLD_BICUBIC, x) +
                               at(PINFOLD_BICUBIC, x - 1) +
                               at(PINFOLD_BICUBIC, x - 2),
                           1.0, 1e-12);
    }
}
