/* SPDX-License-Identifier: Apache-2.0
 * Closes loaders from any state, ROUNDS times: before the start, with a full
 * ring, in the middle of a batch, with lent batches, while another thread
 * cancels, with and without uploads.  Every batch that is seen must hold its
 * own samples, and no worker may start a sample after the close. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/load/sample.h"
#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"

#define SAMPLES 40

static struct fake_gpu *fake;
static const struct pfi_gpu *gpu;
static void *consumer; /* a stream */

static atomic_bool *forbidden; /* the set's */

pinfold_status __real_pfi_sample_make(
    const struct pfi_task *task, uint64_t seed, struct pfi_arena *arena,
    const void *data, size_t size, void *dst, struct pfi_times *times,
    pinfold_error *err);
pinfold_status __wrap_pfi_sample_make(
    const struct pfi_task *task, uint64_t seed, struct pfi_arena *arena,
    const void *data, size_t size, void *dst, struct pfi_times *times,
    pinfold_error *err);

pinfold_status __wrap_pfi_sample_make(
    const struct pfi_task *task, uint64_t seed, struct pfi_arena *arena,
    const void *data, size_t size, void *dst, struct pfi_times *times,
    pinfold_error *err)
{
    if (atomic_load(forbidden)) {
        (void)fprintf(stderr, "a sample was begun after the close\n");
        abort();
    }
    return __real_pfi_sample_make(task, seed, arena, data, size, dst, times,
                                  err);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void fail(const char *what, const pinfold_error *err)
{
    (void)fprintf(stderr, "%s: %s: %s\n", what,
                  pinfold_status_name(err->status), err->message);
    exit(1);
}

static void *cancel(void *loader)
{
    pinfold_loader_cancel(loader);
    return NULL;
}

/* Ends the program where the batch does not hold its samples. */
static void check(const struct fake_set *set, const pinfold_batch *batch)
{
    if (batch->ready_event && gpu->event_wait(gpu->cookie, batch->ready_event))
        exit(1);
    if (!fake_batch_right(
            set, batch, batch->device_data ? batch->device_data : batch->data))
        exit(1);
}

static void give_back(const pinfold_batch *batch, unsigned *random)
{
    pinfold_error err;

    if (!batch->device_data || next_random(random) % 3 == 0)
        pinfold_batch_release(batch);
    else if (pinfold_batch_release_after(batch, consumer, &err))
        fail("release_after", &err);
}

/* Takes up to `most` batches, keeps some and gives others back late. */
static void take(const struct fake_set *set, pinfold_loader *loader, int most,
                 unsigned *random)
{
    const pinfold_batch *batch, *kept = NULL;
    pinfold_error err;

    for (int i = 0; i < most; i++) {
        const int32_t wait = next_random(random) % 4 ? -1 : 0;
        const pinfold_status status =
            pinfold_loader_next(loader, wait, &batch, &err);

        if (status == PINFOLD_TIMEOUT)
            continue;
        if (status == PINFOLD_END || status == PINFOLD_E_STATE ||
            status == PINFOLD_E_CANCELLED)
            return;
        if (status)
            fail("next", &err);
        check(set, batch);
        if (!kept && next_random(random) % 8 == 0)
            kept = batch;
        else
            give_back(batch, random);
        if (kept && next_random(random) % 4 == 0) {
            give_back(kept, random);
            kept = NULL;
        }
    }
}

static void one_round(struct fake_set *set, unsigned *random)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    const pinfold_recipe recipe = fake_recipe();
    const int epochs = (int)(next_random(random) % 3);
    pinfold_loader *loader;
    pinfold_error err;
    pthread_t canceller;
    int cancels;

    options.recipe = &recipe;
    options.workers = (int32_t)(next_random(random) % 4);
    if (!options.workers)
        options.workers = PINFOLD_OFF;
    options.io_threads = (int32_t)(next_random(random) % 4);
    options.slots = 1 + (int32_t)(next_random(random) % 3);
    options.batch_size = 1 + (int32_t)(next_random(random) % 9);
    options.shuffle = (int32_t)(next_random(random) % 2);
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    if (next_random(random) % 2) {
        options.upload = PINFOLD_UPLOAD_REQUIRE;
        options.memory = PINFOLD_MEMORY_AUTO;
    }
    if (pfi_loader_open(&loader, set->dataset, &options, gpu, &set->reader,
                        &err))
        fail("open", &err);
    for (int e = 0; e < epochs; e++) {
        if (pinfold_loader_start(loader, e, &err))
            fail("start", &err);
        cancels = next_random(random) % 4 == 0 &&
                  !pthread_create(&canceller, NULL, cancel, loader);
        take(set, loader, (int)(next_random(random) % 12), random);
        if (cancels)
            pthread_join(canceller, NULL);
    }
    pinfold_loader_close(loader);
    atomic_store(&set->forbidden, true);
}

static void begin_device(void)
{
    fake = fake_gpu_start(1);
    if (!fake)
        exit(2);
    gpu = fake_gpu_table(fake);
    if (gpu->use_device(gpu->cookie, 0) ||
        gpu->stream_create(gpu->cookie, &consumer))
        exit(2);
}

/* Returns the number of copies. */
static long end_device(void)
{
    struct fake_live live;
    const char *wrong;
    long copies;

    if (gpu->stream_destroy(gpu->cookie, consumer))
        exit(1);
    live = fake_gpu_live(fake);
    wrong = live.pins + live.allocs + live.streams + live.events
                ? "something was not freed"
                : fake_gpu_misuse(fake);
    if (wrong) {
        (void)fprintf(stderr, "the device: %s\n", wrong);
        exit(1);
    }
    copies = fake_gpu_pinned_copies(fake);
    fake_gpu_end(fake);
    return copies;
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 10000;
    struct fake_set set;
    unsigned random = 1;
    long copies = 0;

    fake_set_open(&set, SAMPLES);
    set.bad = 7;
    forbidden = &set.forbidden;
    for (long i = 0; i < rounds;) {
        begin_device();
        do {
            atomic_store(&set.forbidden, false);
            one_round(&set, &random);
        } while (++i < rounds && i % 100);
        copies += end_device();
    }
    (void)printf("%ld rounds, %ld samples, %ld copies\n", rounds,
                 atomic_load(&set.reads), copies);
    if (atomic_load(&set.reads) == 0 || (rounds > 100 && copies == 0))
        return 1;
    fake_set_close(&set);
    return 0;
}
