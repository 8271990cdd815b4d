/* SPDX-License-Identifier: Apache-2.0
 * Epochs hold every sample once, in order, whatever the number of workers. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fakeset.h"

static struct fake_set set;
static pinfold_recipe recipe;
static pinfold_loader_options options;

static void setup(void)
{
    fake_set_open(&set, 37);
    recipe = fake_recipe();
    options = pinfold_loader_options_default();
    options.recipe = &recipe;
    options.batch_size = 8;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
}

static void teardown(void)
{
    fake_set_close(&set);
}

TestSuite(loader, .init = setup, .fini = teardown);

static pinfold_loader *open_loader(void)
{
    pinfold_loader *loader;
    pinfold_error err;

    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, NULL,
                                 &set.reader, &err),
                 PINFOLD_OK, "%s", err.message);
    return loader;
}

static pinfold_stats stats_of(const pinfold_loader *loader)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};

    pinfold_loader_stats(loader, &stats);
    return stats;
}

Test(loader, the_stats_say_where_slots_are)
{
    const pinfold_batch *batches[3];
    pinfold_stats stats;
    pinfold_error err;

    options.slots = 3;
    options.workers = 2;
    pinfold_loader *const loader = open_loader();

    stats = stats_of(loader);
    cr_assert_eq(stats.slots_filling + stats.slots_ready + stats.slots_lent +
                     stats.workers_busy,
                 0);
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    /* With every slot lent no worker has anything to do. */
    for (int i = 0; i < 3; i++)
        cr_assert_eq(pinfold_loader_next(loader, -1, &batches[i], &err),
                     PINFOLD_OK);
    stats = stats_of(loader);
    cr_assert_eq(stats.slots_lent, 3);
    cr_assert_eq(stats.slots_filling + stats.slots_ready + stats.workers_busy,
                 0);
    pinfold_batch_release(batches[1]);
    do
        stats = stats_of(loader);
    while (!stats.slots_ready);
    cr_assert_eq(stats.slots_lent, 2);
    cr_assert_eq(stats.slots_ready, 1);
    cr_assert_eq(stats.slots_filling + stats.workers_busy, 0);
    pinfold_batch_release(batches[0]);
    pinfold_batch_release(batches[2]);
    pinfold_loader_close(loader);
}

/* Runs an epoch and stores its order; returns the number of samples. */
static int run(pinfold_loader *loader, int64_t epoch, int64_t order[64])
{
    const pinfold_batch *batch;
    pinfold_error err;
    int n = 0;

    cr_assert_eq(pinfold_loader_start(loader, epoch, &err), PINFOLD_OK);
    for (int64_t number = 0;; number++) {
        const pinfold_status status =
            pinfold_loader_next(loader, -1, &batch, &err);

        if (status == PINFOLD_END)
            return n;
        cr_assert_eq(status, PINFOLD_OK, "%s", err.message);
        cr_assert_eq(batch->number, number);
        cr_assert_eq((uintptr_t)batch->data % 256, 0);
        cr_assert(fake_batch_right(&set, batch, batch->data));
        for (int32_t i = 0; i < batch->count; i++)
            order[n++] = batch->indices[i];
        pinfold_batch_release(batch);
    }
}

Test(loader, the_order_does_not_depend_on_workers)
{
    int64_t first[64], order[64];

    options.shuffle = 1;
    options.seed = 3;
    for (int workers = 0; workers < 18; workers++) {
        options.workers = workers % 9 ? workers % 9 : PINFOLD_OFF;
        options.io_threads = workers / 9 * (1 + workers % 3);
        pinfold_loader *const loader = open_loader();

        for (int64_t epoch = 0; epoch < 2; epoch++)
            cr_assert_eq(run(loader, epoch, order), 37);
        if (workers == 0)
            memcpy(first, order, sizeof(order));
        cr_assert_arr_eq(first, order, 37 * sizeof(*order));
        pinfold_loader_close(loader);
    }
}

/* A plan that takes only two fields; options have at least 0.1's. */
Test(loader, structs_of_other_sizes_are_planned)
{
    pinfold_memory_plan plan = {0}, whole = {.struct_size = sizeof(whole)};
    pinfold_error err;

    plan.struct_size = offsetof(pinfold_memory_plan, host_bytes);
    plan.host_bytes = 12345;
    cr_assert_eq(pinfold_loader_plan(set.dataset, &options, &plan, &err),
                 PINFOLD_OK, "%s", err.message);
    options.struct_size = offsetof(pinfold_loader_options, io_retries);
    cr_assert_eq(pinfold_loader_plan(set.dataset, &options, &plan, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(plan.struct_size, offsetof(pinfold_memory_plan, host_bytes));
    cr_assert_eq(plan.host_bytes, 12345, "it was written past its end");
    cr_assert_eq(pinfold_loader_plan(set.dataset, NULL, &whole, &err),
                 PINFOLD_OK);
    cr_assert_eq(whole.host_slot_bytes,
                 3 * (256 * 3 * 224 * 224 * 4 + (size_t)128));
    cr_assert_eq(whole.samples, 37);
    cr_assert_eq(whole.batches, 1);
    cr_assert_eq(whole.order_bytes, 38 * 8);
    cr_assert_eq(whole.label_bytes, 3 * 256 * (8 + 8 + 4 + (size_t)512));
    cr_assert_eq(pinfold_loader_plan(NULL, NULL, &whole, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(pinfold_loader_plan(set.dataset, NULL, NULL, &err),
                 PINFOLD_E_ARGUMENT);
}

Test(loader, reading_ahead_stops_where_the_epoch_does)
{
    int64_t order[64];

    options.io_threads = 5;
    options.drop_last = 1;
    options.workers = 2;
    pinfold_loader *const loader = open_loader();

    for (int64_t epoch = 0; epoch < 30; epoch++) {
        const pinfold_batch *batch;

        cr_assert_eq(run(loader, epoch, order), 32);
        /* Left after its first batch. */
        cr_assert_eq(pinfold_loader_start(loader, epoch, NULL), PINFOLD_OK);
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, NULL), PINFOLD_OK);
        pinfold_batch_release(batch);
    }
    pinfold_loader_close(loader);
}

Test(loader, drop_last_leaves_out_the_short_batch)
{
    int64_t order[64];

    options.drop_last = 1;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_batch_count(loader), 4);
    cr_assert_eq(run(loader, 0, order), 32);
    pinfold_loader_close(loader);
}

Test(loader, a_bad_sample_is_zeroed_and_named)
{
    const pinfold_batch *batch;
    pinfold_error err;

    set.bad = 10;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
    cr_assert_eq(batch->bad_count, 1);
    cr_assert_eq(batch->statuses[2], PINFOLD_E_CORRUPT);
    cr_assert(fake_batch_right(&set, batch, batch->data));
    pinfold_batch_error(batch, 2, &err);
    cr_assert_eq(err.sample, 10);
    cr_assert_not_null(strstr(err.message, "c0/0010.png: PNG"), "%s",
                       err.message);
    pinfold_loader_close(loader);
}

Test(loader, on_demand_a_bad_sample_ends_the_run)
{
    const pinfold_batch *batch;
    pinfold_error err;

    set.bad = 3;
    options.bad_sample = PINFOLD_BAD_FAIL;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err),
                 PINFOLD_E_CORRUPT);
    cr_assert_eq(err.sample, 3);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
    cr_assert_eq(batch->number, 1);
    pinfold_loader_close(loader);
}

Test(loader, states_are_errors_not_hangs)
{
    const pinfold_batch *batch;
    pinfold_error err;

    options.slots = 2;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err),
                 PINFOLD_E_STATE);
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err),
                 PINFOLD_E_STATE);
    cr_assert_str_eq(err.message, "all 2 slots are lent: release a batch first");
    pinfold_loader_cancel(loader);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err),
                 PINFOLD_E_CANCELLED);
    pinfold_loader_close(loader);
}

Test(loader, memory_of_the_caller_is_filled)
{
    unsigned char dst[8 * 48];
    const pinfold_batch *batch;
    pinfold_error err;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next_into(loader, -1, dst, 10, &batch, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(
        pinfold_loader_next_into(loader, -1, dst, sizeof(dst), &batch, &err),
        PINFOLD_OK);
    cr_assert_eq(batch->data, dst);
    cr_assert(fake_batch_right(&set, batch, dst));
    pinfold_loader_close(loader);
}

Test(loader, a_forked_child_gets_an_error)
{
    const pinfold_batch *batch;
    pinfold_error err;
    int status = 0;
    pinfold_loader *const loader = open_loader();
    const pid_t child = fork();

    if (child == 0) {
        const bool right =
            pinfold_loader_start(loader, 0, &err) == PINFOLD_E_FORK &&
            pinfold_loader_next(loader, 0, &batch, &err) == PINFOLD_E_FORK &&
            stats_of(loader).batches == 0;

        pinfold_loader_close(loader);
        _exit(right ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    pinfold_loader_close(loader);
}

Test(loader, bad_options_are_named)
{
    pinfold_loader *loader;
    pinfold_error err;

    options.workers = 100000;
    cr_assert_eq(pinfold_loader_open(&loader, set.dataset, &options, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "workers is 100000, not -1 to 1024");
    cr_assert_null(loader);
}

Test(loader, retries_have_bounds)
{
    pinfold_loader *loader;
    pinfold_error err;

    for (int32_t n = -2; n <= 101; n += 103) {
        options.io_retries = n;
        cr_assert_eq(pinfold_loader_open(&loader, set.dataset, &options, &err),
                     PINFOLD_E_ARGUMENT);
        cr_assert_not_null(strstr(err.message, "not -1 to 100"), "%s",
                           err.message);
    }
}

Test(loader, without_a_device_a_demand_fails_in_words)
{
    pinfold_loader *loader;
    pinfold_error err;
    pinfold_info info = {.struct_size = sizeof(info)};

    pinfold_info_get(&info);
    if (info.cuda_devices)
        cr_skip_test("a CUDA device is here");
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    cr_assert_eq(pinfold_loader_open(&loader, set.dataset, &options, &err),
                 PINFOLD_E_CUDA);
    cr_assert_not_null(strstr(err.message, info.cuda_status), "%s", err.message);
    options.upload = PINFOLD_UPLOAD_AUTO;
    options.memory = PINFOLD_MEMORY_AUTO;
    cr_assert_eq(pinfold_loader_open(&loader, set.dataset, &options, &err),
                 PINFOLD_OK, "%s", err.message);
    pinfold_loader_close(loader);
}

static void refused(pinfold_status status, const char *words)
{
    pinfold_loader *loader;
    pinfold_error err;

    cr_assert_eq(pinfold_loader_open(&loader, set.dataset, &options, &err),
                 status, "%s", err.message);
    cr_assert_str_eq(err.message, words);
    cr_assert_null(loader);
}

static int lent; /* blocks of own_alloc() */
static size_t shift;
static unsigned char *room; /* NULL: it has none */

static void *own_alloc(void *cookie, size_t size, size_t alignment)
{
    (void)cookie;
    (void)size;
    (void)alignment;
    if (!room)
        return NULL;
    lent++;
    return room + shift;
}

static void own_free(void *cookie, void *ptr, size_t size)
{
    (void)cookie;
    (void)size;
    cr_assert_eq(ptr, room + shift);
    lent--;
}

Test(loader, an_allocator_that_gives_nothing_or_askew_is_told)
{
    static _Alignas(4096) unsigned char block[8192];
    const pinfold_allocator allocator = {sizeof(allocator), NULL, own_alloc,
                                         own_free};

    options.allocator = &allocator;
    options.slots = 1;
    refused(PINFOLD_E_MEMORY, "no memory for a slot of 512 bytes");
    room = block;
    shift = 16;
    refused(PINFOLD_E_ARGUMENT,
            "the allocator's memory is not aligned to 4096");
    cr_assert_eq(lent, 0, "what was taken was not given back");
    shift = 0;
    pinfold_loader_close(open_loader());
    cr_assert_eq(lent, 0);
}

Test(loader, half_an_allocator_or_state_is_refused)
{
    pinfold_allocator allocator = {sizeof(allocator), NULL, own_alloc, NULL};

    options.allocator = &allocator;
    refused(PINFOLD_E_ARGUMENT, "the allocator lacks a function");
    allocator.dealloc = own_free;
    options.memory = PINFOLD_MEMORY_PINNED;
    refused(PINFOLD_E_ARGUMENT,
            "pinned memory and an allocator exclude each other");
    options.allocator = NULL;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    options.state_size = 1;
    refused(PINFOLD_E_ARGUMENT, "the state is NULL");
}

Test(loader, an_epoch_has_a_number_from_0_on)
{
    pinfold_error err;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_start(loader, -1, &err), PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "epoch is -1");
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    pinfold_loader_close(loader);
}

Test(loader, slots_beyond_memory_are_refused)
{
    options.recipe = NULL;
    options.batch_size = INT32_MAX;
    options.slots = 64;
    recipe = pinfold_recipe_default();
    recipe.crop_height = recipe.crop_width = 400000;
    recipe.max_side = INT32_MAX;
    options.recipe = &recipe;
    refused(PINFOLD_E_ARGUMENT,
            "64 slots of 2147483647 samples do not fit in memory");
}
