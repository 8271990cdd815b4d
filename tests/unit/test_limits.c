/* SPDX-License-Identifier: Apache-2.0
 * A file above max_file is refused by name and size, before it is read and by
 * every way in; what is as long as allowed, and other samples, are as ever. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include <pinfold/pinfold.h>

#include "tests/support/tree.h"

/* Two pixels each; a PPM may have bytes behind them. */
#define HEAD "P6 2 1 255\n"
#define SMALL HEAD "abcdef"
#define LARGE HEAD "abcdef "

static const char small[] = SMALL, large[] = LARGE;
enum { LIMIT = sizeof(small) - 1, BYTES = 6 };

static char root[64];
static pinfold_recipe recipe;
static pinfold_dataset *dataset;
static pinfold_error err;

static void setup(void)
{
    tree_open(root);
    tree_file(root, "a/1.ppm", SMALL);
    tree_file(root, "a/2.ppm", LARGE);
    tree_file(root, "a/3.ppm", SMALL);
    tree_file(root, "a/4.ppm", "");
    cr_assert_eq(truncate(tree_path(root, "a/4.ppm"), (off_t)10 << 30), 0);
    recipe = pinfold_recipe_default();
    recipe.resize_height = 1;
    recipe.resize_width = 2;
    recipe.crop_height = PINFOLD_OFF;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    recipe.max_file = LIMIT;
    cr_assert_eq(pinfold_dataset_open(&dataset, root, NULL, &err), PINFOLD_OK,
                 "%s", err.message);
}

static void teardown(void)
{
    pinfold_dataset_close(dataset);
    tree_close(root);
}

TestSuite(limits, .init = setup, .fini = teardown);

/* Behind the root's name. */
static void expect_words(const char *words)
{
    cr_assert_str_eq(err.message, tree_path(root, words));
}

static void expect_samples(const unsigned char *pixels,
                           const pinfold_status *statuses)
{
    static const unsigned char zeros[BYTES];

    for (int i = 0; i < 4; i++) {
        const bool bad = i % 2;

        cr_assert_eq(statuses[i], bad ? PINFOLD_E_LIMIT : PINFOLD_OK);
        cr_assert_arr_eq(pixels + i * BYTES, bad ? zeros : (void *)"abcdef",
                         BYTES);
    }
}

Test(limits, a_loader_keeps_the_other_samples)
{
    pinfold_loader_options options = pinfold_loader_options_default();

    options.recipe = &recipe;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    for (int i = 0; i < 4; i++) {
        const pinfold_batch *batch;
        pinfold_loader *loader;

        options.workers = i % 2 ? 2 : PINFOLD_OFF;
        options.io_threads = i / 2 * 2;
        cr_assert_eq(pinfold_loader_open(&loader, dataset, &options, &err),
                     PINFOLD_OK, "%s", err.message);
        cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
        cr_assert_eq(batch->bad_count, 2);
        expect_samples(batch->data, batch->statuses);
        pinfold_batch_error(batch, 1, &err);
        expect_words("a/2.ppm: a file of 18 bytes, limit 17");
        cr_assert_eq(err.sample, 1);
        pinfold_batch_error(batch, 3, &err);
        expect_words("a/4.ppm: a file of 10737418240 bytes, limit 17");
        pinfold_loader_close(loader);
    }
}

Test(limits, so_does_a_read)
{
    static const int64_t indices[4] = {0, 1, 2, 3};
    pinfold_status statuses[4];
    unsigned char pixels[4 * BYTES];
    const pinfold_read_options options = {.struct_size = sizeof(options),
                                          .statuses = statuses};

    cr_assert_eq(pinfold_read(dataset, &recipe, indices, 4, pixels,
                              sizeof(pixels), &options, &err),
                 PINFOLD_OK, "%s", err.message);
    expect_samples(pixels, statuses);
    cr_assert_eq(pinfold_read(dataset, &recipe, indices, 4, pixels,
                              sizeof(pixels), NULL, &err),
                 PINFOLD_E_LIMIT);
    expect_words("a/2.ppm: a file of 18 bytes, limit 17");
}

Test(limits, bytes_in_memory_are_a_file)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    unsigned char pixels[BYTES];

    cr_assert_eq(pinfold_preprocess(&recipe, small, LIMIT, pixels, BYTES, &err),
                 PINFOLD_OK, "%s", err.message);
    cr_assert_arr_eq(pixels, "abcdef", BYTES);
    cr_assert_eq(pinfold_plan_picture(&recipe, small, LIMIT, &plan, &err),
                 PINFOLD_OK);
    cr_assert_eq(
        pinfold_preprocess(&recipe, large, LIMIT + 1, pixels, BYTES, &err),
        PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "a file of 18 bytes, limit 17");
    cr_assert_eq(pinfold_plan_picture(&recipe, large, LIMIT + 1, &plan, &err),
                 PINFOLD_E_LIMIT);
    recipe.max_file = 0;
    cr_assert_eq(
        pinfold_preprocess(&recipe, large, LIMIT + 1, pixels, BYTES, &err),
        PINFOLD_OK, "%s", err.message);
}

Test(limits, are_told_beforehand)
{
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    pinfold_loader_options options = pinfold_loader_options_default();

    options.memory = PINFOLD_MEMORY_PAGEABLE;
    cr_assert_eq(pinfold_loader_plan(dataset, &options, &plan, &err),
                 PINFOLD_OK);
    cr_assert_eq(plan.file_limit, (uint64_t)2 << 30);
    options.recipe = &recipe;
    cr_assert_eq(pinfold_loader_plan(dataset, &options, &plan, &err),
                 PINFOLD_OK);
    cr_assert_eq(plan.file_limit, LIMIT);
}

/* Holes, which a NUL or the first bytes give away. */
Test(limits, a_list_or_an_index_of_holes_is_not_read_to_its_end)
{
    char file[128];
    pinfold_dataset_options options = {.struct_size = sizeof(options)};
    pinfold_dataset *other;

    (void)strcpy(file, tree_path(root, "a/4.ppm"));
    options.list = file;
    cr_assert_neq(pinfold_dataset_open(&other, root, &options, &err),
                  PINFOLD_OK);
    cr_assert_null(other);
    options.list = NULL;
    options.index = file;
    cr_assert_eq(pinfold_dataset_open(&other, root, &options, &err), PINFOLD_OK,
                 "%s", err.message);
    cr_assert_not_null(strstr(pinfold_dataset_remark(other), "not an index"),
                       "%s", pinfold_dataset_remark(other));
    pinfold_dataset_close(other);
}
