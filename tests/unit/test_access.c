/* SPDX-License-Identifier: Apache-2.0
 * Samples by index equal the loader's, in this thread and by a pool. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fakeset.h"

#define SAMPLE 48 /* 4 x 4 x 3 */

static struct fake_set set;
static pinfold_recipe recipe;
static pinfold_read_options options;
static pinfold_error err;

static void setup(void)
{
    fake_set_open(&set, 37);
    recipe = fake_recipe();
    options = (pinfold_read_options){.struct_size = sizeof(options)};
}

static void teardown(void)
{
    fake_set_close(&set);
}

TestSuite(access, .init = setup, .fini = teardown);

static pinfold_status read_them(const int64_t *indices, int64_t n,
                                unsigned char *dst, size_t size)
{
    return pfi_read(set.dataset, &recipe, indices, n, dst, size, &options,
                    &set.reader, &err);
}

/* Sample i's pixels are all i, 0, 127. */
static bool is_sample(const unsigned char *pixels, int64_t i)
{
    for (int p = 0; p < SAMPLE; p += 3)
        if (pixels[p] != i || pixels[p + 1] != 0 || pixels[p + 2] != 0x7F)
            return false;
    return true;
}

static void expect_samples(void)
{
    static const int64_t indices[] = {36, 0, 0, 17, 5, 18, 36};
    unsigned char dst[7 * SAMPLE + 1];
    pinfold_status statuses[7];
    int64_t labels[7];

    options.labels = labels;
    options.statuses = statuses;
    dst[7 * SAMPLE] = 99;
    cr_assert_eq(read_them(indices, 7, dst, 7 * SAMPLE), PINFOLD_OK, "%s",
                 err.message);
    for (int i = 0; i < 7; i++) {
        cr_assert(is_sample(dst + i * SAMPLE, indices[i]));
        cr_assert_eq(labels[i], indices[i] >= 18);
        cr_assert_eq(statuses[i], PINFOLD_OK);
    }
    cr_assert_eq(dst[7 * SAMPLE], 99);
}

Test(access, gives_samples_in_the_order_of_the_indices)
{
    expect_samples();
    for (int32_t workers = 1; workers < 6; workers++) {
        cr_assert_eq(pinfold_pool_open(&options.pool, workers, &err),
                     PINFOLD_OK);
        for (int i = 0; i < 20; i++)
            expect_samples();
        cr_assert_eq(read_them(NULL, 0, NULL, 0), PINFOLD_OK);
        pinfold_pool_close(options.pool);
    }
}

static void *read_often(void *pool)
{
    pinfold_read_options own = {.struct_size = sizeof(own), .pool = pool};
    unsigned char dst[37 * SAMPLE];
    int64_t indices[37];

    for (int i = 0; i < 37; i++)
        indices[i] = i * 5 % 37;
    for (int round = 0; round < 50; round++) {
        memset(dst, 0, sizeof(dst));
        if (pfi_read(set.dataset, &recipe, indices, 37, dst, sizeof(dst), &own,
                     &set.reader, NULL))
            return NULL;
        for (int i = 0; i < 37; i++)
            if (!is_sample(dst + i * SAMPLE, indices[i]))
                return NULL;
    }
    return pool;
}

Test(access, many_threads_share_a_pool)
{
    pthread_t threads[4];
    void *result;

    cr_assert_eq(pinfold_pool_open(&options.pool, 3, &err), PINFOLD_OK);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(
            pthread_create(&threads[i], NULL, read_often, options.pool), 0);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(pthread_join(threads[i], &result), 0);
        cr_assert_not_null(result);
    }
    pinfold_pool_close(options.pool);
}

Test(access, equals_the_loader_in_random_crops)
{
    pinfold_loader_options l = pinfold_loader_options_default();
    unsigned char dst[37 * SAMPLE];
    const pinfold_batch *batch;
    pinfold_loader *loader;
    int64_t indices[37];

    recipe.random_crop = 1;
    recipe.resize_short = 0;
    recipe.flip = 0.5f;
    l.recipe = &recipe;
    l.seed = options.seed = 4;
    l.memory = PINFOLD_MEMORY_PAGEABLE;
    options.epoch = 2;
    for (int i = 0; i < 37; i++)
        indices[i] = i;
    cr_assert_eq(read_them(indices, 37, dst, sizeof(dst)), PINFOLD_OK);
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &l, NULL, &set.reader,
                                 &err),
                 PINFOLD_OK);
    cr_assert_eq(pinfold_loader_start(loader, 2, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
    cr_assert_arr_eq(batch->data, dst, sizeof(dst));
    pinfold_loader_close(loader);
}

Test(access, a_bad_sample_is_zeroed_and_told)
{
    static const int64_t indices[] = {1, 10, 2, 10};
    unsigned char dst[4 * SAMPLE], zero[SAMPLE] = {0};
    pinfold_status statuses[4];

    set.bad = 10;
    for (int pooled = 0; pooled < 2; pooled++) {
        if (pooled)
            cr_assert_eq(pinfold_pool_open(&options.pool, 2, &err), PINFOLD_OK);
        options.statuses = NULL;
        memset(dst, 1, sizeof(dst));
        cr_assert_eq(read_them(indices, 4, dst, sizeof(dst)),
                     PINFOLD_E_CORRUPT);
        cr_assert_eq(err.sample, 10);
        cr_assert_not_null(strstr(err.message, "c0/0010.png"), "%s",
                           err.message);
        options.statuses = statuses;
        cr_assert_eq(read_them(indices, 4, dst, sizeof(dst)), PINFOLD_OK);
        cr_assert_eq(statuses[0], PINFOLD_OK);
        cr_assert_eq(statuses[1], PINFOLD_E_CORRUPT);
        cr_assert_eq(statuses[3], PINFOLD_E_CORRUPT);
        cr_assert_arr_eq(dst + SAMPLE, zero, SAMPLE);
        cr_assert(is_sample(dst + 2 * SAMPLE, 2));
        pinfold_pool_close(options.pool);
    }
}

Test(access, refuses_what_does_not_fit)
{
    static const int64_t indices[] = {0, 37}, below[] = {-1};
    unsigned char dst[2 * SAMPLE];

    cr_assert_eq(read_them(indices, 2, dst, sizeof(dst)), PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message,
                     "index 37 at place 1: the data set has 37 samples");
    cr_assert_eq(read_them(below, 1, dst, sizeof(dst)), PINFOLD_E_ARGUMENT);
    cr_assert_eq(read_them(indices, 1, dst, SAMPLE - 1), PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "dst has 47 bytes, the samples 48");
    cr_assert_eq(read_them(indices, -1, dst, SAMPLE), PINFOLD_E_ARGUMENT);
    cr_assert_eq(read_them(indices, INT64_MAX, dst, SAMPLE),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(pinfold_pool_open(&options.pool, -1, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "workers is -1, not 0 to 1024");
}

Test(access, a_forked_child_gets_an_error)
{
    static const int64_t indices[] = {0};
    unsigned char dst[SAMPLE];
    int status = 0;

    cr_assert_eq(pinfold_pool_open(&options.pool, 2, &err), PINFOLD_OK);
    const pid_t child = fork();

    if (child == 0) {
        const bool right =
            read_them(indices, 1, dst, sizeof(dst)) == PINFOLD_E_FORK;

        pinfold_pool_close(options.pool);
        _exit(right ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    pinfold_pool_close(options.pool);
}
