/* SPDX-License-Identifier: Apache-2.0
 * Closes loaders from any state, ROUNDS times: before the start, with a full
 * ring, in the middle of a batch, with lent batches, while another thread
 * cancels.  Every batch that is seen must hold its own samples, and no worker
 * may start a sample after the close. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fakeset.h"

#define SAMPLES 40

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
        if (status == PINFOLD_END || status == PINFOLD_E_STATE)
            return;
        if (status)
            fail("next", &err);
        if (!fake_batch_right(set, batch, batch->data))
            exit(1);
        if (!kept && next_random(random) % 8 == 0)
            kept = batch;
        else
            pinfold_batch_release(batch);
        if (kept && next_random(random) % 4 == 0) {
            pinfold_batch_release(kept);
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
    if (pfi_loader_open(&loader, set->dataset, &options, NULL, &set->reader,
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

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 10000;
    struct fake_set set;
    unsigned random = 1;

    fake_set_open(&set, SAMPLES);
    set.bad = 7;
    for (long i = 0; i < rounds; i++) {
        atomic_store(&set.forbidden, false);
        one_round(&set, &random);
    }
    (void)printf("%ld rounds, %ld samples\n", rounds, atomic_load(&set.reads));
    if (atomic_load(&set.reads) == 0)
        return 1;
    fake_set_close(&set);
    return 0;
}
