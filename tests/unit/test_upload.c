/* SPDX-License-Identifier: Apache-2.0
 * Batches on a fake device hold their own samples, by every way of release. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"

static struct fake_set set;
static struct fake_gpu *fake;
static const struct pfi_gpu *gpu;
static pinfold_recipe recipe;
static pinfold_loader_options options;
static void *consumer;

static void setup(void)
{
    fake_set_open(&set, 37);
    fake = fake_gpu_start(2);
    cr_assert_not_null(fake);
    gpu = fake_gpu_table(fake);
    recipe = fake_recipe();
    options = pinfold_loader_options_default();
    options.recipe = &recipe;
    options.batch_size = 4;
    options.workers = 2;
    options.device = 1;
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    cr_assert_eq(gpu->use_device(gpu->cookie, 1), 0);
    cr_assert_eq(gpu->stream_create(gpu->cookie, &consumer), 0);
    cr_assert_eq(gpu->use_device(gpu->cookie, 0), 0);
}

static void teardown(void)
{
    struct fake_live live;
    int device = -1;

    cr_assert_eq(gpu->current_device(gpu->cookie, &device), 0);
    cr_assert_eq(device, 0, "the caller's device was not restored");
    cr_assert_eq(gpu->stream_destroy(gpu->cookie, consumer), 0);
    live = fake_gpu_live(fake);
    cr_assert_eq(live.pins + live.allocs + live.streams + live.events +
                     live.libraries,
                 0);
    cr_assert_null(fake_gpu_misuse(fake), "%s", fake_gpu_misuse(fake));
    fake_gpu_end(fake);
    fake_set_close(&set);
}

TestSuite(upload, .init = setup, .fini = teardown, .timeout = 60);

static pinfold_loader *open_loader(void)
{
    pinfold_loader *loader;
    pinfold_error err;

    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, gpu,
                                 &set.reader, &err),
                 PINFOLD_OK, "%s", err.message);
    return loader;
}

static void give_back(const pinfold_batch *batch, int way)
{
    pinfold_error err;

    if (way == 0) {
        pinfold_batch_release(batch);
        return;
    }
    cr_assert_eq(pinfold_batch_release_after(batch, consumer, &err), PINFOLD_OK,
                 "%s", err.message);
    if (way == 2)
        fake_gpu_run(fake, consumer);
}

static void check_epochs(pinfold_loader *loader, bool on_device)
{
    const pinfold_batch *batch;
    pinfold_error err;
    int seen;

    for (int64_t epoch = 0; epoch < 3; epoch++) {
        cr_assert_eq(pinfold_loader_start(loader, epoch, &err), PINFOLD_OK);
        for (seen = 0;; seen += batch->count) {
            const pinfold_status status =
                pinfold_loader_next(loader, -1, &batch, &err);

            if (status == PINFOLD_END)
                break;
            cr_assert_eq(status, PINFOLD_OK, "%s", err.message);
            cr_assert_eq(batch->data == NULL, on_device);
            if (on_device)
                cr_assert_eq(
                    gpu->event_wait(gpu->cookie, batch->ready_event), 0);
            cr_assert(fake_batch_right(
                &set, batch, on_device ? batch->device_data : batch->data));
            give_back(batch, (int)(batch->number % 3));
        }
        cr_assert_eq(seen, 37);
    }
}

Test(upload, every_batch_holds_its_samples)
{
    for (int32_t slots = 1; slots < 4; slots++) {
        options.slots = slots;
        pinfold_loader *const loader = open_loader();
        pinfold_stats stats = {.struct_size = sizeof(stats)};

        check_epochs(loader, true);
        pinfold_loader_stats(loader, &stats);
        cr_assert_str_eq(stats.upload, "on");
        cr_assert_str_eq(stats.memory, "pinned");
        pinfold_loader_close(loader);
    }
}

Test(upload, a_copy_to_the_callers_memory_is_of_host_batches)
{
    unsigned char dst[4 * 48];
    const pinfold_batch *batch;
    pinfold_error err;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    cr_assert_eq(
        pinfold_loader_next_into(loader, -1, dst, sizeof(dst), &batch, &err),
        PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "the batches are on the device");
    pinfold_loader_close(loader);
}

Test(upload, the_device_normalises_pictures_up_to_its_grid)
{
    pinfold_loader *loader;
    pinfold_error err;

    recipe = fake_float_recipe();
    recipe.crop_height = recipe.crop_width = 46341;
    recipe.max_side = INT32_MAX;
    options.device_normalize = 1;
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, gpu,
                                 &set.reader, &err),
                 PINFOLD_E_UNSUPPORTED);
    cr_assert_str_eq(err.message, "device_normalize: 2147488281 pixels a picture, "
                                  "limit 2147483647");
}

Test(upload, goes_on_from_a_state)
{
    unsigned char state[PINFOLD_STATE_MAX];
    const pinfold_batch *batch;
    pinfold_error err;
    size_t size;
    pinfold_loader *loader = open_loader();

    cr_assert_eq(pinfold_loader_start(loader, 1, &err), PINFOLD_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
        give_back(batch, 0);
    }
    cr_assert_eq(
        pinfold_loader_state(loader, state, sizeof(state), &size, &err),
        PINFOLD_OK);
    pinfold_loader_close(loader);
    options.state = state;
    options.state_size = size;
    loader = open_loader();
    for (int64_t number = 3; number < 10; number++) {
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
        cr_assert_eq(batch->number, number);
        cr_assert_eq(batch->epoch, 1);
        cr_assert_eq(batch->indices[0], number * 4);
        cr_assert_eq(gpu->event_wait(gpu->cookie, batch->ready_event), 0);
        cr_assert(fake_batch_right(&set, batch, batch->device_data));
        give_back(batch, (int)(number % 3));
    }
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_END);
    check_epochs(loader, true);
    pinfold_loader_close(loader);
}

Test(upload, the_calling_thread_may_decode)
{
    options.workers = PINFOLD_OFF;
    pinfold_loader *const loader = open_loader();

    check_epochs(loader, true);
    pinfold_loader_close(loader);
}

Test(upload, a_stream_of_the_caller_is_used)
{
    options.stream = consumer;
    pinfold_loader *const loader = open_loader();

    check_epochs(loader, true);
    pinfold_loader_close(loader);
}

Test(upload, host_batches_wait_for_the_callers_stream)
{
    options.upload = PINFOLD_UPLOAD_OFF;
    for (int32_t workers = -1; workers < 3; workers += 3) {
        options.workers = workers;
        pinfold_loader *const loader = open_loader();

        check_epochs(loader, false);
        pinfold_loader_close(loader);
    }
}

/* What a forked child may do with its parent's loader, as an exit status. */
static int be_child(pinfold_loader *loader, const pinfold_batch *lent)
{
    const pinfold_batch *batch;
    pinfold_error err;

    if (pinfold_loader_next(loader, -1, &batch, &err) != PINFOLD_E_FORK)
        return 1;
    if (pinfold_loader_start(loader, 1, &err) != PINFOLD_E_FORK)
        return 2;
    if (pinfold_batch_release_after(lent, consumer, &err) != PINFOLD_E_FORK)
        return 3;
    pinfold_batch_release(lent);
    pinfold_loader_cancel(loader);
    pinfold_loader_close(loader);
    return fake_gpu_misuse(fake) ? 4 : 0;
}

Test(upload, a_forked_child_calls_nothing_on_the_device)
{
    pinfold_loader *const loader = open_loader();
    const pinfold_batch *batch;
    pinfold_error err;
    int status = 0;
    pid_t child;

    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_batch_release_after(batch, consumer, &err),
                 PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
    child = fork();
    if (child == 0)
        _exit(be_child(loader, batch));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    pinfold_batch_release(batch);
    check_epochs(loader, true);
    pinfold_loader_close(loader);
}

/* The loader could not know when the stream is done with the batch. */
Test(upload, a_stream_needs_a_device_in_use)
{
    const pinfold_batch *batch;
    pinfold_error err;

    options.upload = PINFOLD_UPLOAD_OFF;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    pinfold_loader *const loader = open_loader();

    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_batch_release_after(batch, consumer, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, "no device"), "%s", err.message);
    cr_assert(fake_batch_right(&set, batch, batch->data), "it is still out");
    cr_assert_eq(pinfold_batch_release_after(batch, NULL, &err), PINFOLD_OK);
    pinfold_loader_close(loader);
}

/* Which memory comes of pinned memory that is refused, by cudaHostAlloc alone or
 * by cudaHostRegister too. */
Test(upload, memory_is_registered_where_it_cannot_be_allocated_pinned)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};

    options.memory = PINFOLD_MEMORY_PINNED;
    fake_gpu_refuse(fake, "cudaHostAlloc", 2);
    pinfold_loader *const loader = open_loader();

    pinfold_loader_stats(loader, &stats);
    cr_assert_str_eq(stats.memory, "pinned");
    cr_assert_gt(stats.pinned_bytes, 0);
    check_epochs(loader, true);
    cr_assert_gt(fake_gpu_pinned_copies(fake), 0);
    cr_assert_eq(fake_gpu_pageable_copies(fake), 0);
    pinfold_loader_close(loader);
}

Test(upload, ordinary_memory_is_taken_where_none_can_be_pinned)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};

    fake_gpu_refuse(fake, "cudaHostAlloc", 2);
    fake_gpu_fail(fake, 4, 801, false); /* behind count, get, set and alloc */
    pinfold_loader *const loader = open_loader();

    cr_assert_str_eq(fake_gpu_failed(fake), "cudaHostRegister");
    pinfold_loader_stats(loader, &stats);
    cr_assert_str_eq(stats.memory, "pageable");
    cr_assert_eq(stats.pinned_bytes, 0);
    check_epochs(loader, true);
    cr_assert_eq(fake_gpu_pinned_copies(fake), 0);
    pinfold_loader_close(loader);
}

Test(upload, a_demand_for_pinned_memory_names_both_calls)
{
    pinfold_loader *loader;
    pinfold_error err;

    options.memory = PINFOLD_MEMORY_PINNED;
    fake_gpu_refuse(fake, "cudaHostAlloc", 2);
    fake_gpu_fail(fake, 4, 801, false);
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, gpu,
                                 &set.reader, &err),
                 PINFOLD_E_CUDA);
    cr_assert_null(loader);
    cr_assert_eq(err.sys_code, 801);
    cr_assert_not_null(strstr(err.message, "cudaHostAlloc: "));
    cr_assert_not_null(strstr(err.message, "cudaHostRegister: "));
}

static pinfold_status refused_open(pinfold_error *err)
{
    pinfold_loader *loader;
    const pinfold_status status = pfi_loader_open(
        &loader, set.dataset, &options, gpu, &set.reader, err);

    cr_assert_null(loader);
    return status;
}

Test(upload, a_full_device_is_named_with_its_bytes)
{
    const size_t slot = 4 * 48 + 128;
    pinfold_error err;
    char words[128];

    options.slots = 3;
    fake_gpu_room(fake, 2 * slot + 7);
    cr_assert_eq(refused_open(&err), PINFOLD_E_CUDA);
    cr_assert_eq(err.sys_code, 2);
    (void)snprintf(words, sizeof(words),
                   "cudaMalloc: cudaErrorMemoryAllocation (2): %zu bytes asked "
                   "for slot 3 of 3, 7 of device 1's %zu are free",
                   slot, 2 * slot + 7);
    cr_assert_str_eq(err.message, words);
    /* Nor can it say how much is free. */
    fake_gpu_refuse(fake, "cudaMemGetInfo", 700);
    cr_assert_eq(refused_open(&err), PINFOLD_E_CUDA);
    cr_assert_eq(err.sys_code, 2);
    cr_assert_str_eq(err.message,
                     "cudaMalloc: cudaErrorMemoryAllocation (2)");
}

Test(upload, a_device_that_is_not_there_is_counted)
{
    pinfold_error err;

    options.device = 2;
    for (int upload = 0; upload < 3; upload++) {
        options.upload = (pinfold_upload)upload;
        cr_assert_eq(refused_open(&err), PINFOLD_E_ARGUMENT);
        cr_assert_str_eq(err.message, "device 2: there are 2, counted from 0");
    }
}

/* What a demand says of each lack. */
Test(upload, a_demand_says_what_is_missing)
{
    static const struct {
        int code, driver;
        const char *words;
    } rows[] = {
        {35, 0, "CUDA is not usable: no NVIDIA driver (cudaGetDeviceCount: 35)"},
        {35, 12040,
         "CUDA is not usable: the NVIDIA driver is too old for this CUDA runtime "
         "(driver 12.4, runtime 13.0; cudaGetDeviceCount: 35)"},
        {100, 13000,
         "CUDA is not usable: no CUDA device (cudaGetDeviceCount: 100)"},
        {34, 0,
         "CUDA is not usable: libcuda is the toolkit's stub, not a driver "
         "(cudaGetDeviceCount: 34)"},
    };
    pinfold_error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fake_gpu_script(fake, rows[i].code, 13000, rows[i].driver);
        options.upload = PINFOLD_UPLOAD_REQUIRE;
        options.memory = PINFOLD_MEMORY_AUTO;
        cr_assert_eq(refused_open(&err), PINFOLD_E_CUDA);
        cr_assert_str_eq(err.message, rows[i].words);
        options.upload = PINFOLD_UPLOAD_AUTO;
        options.memory = PINFOLD_MEMORY_PINNED;
        cr_assert_eq(refused_open(&err), PINFOLD_E_CUDA);
        cr_assert_str_eq(err.message, rows[i].words);
    }
    fake_gpu_script(fake, 0, 13000, 13000);
}

/* Call k of a whole run fails once: an error that names the call, no hang, no
 * leak (the teardown looks), and the loader can be closed. */
Test(upload, any_call_may_fail)
{
    int errors = 0;

    for (long k = 0; k < 60; k++) {
        const pinfold_batch *batch;
        pinfold_loader *loader;
        pinfold_error err;
        pinfold_status status;

        fake_gpu_fail(fake, k, 2, false);
        status = pfi_loader_open(&loader, set.dataset, &options, gpu,
                                 &set.reader, &err);
        if (!status)
            status = pinfold_loader_start(loader, 0, &err);
        while (!status) {
            status = pinfold_loader_next(loader, -1, &batch, &err);
            if (!status)
                status = pinfold_batch_release_after(batch, consumer, &err);
        }
        if (status < 0) {
            errors++;
            cr_assert_eq(status, PINFOLD_E_CUDA, "call %ld: %s", k,
                         err.message);
            cr_assert_not_null(strstr(err.message, "cuda"), "%s", err.message);
        }
        pinfold_loader_close(loader);
        fake_gpu_fail(fake, 1000000, 0, false);
        cr_assert_eq(gpu->use_device(gpu->cookie, 0), 0);
    }
    cr_assert_gt(errors, 30);
}
