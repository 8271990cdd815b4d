/* SPDX-License-Identifier: Apache-2.0
 * Tables of taps: weights worked out by hand, and crops that show a part of
 * the full table. */
#include <criterion/criterion.h>
#include <math.h>

#include "transforms/filter.h"
#include "transforms/taps.h"

#define ONE ((int32_t)1 << PFI_WEIGHT_BITS)

/* A table, and the column axis that it is for. */
struct table {
    struct pfi_arena arena;
    struct pfi_axis axis;
    struct pfi_taps taps;
};

/* `source` columns resized to `resized`, of which the middle `crop` show. */
static struct table *table_make(pinfold_filter filter, int32_t source,
                                int32_t resized, int32_t crop)
{
    struct table *const t = pfi_calloc(1, sizeof(*t));
    pinfold_recipe recipe = pinfold_recipe_default();
    struct pfi_recipe checked;
    struct pfi_plan plan;

    recipe.filter = filter;
    recipe.resize_height = 1;
    recipe.resize_width = resized;
    recipe.crop_height = 1;
    recipe.crop_width = crop;
    cr_assert_eq(pfi_recipe_resolve(&checked, &recipe, NULL), PINFOLD_OK);
    cr_assert_eq(pfi_plan_make(&plan, &checked,
                               &(struct pfi_region){.width = source,
                                                    .height = 1},
                               NULL), PINFOLD_OK);
    t->axis = plan.x;
    cr_assert(pfi_arena_init(&t->arena, plan.scratch_bytes));
    cr_assert(pfi_taps_make(&t->taps, &t->arena, &t->axis, filter));
    cr_assert_null(t->arena.extra);
    cr_assert_eq(t->taps.n, t->axis.count);
    return t;
}

static void table_free(struct table *t)
{
    pfi_arena_end(&t->arena);
    pfi_free(t);
}

static const int32_t *weights_of(const struct table *t, int32_t i)
{
    return t->taps.weights + i * t->taps.stride;
}

Test(taps, a_half_size_triangle)
{
    struct table *const t = table_make(PINFOLD_BILINEAR, 4, 2, 2);

    /* The filter reaches 2 pixels to each side of 1 and of 3; at the edge it
     * is cut and its 3, 3 and 1 parts are made to add up to one. */
    cr_assert_eq(t->taps.first[0], 0);
    cr_assert_eq(t->taps.count[0], 3);
    cr_assert_eq(weights_of(t, 0)[0], 1797559);
    cr_assert_eq(weights_of(t, 0)[1], 1797559);
    cr_assert_eq(weights_of(t, 0)[2], 599186);
    cr_assert_eq(t->taps.first[1], 1);
    cr_assert_eq(t->taps.count[1], 3);
    cr_assert_eq(weights_of(t, 1)[0], 599186);
    table_free(t);
}

Test(taps, a_double_size_bicubic)
{
    struct table *const t = table_make(PINFOLD_BICUBIC, 5, 10, 10);
    const int32_t *const w = weights_of(t, 4);

    /* Output 4 lies at 2.25, so pixels 0 to 3 are 1.75, 0.75, 0.25 and 1.25
     * away; their weights are exact in 22 bits. */
    cr_assert_eq(t->taps.first[4], 0);
    cr_assert_eq(t->taps.count[4], 4);
    cr_assert_eq(w[0] + w[1] + w[2] + w[3], ONE);
    cr_assert_eq(w[0], -98304);
    cr_assert_eq(w[1], 950272);
    cr_assert_eq(w[2], 3637248);
    cr_assert_eq(w[3], -294912);
    table_free(t);
}

Test(taps, weights_round_half_away_from_zero)
{
    struct table *const t = table_make(PINFOLD_LANCZOS, 333, 50, 50);
    const double scale = 333.0 / 50.0, inverse = 1.0 / scale;
    const struct pfi_filter *const lanczos = pfi_filter_get(PINFOLD_LANCZOS);

    for (int32_t i = 0; i < 50; i++) {
        const double center = (i + 0.5) * scale;
        double w[64], sum = 0.0;

        cr_assert_leq(t->taps.count[i], 64);
        for (int32_t k = 0; k < t->taps.count[i]; k++) {
            const int32_t x = t->taps.first[i] + k;

            w[k] = lanczos->weight((x - center + 0.5) * inverse);
            sum += w[k];
        }
        for (int32_t k = 0; k < t->taps.count[i]; k++)
            cr_assert_eq(weights_of(t, i)[k], lround(w[k] / sum * ONE));
    }
    table_free(t);
}

Test(taps, an_axis_that_keeps_its_size_is_copied)
{
    for (int filter = 0; filter <= PINFOLD_LANCZOS; filter++) {
        struct table *const t =
            table_make((pinfold_filter)filter, 100, 100, 11);

        cr_assert_eq(t->axis.max_taps, 1);
        cr_assert_eq(t->axis.window_first, 44); /* 44.5, half to even */
        cr_assert_eq(t->axis.window_end, 55);
        for (int32_t i = 0; i < 11; i++) {
            cr_assert_eq(t->taps.first[i], i);
            cr_assert_eq(t->taps.count[i], 1);
            cr_assert_eq(weights_of(t, i)[0], ONE);
        }
        table_free(t);
    }
}

/* Checks that the crop's table is the middle of the whole table. */
static void check_crop(pinfold_filter filter, int32_t source, int32_t resized,
                       int32_t crop)
{
    struct table *const all = table_make(filter, source, resized, resized);
    struct table *const part = table_make(filter, source, resized, crop);
    int32_t low = source, high = 0;

    for (int32_t i = 0; i < part->taps.n; i++) {
        const int32_t j = part->axis.first + i;
        const int32_t first = part->taps.first[i] + part->axis.window_first;

        cr_assert_eq(first, all->taps.first[j] + all->axis.window_first);
        cr_assert_eq(part->taps.count[i], all->taps.count[j]);
        for (int32_t k = 0; k < part->taps.count[i]; k++)
            cr_assert_eq(weights_of(part, i)[k], weights_of(all, j)[k]);
        cr_assert_leq(part->taps.count[i], part->axis.max_taps);
        low = first < low ? first : low;
        high = first + part->taps.count[i] > high ? first + part->taps.count[i]
                                                  : high;
    }
    cr_assert_eq(part->axis.window_first, low);
    cr_assert_eq(part->axis.window_end, high);
    table_free(all);
    table_free(part);
}

Test(taps, a_crop_has_the_coefficients_of_the_whole)
{
    for (int filter = 0; filter <= PINFOLD_LANCZOS; filter++) {
        check_crop((pinfold_filter)filter, 375, 256, 224);
        check_crop((pinfold_filter)filter, 7, 341, 40);
        check_crop((pinfold_filter)filter, 601, 13, 4);
        check_crop((pinfold_filter)filter, 3, 2, 1);
        check_crop((pinfold_filter)filter, 1, 5, 2);
    }
}

Test(taps, nearest_adds_its_step_again_and_again)
{
    struct table *const t = table_make(PINFOLD_NEAREST, 256, 1290, 1290);
    double position = 256.0 / 1290.0 * 0.5;
    int32_t different = 0;

    for (int32_t i = 0; i < 1290; i++, position += 256.0 / 1290.0) {
        const int32_t multiplied = (int32_t)((i + 0.5) * (256.0 / 1290.0));

        cr_assert_eq(t->taps.first[i], (int32_t)position);
        cr_assert_eq(weights_of(t, i)[0], ONE);
        different += t->taps.first[i] != multiplied;
    }
    cr_assert_gt(different, 0);
    table_free(t);
}

/* 1 less the distance over 2.5, over their sum 2.2. */
Test(taps, the_last_tap_counts_up_to_half_a_pixel)
{
    static const int32_t wanted[] = {1334551, 1715852, 953251, 190650};
    struct table *const t = table_make(PINFOLD_BILINEAR, 5, 2, 2);

    cr_assert_eq(PFI_WEIGHT_BITS, 22);
    cr_assert_eq(t->taps.first[0], 0);
    cr_assert_eq(t->taps.count[0], 4);
    for (int32_t k = 0; k < 4; k++)
        cr_assert_eq(weights_of(t, 0)[k], wanted[k], "%d", k);
    cr_assert_eq(t->taps.first[1], 1);
    cr_assert_eq(t->taps.count[1], 4);
    table_free(t);
}

Test(taps, a_span_is_what_the_table_has)
{
    struct table *const t = table_make(PINFOLD_LANCZOS, 333, 50, 50);

    for (int32_t i = 0; i < 50; i++) {
        int32_t first, end;

        pfi_taps_span(&t->axis, 3.0, i, &first, &end);
        cr_assert_eq(first, t->taps.first[i]);
        cr_assert_eq(end - first, t->taps.count[i]);
    }
    table_free(t);
}

Test(taps, tables_too_large_to_count_are_told)
{
    const struct pfi_axis axis = {.count = INT32_MAX, .max_taps = INT32_MAX};

    cr_assert_gt(pfi_taps_bytes(&axis), (size_t)1 << 60);
}
