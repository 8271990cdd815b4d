/* SPDX-License-Identifier: Apache-2.0
 * The cases' scenarios that a library can show, each named after its entry; 79
 * is in test_changes.c, 83 in stress/test_stuck.c, and the program's are in
 * tests/cli/scenarios. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"

static struct fake_set set;
static pinfold_recipe recipe;
static pinfold_loader_options options;
static struct fake_gpu *fake;

static void setup(void)
{
    fake_set_open(&set, 37);
    recipe = fake_recipe();
    options = pinfold_loader_options_default();
    options.recipe = &recipe;
    options.batch_size = 8;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    fake = fake_gpu_start(1);
    cr_assert_not_null(fake);
}

static void teardown(void)
{
    fake_gpu_end(fake);
    fake_set_close(&set);
}

TestSuite(scenario, .init = setup, .fini = teardown);

static pinfold_loader *open_loader(void)
{
    const bool device = options.memory != PINFOLD_MEMORY_PAGEABLE;
    pinfold_loader *loader;
    pinfold_error err;

    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options,
                                 device ? fake_gpu_table(fake) : NULL,
                                 &set.reader, &err),
                 PINFOLD_OK, "%s", err.message);
    return loader;
}

static const pinfold_batch *next(pinfold_loader *loader)
{
    const pinfold_batch *batch;
    pinfold_error err;
    const pinfold_status status =
        pinfold_loader_next(loader, -1, &batch, &err);

    cr_assert(status == PINFOLD_OK || status == PINFOLD_END, "%s", err.message);
    return batch;
}

static void start(pinfold_loader *loader, int64_t epoch)
{
    pinfold_error err;

    cr_assert_eq(pinfold_loader_start(loader, epoch, &err), PINFOLD_OK, "%s",
                 err.message);
}

/* Runs an epoch; returns the sum of what its batches hold. */
static int run(pinfold_loader *loader, int64_t epoch)
{
    const pinfold_batch *batch;
    int n = 0;

    start(loader, epoch);
    while ((batch = next(loader)) != NULL) {
        n += batch->count;
        pinfold_batch_release(batch);
    }
    return n;
}

/* What a consumer's kernel sees at its end, long after the batch was given
 * back. */
struct spin {
    const pinfold_batch *batch;
    unsigned char seen[8 * 4 * 4 * 3];
    const void *data;
    size_t size;
    int ends;
};

static void look(void *argument, bool at_end)
{
    struct spin *const spin = argument;

    if (!at_end)
        return;
    memcpy(spin->seen, spin->data, spin->size);
    spin->ends++;
}

Test(scenario, entry_63_a_slot_is_not_filled_before_its_copy_is_done)
{
    const struct pfi_gpu *const gpu = fake_gpu_table(fake);
    const pinfold_batch *batch;
    pinfold_batch kept;
    struct spin spin;
    pinfold_error err;
    void *stream;

    options.memory = PINFOLD_MEMORY_AUTO;
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    options.slots = 2;
    cr_assert_eq(gpu->use_device(gpu->cookie, 0), 0);
    cr_assert_eq(gpu->stream_create(gpu->cookie, &stream), 0);
    pinfold_loader *const loader = open_loader();

    for (int64_t epoch = 0; epoch < 4; epoch++) {
        start(loader, epoch);
        while ((batch = next(loader)) != NULL) {
            int64_t indices[8], labels[8];
            pinfold_status statuses[8];

            spin = (struct spin){.data = batch->device_data,
                                 .size = batch->size};
            kept = *batch;
            for (int32_t i = 0; i < kept.count; i++) {
                indices[i] = batch->indices[i];
                labels[i] = batch->labels[i];
                statuses[i] = batch->statuses[i];
            }
            kept.indices = indices;
            kept.labels = labels;
            kept.statuses = statuses;
            /* The consumer waits for the copy, and is slow. */
            cr_assert_eq(gpu->stream_wait(gpu->cookie, stream,
                                          batch->ready_event),
                         0);
            fake_gpu_work(fake, stream, batch->device_data, batch->size,
                          50000000, look, &spin);
            cr_assert_eq(pinfold_batch_release_after(batch, stream, &err),
                         PINFOLD_OK);
            fake_gpu_run(fake, stream);
            cr_assert_eq(spin.ends, 1);
            cr_assert(fake_batch_right(&set, &kept, spin.seen));
        }
    }
    pinfold_loader_close(loader);
    cr_assert_eq(gpu->stream_destroy(gpu->cookie, stream), 0);
    cr_assert_null(fake_gpu_misuse(fake), "%s", fake_gpu_misuse(fake));
}

Test(scenario, entry_65_pinned_memory_does_not_grow)
{
    options.memory = PINFOLD_MEMORY_PINNED;
    for (options.slots = 1; options.slots <= 8; options.slots++) {
        pinfold_loader *const loader = open_loader();
        const struct fake_live before = fake_gpu_live(fake);
        struct fake_live after;

        cr_assert_eq(before.pins, options.slots);
        for (int64_t epoch = 0; epoch < 200; epoch++)
            cr_assert_eq(run(loader, epoch), 37);
        after = fake_gpu_live(fake);
        cr_assert_eq(after.pins, before.pins);
        cr_assert_eq(after.pinned_bytes, before.pinned_bytes);
        pinfold_loader_close(loader);
        cr_assert_eq(fake_gpu_live(fake).pins, 0);
    }
}

/* 1000 times in all, with every queue full. */
Test(scenario, entry_67_a_loader_that_is_left_closes_within_a_second)
{
    options.batch_size = 2;
    for (int i = 0; i < 1000; i++) {
        const int workers = i % 17;

        options.workers = workers ? workers : PINFOLD_OFF;
        options.io_threads = i % 3;
        pinfold_loader *const loader = open_loader();
        uint64_t begun;

        start(loader, 0);
        cr_assert_not_null(next(loader));
        /* Full: all slots but the one that is lent. */
        if (workers)
            while (atomic_load(&set.reads) < 2 * 3)
                sched_yield();
        begun = pfi_now_ns();
        pinfold_loader_close(loader);
        cr_assert_lt(pfi_now_ns() - begun, 1000000000u);
        atomic_store(&set.reads, 0);
    }
}

static long resident_kib(void)
{
    FILE *const file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file) {
        if (fscanf(file, "%*d %ld", &pages) != 1)
            pages = 0;
        (void)fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

Test(scenario, entry_71_host_memory_does_not_grow)
{
    options.workers = 4;
    options.shuffle = 1;
    pinfold_loader *const loader = open_loader();
    long before;

#if defined(__SANITIZE_ADDRESS__)
    cr_skip_test("AddressSanitizer keeps freed memory");
#endif
    (void)run(loader, 0);
    (void)run(loader, 1);
    before = resident_kib();
    for (int64_t epoch = 2; epoch < 200; epoch++)
        cr_assert_eq(run(loader, epoch), 37);
    pinfold_loader_close(loader);
    if (!before)
        cr_skip_test("/proc/self/statm tells nothing");
    cr_assert_lt(resident_kib() - before, 1024);
}

static int exit_of(pid_t child)
{
    int status = 0;

    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(scenario, entry_73_a_fork_is_told_and_harms_nobody)
{
    const pinfold_batch *batch;
    pinfold_error err;
    pid_t child = fork();

    if (child == 0) { /* before there is a loader: all works */
        pinfold_loader *const own = open_loader();

        _exit(run(own, 0) == 37 ? 0 : 1);
    }
    cr_assert_eq(exit_of(child), 0);
    pinfold_loader *const loader = open_loader();

    start(loader, 0);
    pinfold_batch_release(next(loader));
    child = fork();
    if (child == 0) {
        const pinfold_status status =
            pinfold_loader_next(loader, -1, &batch, &err);

        pinfold_loader_close(loader);
        _exit(status == PINFOLD_E_FORK && strstr(err.message, "fork") ? 0 : 1);
    }
    cr_assert_eq(exit_of(child), 0);
    cr_assert_eq(run(loader, 1), 37);
    pinfold_loader_close(loader);
}

/* Every fifth file is slow. */
static pinfold_status read_slowly(void *cookie, int root_fd, const char *path,
                                  struct pfi_arena *arena, const void **data,
                                  size_t *size, pinfold_error *err)
{
    if (atoi(strchr(path, '/') + 1) % 5 == 0)
        for (int i = 0; i < 200; i++)
            sched_yield();
    (void)cookie;
    return set.reader.read(set.reader.cookie, root_fd, path, arena, data, size,
                           err);
}

Test(scenario, entry_75_the_order_does_not_depend_on_workers)
{
    static const struct pfi_reader slow = {NULL, read_slowly};
    int64_t first[37], order[37];
    pinfold_error err;

    options.shuffle = 1;
    options.seed = 11;
    for (options.workers = 1; options.workers <= 16; options.workers++) {
        pinfold_loader *loader;
        const pinfold_batch *batch;
        int n = 0;

        cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, NULL,
                                     &slow, &err),
                     PINFOLD_OK);
        start(loader, 2);
        while ((batch = next(loader)) != NULL) {
            cr_assert(fake_batch_right(&set, batch, batch->data));
            for (int32_t i = 0; i < batch->count; i++)
                order[n++] = batch->indices[i];
            pinfold_batch_release(batch);
        }
        pinfold_loader_close(loader);
        cr_assert_eq(n, 37);
        if (options.workers == 1)
            memcpy(first, order, sizeof(first));
        cr_assert_arr_eq(order, first, sizeof(first));
    }
}

/* The counts of an epoch's batches, as "8 8 8 8 5 ". */
static const char *counts(int32_t batch_size, int32_t drop_last)
{
    static char text[64];
    const pinfold_batch *batch;
    size_t used = 0;

    options.batch_size = batch_size;
    options.drop_last = drop_last;
    pinfold_loader *const loader = open_loader();

    start(loader, 0);
    text[0] = '\0';
    while ((batch = next(loader)) != NULL) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%d ",
                                 batch->count);
        pinfold_batch_release(batch);
    }
    pinfold_loader_close(loader);
    return text;
}

Test(scenario, entry_77_the_last_batch_has_its_count)
{
    cr_assert_str_eq(counts(8, 0), "8 8 8 8 5 ");
    cr_assert_str_eq(counts(8, 1), "8 8 8 8 ");
    cr_assert_str_eq(counts(64, 0), "37 ");
    cr_assert_str_eq(counts(64, 1), "");
}

Test(scenario, several_loaders_at_once)
{
    pinfold_loader *loaders[8];
    const pinfold_batch *batch;

    for (int i = 0; i < 8; i++) {
        options.workers = i % 4 ? i % 4 : PINFOLD_OFF;
        options.io_threads = i % 3;
        loaders[i] = open_loader();
        start(loaders[i], i);
    }
    for (int n = 0; n < 6; n++) {
        for (int i = 0; i < 8; i++) {
            batch = next(loaders[i]);
            cr_assert_eq(batch == NULL, n == 5);
            if (!batch)
                continue;
            cr_assert(fake_batch_right(&set, batch, batch->data));
            pinfold_batch_release(batch);
        }
    }
    for (int i = 0; i < 8; i++)
        pinfold_loader_close(loaders[i]);
}

Test(scenario, entry_81_an_error_has_its_path_index_and_reason)
{
    pinfold_error err;

    set.bad = 19;
    for (options.workers = 1; options.workers <= 8; options.workers++) {
        const pinfold_batch *batch;
        pinfold_loader *loader;
        pinfold_status status;
        int good = 0, whole = 0;

        options.bad_sample = PINFOLD_BAD_KEEP;
        loader = open_loader();
        start(loader, 0);
        while ((batch = next(loader)) != NULL) {
            cr_assert(fake_batch_right(&set, batch, batch->data));
            good += batch->count - batch->bad_count;
            for (int32_t i = 0; i < batch->count; i++) {
                if (!batch->statuses[i])
                    continue;
                pinfold_batch_error(batch, i, &err);
                cr_assert_eq(err.sample, 19);
                cr_assert_not_null(strstr(err.message, "/c1/0019.png: "), "%s",
                                   err.message);
                cr_assert_not_null(strstr(err.message, "cut short"), "%s",
                                   err.message);
            }
            pinfold_batch_release(batch);
        }
        cr_assert_eq(good, 36);
        pinfold_loader_close(loader);

        options.bad_sample = PINFOLD_BAD_FAIL;
        loader = open_loader();
        start(loader, 0);
        while (!(status = pinfold_loader_next(loader, -1, &batch, &err))) {
            whole++;
            pinfold_batch_release(batch);
        }
        cr_assert_eq(whole, 2, "the third batch has it");
        cr_assert_eq(status, PINFOLD_E_CORRUPT);
        cr_assert_eq(err.sample, 19);
        pinfold_loader_close(loader);
    }
}
