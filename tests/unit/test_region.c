/* SPDX-License-Identifier: Apache-2.0
 * Random crops and flips are the ones that torchvision draws. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "transforms/region.h"

static struct pfi_recipe random_recipe(void)
{
    return (struct pfi_recipe){.random_crop = true,
                               .area = {0.08, 1.0},
                               .aspect = {3.0 / 4.0, 4.0 / 3.0}};
}

/* The next number of a line, which moves on. */
static double number(char **at)
{
    return strtod(*at, at);
}

Test(region, crops_and_flips_are_those_of_torchvision)
{
    FILE *const file = fopen(PFI_GOLDEN_DIR "/region.tsv", "r");
    char line[512];
    int n = 0;

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file)) {
        struct pfi_recipe recipe = random_recipe();
        struct pfi_region region;
        char *at = line;

        if (line[0] == '#')
            continue;
        const int32_t width = (int32_t)number(&at);
        const int32_t height = (int32_t)number(&at);
        const uint64_t seed = (uint64_t)number(&at);

        for (int i = 0; i < 2; i++)
            recipe.area[i] = number(&at);
        for (int i = 0; i < 2; i++)
            recipe.aspect[i] = number(&at);
        recipe.flip = (float)number(&at);
        pfi_region_draw(&region, &recipe, width, height, seed);
        cr_expect_eq(region.left, (int32_t)number(&at), "%s", line);
        cr_expect_eq(region.top, (int32_t)number(&at), "%s", line);
        cr_expect_eq(region.width, (int32_t)number(&at), "%s", line);
        cr_expect_eq(region.height, (int32_t)number(&at), "%s", line);
        cr_expect_eq(region.mirrored, (int)number(&at), "%s", line);
        n++;
    }
    (void)fclose(file);
    cr_assert_eq(n, 400);
}

Test(region, nothing_random_is_the_whole_picture)
{
    const struct pfi_recipe recipe = {.flip = 0.0f};
    struct pfi_region region;

    pfi_region_draw(&region, &recipe, 30, 20, 5);
    cr_assert_eq(region.left, 0);
    cr_assert_eq(region.top, 0);
    cr_assert_eq(region.width, 30);
    cr_assert_eq(region.height, 20);
    cr_assert_not(region.mirrored);
}

Test(region, a_probability_of_1_always_flips)
{
    const struct pfi_recipe recipe = {.flip = 1.0f};
    struct pfi_region region;

    for (uint64_t seed = 0; seed < 1000; seed++) {
        pfi_region_draw(&region, &recipe, 30, 20, seed);
        cr_assert(region.mirrored);
        cr_assert_eq(region.width, 30);
    }
}

Test(region, samples_have_seeds_of_their_own)
{
    uint64_t seen[3 * 3 * 3];
    int n = 0;

    for (uint64_t seed = 0; seed < 3; seed++)
        for (int64_t epoch = 0; epoch < 3; epoch++)
            for (int64_t index = 0; index < 3; index++)
                seen[n++] = pinfold_sample_seed(seed, epoch, index);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            cr_assert_neq((uint32_t)seen[i], (uint32_t)seen[j]);
    cr_assert_eq(pinfold_sample_seed(1, 2, 0), seen[1 * 9 + 2 * 3]);
}

/* torchvision's, behind manual_seed(5): from 2^28 on a draw takes two words. */
Test(region, a_side_of_2_to_28_places_takes_the_longer_draw)
{
    static const struct {
        int32_t width, left;
    } rows[] = {{268435456, 80864970}, {268435457, 82545638}};

    for (int i = 0; i < 2; i++) {
        struct pfi_recipe recipe = random_recipe();
        struct pfi_region region;

        recipe.area[0] = 2e-9;
        recipe.area[1] = 9e-9;
        pfi_region_draw(&region, &recipe, rows[i].width, 2, 5);
        cr_assert_eq(region.left, rows[i].left);
        cr_assert_eq(region.top, 0);
        cr_assert_eq(region.width, 2);
        cr_assert_eq(region.height, 2);
    }
}
