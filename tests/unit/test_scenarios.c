/* SPDX-License-Identifier: Apache-2.0
 * The cases' scenarios that a library can show, each named after its entry: 63
 * to 81.  The program's are in tests/cli/scenarios, 83 in stress/test_stuck.c. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"
#include "tests/support/tinypng.h"
#include "tests/support/tree.h"

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

/* How read() behaves for entry 79: at most so many bytes at once, every other
 * call interrupted, and EIO behind the first 4096 bytes. */
static size_t at_once = SIZE_MAX;
static atomic_int interrupts = -1;
static size_t breaks_at = SIZE_MAX;
static size_t done;
static void (*before_read)(void); /* called once */

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size)
{
    void (*const act)(void) = before_read;
    ssize_t n;

    before_read = NULL;
    if (act)
        act();
    if (interrupts >= 0 && interrupts++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (done >= breaks_at) {
        errno = EIO;
        return -1;
    }
    n = __real_read(fd, data, size < at_once ? size : at_once);
    done += n > 0 ? (size_t)n : 0;
    return n;
}

static pinfold_status load_one(const char *root, pinfold_error *err)
{
    pinfold_dataset *dataset;
    unsigned char sample[4 * 4 * 3];
    const int64_t index = 0;
    pinfold_status status;

    cr_assert_eq(pinfold_dataset_open(&dataset, root, NULL, err), PINFOLD_OK,
                 "%s", err->message);
    done = 0;
    status = pinfold_read(dataset, &recipe, &index, 1, sample, sizeof(sample),
                          NULL, err);
    if (!status)
        cr_assert(sample[0] == 1 && sample[1] == 2 && sample[2] == 3);
    pinfold_dataset_close(dataset);
    return status;
}

Test(scenario, entry_79_reads_are_short_interrupted_or_broken)
{
    unsigned char png[8192] = {0}; /* what follows the picture is not read */
    pinfold_error err;
    char root[64];
    FILE *file;

    tree_open(root);
    (void)tiny_png(png, 8, 8, 0x010203);
    tree_file(root, "a/1.png", "");
    file = fopen(tree_path(root, "a/1.png"), "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(png, 1, sizeof(png), file), sizeof(png));
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(load_one(root, &err), PINFOLD_OK, "%s", err.message);
    at_once = 1;
    cr_assert_eq(load_one(root, &err), PINFOLD_OK, "%s", err.message);
    interrupts = 0;
    cr_assert_eq(load_one(root, &err), PINFOLD_OK, "%s", err.message);
    at_once = 512;
    breaks_at = 4096;
    cr_assert_eq(load_one(root, &err), PINFOLD_E_IO);
    cr_assert_eq(err.sys_code, EIO);
    cr_assert_eq(err.sample, 0);
    cr_assert_not_null(strstr(err.message, "/a/1.png: cannot read: "), "%s",
                       err.message);
    cr_assert_not_null(strstr(err.message, root));
    interrupts = -1;
    breaks_at = at_once = SIZE_MAX;
    tree_close(root);
}

/* ------------------------------------------------- not of the cases' list --- */

static char tree[64];

static void write_png(const char *name, uint32_t colour)
{
    unsigned char png[TINY_PNG_MAX];
    const size_t size = tiny_png(png, 8, 8, colour);
    FILE *const file = fopen(tree_path(tree, name), "wb");

    cr_assert_not_null(file);
    cr_assert_eq(fwrite(png, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

static void cut(void)
{
    cr_assert_eq(truncate(tree_path(tree, "a/1.png"), 20), 0);
}

static void replace(void)
{
    char from[256];

    write_png("a/new", 0x999999);
    (void)snprintf(from, sizeof(from), "%s", tree_path(tree, "a/new"));
    cr_assert_eq(rename(from, tree_path(tree, "a/1.png")), 0);
}

static void take_away(void)
{
    cr_assert_eq(unlink(tree_path(tree, "a/1.png")), 0);
}

static void lengthen(void)
{
    FILE *const file = fopen(tree_path(tree, "a/1.png"), "ab");

    cr_assert_not_null(file);
    for (int i = 0; i < 100000; i++)
        (void)fputc(0, file);
    cr_assert_eq(fclose(file), 0);
}

/* Between fstat() and read(): an error, or the file that was opened. */
Test(scenario, a_file_changes_while_it_is_read)
{
    void (*const changes[])(void) = {replace, take_away, lengthen};
    pinfold_error err;

    tree_open(tree);
    tree_file(tree, "a/1.png", "");
    write_png("a/1.png", 0x010203);
    before_read = cut;
    cr_assert_eq(load_one(tree, &err), PINFOLD_E_IO);
    cr_assert_not_null(strstr(err.message, "the file shrank to 20 of "), "%s",
                       err.message);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        write_png("a/1.png", 0x010203);
        before_read = changes[i];
        cr_assert_eq(load_one(tree, &err), PINFOLD_OK, "%s", err.message);
    }
    tree_close(tree);
}

Test(scenario, a_folder_goes_in_mid_epoch)
{
    const pinfold_batch *batch;
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;
    char aside[256];

    tree_open(tree);
    tree_file(tree, "a/1.png", "");
    tree_file(tree, "b/1.png", "");
    write_png("a/1.png", 0x010203);
    write_png("b/1.png", 0x010203);
    options.workers = PINFOLD_OFF;
    options.batch_size = 1;
    cr_assert_eq(pinfold_dataset_open(&dataset, tree, NULL, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_open(&loader, dataset, &options, &err),
                 PINFOLD_OK);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        start(loader, epoch);
        batch = next(loader);
        cr_assert_eq(batch->bad_count, 0);
        pinfold_batch_release(batch);
        (void)snprintf(aside, sizeof(aside), "%s", tree_path(tree, "b.aside"));
        cr_assert_eq(rename(tree_path(tree, "b"), aside), 0);
        batch = next(loader);
        cr_assert_eq(batch->statuses[0], PINFOLD_E_IO);
        pinfold_batch_error(batch, 0, &err);
        cr_assert_eq(err.sys_code, ENOENT);
        cr_assert_not_null(strstr(err.message, "/b/1.png: cannot open: "));
        pinfold_batch_release(batch);
        cr_assert_null(next(loader));
        cr_assert_eq(rename(aside, tree_path(tree, "b")), 0);
    }
    pinfold_loader_close(loader);
    pinfold_dataset_close(dataset);
    tree_close(tree);
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
