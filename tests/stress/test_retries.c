/* SPDX-License-Identifier: Apache-2.0
 * Files that fail for a moment are read again, on simulated threads and time:
 * an epoch is whole, a file that stays away is one bad sample, and a cancel, a
 * start or a close ends the waits at once. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fakeset.h"
#include "tests/support/sim.h"

#define SAMPLES 23
#define BATCH 4
#define MS UINT64_C(1000000)
#define FOR_EVER 1000000

/* A reader in front of the set's: a sample's first reads fail. */
struct store {
    struct fake_set set;
    int failures[SAMPLES]; /* that are left; a sample is read by one thread */
    pinfold_loader *loader;
};

static struct store store;

static void fail(const char *what)
{
    (void)fprintf(stderr, "%s, at %llu ns\n", what,
                  (unsigned long long)sim_now());
    exit(1);
}

static pinfold_status read_or_fail(void *cookie, int root_fd, const char *path,
                                   struct pfi_arena *arena, const void **data,
                                   size_t *size, pinfold_error *err)
{
    struct store *const s = cookie;
    int *const left = &s->failures[atoi(strchr(path, '/') + 1)];

    sim_sleep(1 * MS);
    if (*left > 0) {
        --*left;
        return pfi_fail(err, PINFOLD_E_IO, EIO,
                        "reading at byte 7: Input/output error");
    }
    return s->set.reader.read(s->set.reader.cookie, root_fd, path, arena, data,
                              size, err);
}

static void open_loader(int32_t workers, int32_t io_threads, int32_t retries)
{
    const pinfold_recipe recipe = fake_recipe();
    const struct pfi_reader reader = {&store, read_or_fail};
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_error err;

    options.recipe = &recipe;
    options.batch_size = BATCH;
    options.workers = workers;
    options.io_threads = io_threads;
    options.io_retries = retries;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    if (pfi_loader_open(&store.loader, store.set.dataset, &options, NULL,
                        &reader, &err))
        fail(err.message);
}

static void start(int64_t epoch)
{
    pinfold_error err;

    if (pinfold_loader_start(store.loader, epoch, &err))
        fail(err.message);
}

/* Takes an epoch, where `away` (or -1) is a bad sample; the message of it must
 * hold `words`. */
static void take_epoch(int away, const char *words)
{
    const pinfold_batch *batch;
    int64_t seen = 0;
    pinfold_status status;
    pinfold_error err;

    store.set.bad = away;
    while (!(status = pinfold_loader_next(store.loader, -1, &batch, &err))) {
        if (!fake_batch_right(&store.set, batch, batch->data))
            fail("a wrong batch");
        for (int32_t i = 0; i < batch->count; i++) {
            pinfold_batch_error(batch, i, &err);
            if (batch->statuses[i] &&
                (err.sys_code != EIO || !strstr(err.message, words) ||
                 !strstr(err.message, store.set.root)))
                fail(err.message);
        }
        seen += batch->count;
        pinfold_batch_release(batch);
    }
    if (status != PINFOLD_END || seen != SAMPLES)
        fail("an epoch is not whole");
}

static uint64_t retries(void)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};

    pinfold_loader_stats(store.loader, &stats);
    return stats.read_retries;
}

static void fail_reads(int sample, int times)
{
    memset(store.failures, 0, sizeof(store.failures));
    store.failures[sample] = times;
}

/* All of them fail one to three times. */
static void whole(int32_t workers, int32_t io_threads)
{
    uint64_t wanted = 0;

    open_loader(workers, io_threads, 0);
    for (int i = 0; i < SAMPLES; i++) {
        store.failures[i] = i % 4;
        wanted += (uint64_t)(i % 4);
    }
    start(0);
    take_epoch(-1, "");
    if (retries() != wanted)
        fail("retries are miscounted");
    pinfold_loader_close(store.loader);
}

static void away(int32_t workers, int32_t io_threads)
{
    open_loader(workers, io_threads, 2);
    fail_reads(5, FOR_EVER);
    start(0);
    take_epoch(5, "reading at byte 7: Input/output error, after 3 attempts");
    fail_reads(5, 0);
    start(1);
    take_epoch(-1, "");
    pinfold_loader_close(store.loader);
    open_loader(workers, io_threads, PINFOLD_OFF);
    fail_reads(5, 1);
    start(0);
    take_epoch(5, "reading at byte 7: Input/output error");
    if (retries())
        fail("read again, though that is off");
    pinfold_loader_close(store.loader);
}

static void *cancel(void *argument)
{
    sim_sleep(*(const uint64_t *)argument);
    pinfold_loader_cancel(store.loader);
    return NULL;
}

/* The first sample stays away: next waits for it, for seconds. */
static void cancelled(int32_t workers, int32_t io_threads)
{
    const pinfold_batch *batch;
    uint64_t ns = 1000 * MS, before;
    pthread_t thread;
    pinfold_error err;

    open_loader(workers, io_threads, 50);
    fail_reads(0, FOR_EVER);
    start(0);
    if (pthread_create(&thread, NULL, cancel, &ns))
        fail("no thread");
    before = sim_now();
    if (pinfold_loader_next(store.loader, -1, &batch, &err) != PINFOLD_E_CANCELLED)
        fail("not cancelled");
    if (sim_now() - before > ns + 10 * MS)
        fail("a cancel came late");
    pthread_join(thread, NULL);
    fail_reads(0, 1);
    before = sim_now();
    start(1);
    if (sim_now() - before > 10 * MS)
        fail("a start behind a cancel came late");
    take_epoch(-1, "");
    pinfold_loader_close(store.loader);
}

/* Workers wait between attempts; a start, then a close, come meanwhile. */
static void left(int32_t workers, int32_t io_threads)
{
    uint64_t before;

    open_loader(workers, io_threads, 50);
    fail_reads(1, FOR_EVER);
    start(0);
    sim_sleep(1000 * MS);
    before = sim_now();
    start(1);
    if (sim_now() - before > 10 * MS)
        fail("a start came late");
    sim_sleep(1000 * MS);
    before = sim_now();
    pinfold_loader_close(store.loader);
    if (sim_now() - before > 10 * MS)
        fail("a close came late");
}

int main(int argc, char **argv)
{
    static const int32_t workers[] = {PINFOLD_OFF, 1, 3};
    static const int32_t io_threads[] = {0, 2};
    const uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
    long lives = 0;

    fake_set_open(&store.set, SAMPLES);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        for (int w = 0; w < 3; w++)
            for (int t = 0; t < 2; t++, lives += 4) {
                sim_begin(seed);
                whole(workers[w], io_threads[t]);
                away(workers[w], io_threads[t]);
                cancelled(workers[w], io_threads[t]);
                left(workers[w], io_threads[t]);
                sim_end();
            }
    fake_set_close(&store.set);
    (void)printf("%ld lives of a loader, retries right in all\n", lives);
    return 0;
}
