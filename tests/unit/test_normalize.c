/* SPDX-License-Identifier: Apache-2.0
 * Conversions to 16 bits against their definition, and where elements land. */
#include <criterion/criterion.h>
#include <math.h>

#include "transforms/normalize.h"

/* What 16 bits with `fraction` bits of fraction and the rest, less a sign, of
 * exponent stand for; infinity is the value that would follow the largest. */
static double value_of(uint16_t bits, int fraction)
{
    const int bias = (1 << (14 - fraction)) - 1;
    const int exponent = (bits & 0x7FFF) >> fraction;
    const int rest = bits & ((1 << fraction) - 1);
    const int whole = exponent ? rest + (1 << fraction) : rest;
    const double size =
        ldexp(whole, (exponent ? exponent : 1) - bias - fraction);

    return bits & 0x8000 ? -size : size;
}

/* Checks a float against both neighbours of what it became. */
static void check_nearest(float value, uint16_t bits, int fraction)
{
    const uint16_t last = (uint16_t)(0x7FFF >> fraction << fraction);
    const double gap = fabs(value - value_of(bits, fraction));
    const uint16_t size = bits & 0x7FFF;

    cr_assert_eq(signbit(value) != 0, bits >> 15, "%a", value);
    cr_assert_leq(size, last, "%a", value);
    if (size < last) {
        const double up = fabs(value - value_of(bits + 1, fraction));

        cr_assert(gap < up || (gap == up && !(bits & 1)), "%a", value);
    }
    if (size > 0 && !(size == last && fabs(value) > value_of(last, fraction))) {
        const double down = fabs(value - value_of(bits - 1, fraction));

        cr_assert(gap < down || (gap == down && !(bits & 1)), "%a", value);
    }
}

Test(normalize, each_float_becomes_its_nearest_neighbour)
{
    uint32_t bits = 0;

    /* A stride that is odd and prime visits every exponent. */
    for (int i = 0; i < 400000; i++, bits += 10729u) {
        float value;

        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        check_nearest(value, pfi_f16_from_f32(value), 10);
        check_nearest(value, pfi_bf16_from_f32(value), 7);
    }
}

Test(normalize, every_16_bit_value_and_tie_comes_back)
{
    for (uint32_t h = 0; h < 0x7C00; h++) {
        const double low = value_of((uint16_t)h, 10);
        const double tie = (low + value_of((uint16_t)(h + 1), 10)) / 2;

        cr_assert_eq(pfi_f16_from_f32((float)low), h);
        cr_assert_eq(pfi_f16_from_f32((float)-low), h | 0x8000);
        cr_assert_eq(pfi_f16_from_f32((float)tie), h + (h & 1));
        cr_assert_eq(pfi_f16_from_f32(nextafterf((float)tie, 1e9f)), h + 1);
        cr_assert_eq(pfi_f16_from_f32(nextafterf((float)tie, 0.0f)), h);
    }
}

Test(normalize, what_is_not_finite_stays_so)
{
    cr_assert_eq(pfi_f16_from_f32(INFINITY), 0x7C00);
    cr_assert_eq(pfi_f16_from_f32(-INFINITY), 0xFC00);
    cr_assert_eq(pfi_bf16_from_f32(-INFINITY), 0xFF80);
    cr_assert_eq(pfi_bf16_from_f32(0x1.FFFFFEp127f), 0x7F80);
    cr_assert_gt(pfi_f16_from_f32(NAN) & 0x7FFF, 0x7C00);
    cr_assert_gt(pfi_bf16_from_f32(NAN) & 0x7FFF, 0x7F80);
}

/* The element of channel c at row y and column x, as 32 bits. */
static uint32_t element(const struct pfi_recipe *r, const void *sample, int c,
                        int y, int x)
{
    const unsigned char *const bytes = sample;
    const size_t size = pfi_dtype_size(r->dtype);
    const size_t pixel = (size_t)(y * r->width + x);
    const size_t plane = (size_t)(r->width * r->height);
    const size_t at = r->layout == PINFOLD_NCHW ? (size_t)c * plane + pixel
                                                : pixel * 3 + (size_t)c;
    uint32_t value = 0;

    memcpy(&value, bytes + at * size, size); /* little-endian */
    return value;
}

static uint32_t wanted(const struct pfi_recipe *r, const struct pfi_norm *norm,
                       int c, unsigned char code)
{
    uint32_t bits;

    if (r->dtype == PINFOLD_U8)
        return code;
    if (r->dtype != PINFOLD_F32)
        return norm->channel[c].u16[code];
    memcpy(&bits, &norm->channel[c].f32[code], sizeof(bits));
    return bits;
}

/* Writes pixels and black to row 1 of 3 x 4 and looks at every element. */
static void check_store(pinfold_dtype dtype, pinfold_layout layout)
{
    static const unsigned char rgb[6] = {1, 20, 255, 7, 128, 66};
    pinfold_recipe recipe = pinfold_recipe_default();
    struct pfi_recipe r;
    struct pfi_norm norm;
    unsigned char *sample;

    recipe.crop_height = 3;
    recipe.crop_width = 4;
    recipe.dtype = dtype;
    recipe.layout = layout;
    cr_assert_eq(pfi_recipe_resolve(&r, &recipe, NULL), PINFOLD_OK);
    pfi_norm_make(&norm, &r);
    sample = calloc(1, r.sample_bytes);
    pfi_store_c(dtype, layout)(pfi_store_place(&r, sample, 1, 1), 3 * 4, rgb, 2,
                               &norm);
    pfi_store_black(&r, &norm, sample, 1, 3, 1);
    for (int i = 0; i < 3 * 3 * 4; i++) {
        const int c = i / 12, y = i / 4 % 3, x = i % 4;
        const unsigned char code = x == 3 ? 0 : rgb[(x == 2) * 3 + c];
        const bool written = y == 1 && x >= 1;

        cr_assert_eq(element(&r, sample, c, y, x),
                     written ? wanted(&r, &norm, c, code) : 0);
    }
    free(sample);
}

Test(normalize, pixels_land_in_their_layout)
{
    for (int dtype = PINFOLD_F32; dtype <= PINFOLD_BF16; dtype++) {
        check_store((pinfold_dtype)dtype, PINFOLD_NCHW);
        check_store((pinfold_dtype)dtype, PINFOLD_NHWC);
    }
}

/* With gaps between the planes, black of every channel lands in its own. */
Test(normalize, black_lands_behind_gaps)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    struct pfi_norm norm;
    struct pfi_recipe r;
    float *sample;

    recipe.crop_height = 3;
    recipe.crop_width = 4;
    recipe.plane_alignment = 256;
    cr_assert_eq(pfi_recipe_resolve(&r, &recipe, NULL), PINFOLD_OK);
    cr_assert_eq(r.plane, 64);
    pfi_norm_make(&norm, &r);
    sample = calloc(1, r.sample_bytes);
    pfi_store_black(&r, &norm, sample, 1, 0, 4);
    for (size_t i = 0; i < 3 * r.plane; i++) {
        const float wanted = norm.channel[i / r.plane].f32[0];
        const bool black = i % r.plane >= 4 && i % r.plane < 8;

        cr_assert_eq(sample[i], black ? wanted : 0.0f, "element %zu", i);
    }
    free(sample);
}

Test(normalize, black_is_normalised_too)
{
    struct pfi_recipe r;
    struct pfi_norm norm;

    cr_assert_eq(pfi_recipe_resolve(&r, NULL, NULL), PINFOLD_OK);
    pfi_norm_make(&norm, &r);
    cr_assert_eq(norm.channel[0].f32[0], -0x1.0f177ap+1f); /* -0.485 / 0.229 */
}

Test(normalize, units_are_products_with_two_parts_of_the_reciprocal)
{
    for (int x = 0; x < 256; x++) {
        const float code = (float)x;

        cr_assert_eq(fmaf(code, PFI_UNIT, code * PFI_UNIT_LOW), code / 255.0f);
    }
}
