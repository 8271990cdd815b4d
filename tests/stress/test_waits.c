/* SPDX-License-Identifier: Apache-2.0
 * Who waits for whom, on a simulated clock: the caller where loading is the
 * bottleneck, the workers where the caller is, however many workers there are. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/scene.h"

#define BATCHES 20
#define READ_NS 1000

static struct scene scene;

static void fail(const char *what, const pinfold_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

static void run_epoch(uint64_t caller_ns)
{
    const pinfold_batch *batch;
    pinfold_status status;
    pinfold_error err;

    if (pinfold_loader_start(scene.loader, 0, &err))
        fail("start", &err);
    while (!(status = pinfold_loader_next(scene.loader, -1, &batch, &err))) {
        sim_sleep(caller_ns);
        pinfold_batch_release(batch);
    }
    if (status < 0)
        fail("next", &err);
}

static int check(struct fake_set *set, int32_t workers, uint64_t caller_ns)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    pinfold_error err;
    uint64_t start, all;
    bool right;

    scene_begin(&scene, set, 1);
    set->read_ns = READ_NS;
    scene.options.upload = PINFOLD_UPLOAD_OFF;
    scene.options.workers = workers;
    scene.options.slots = 3;
    if (scene_open(&scene, &err))
        fail("open", &err);
    start = sim_now();
    run_epoch(caller_ns);
    all = sim_now() - start;
    pinfold_loader_stats(scene.loader, &stats);
    right = (stats.caller_wait_ns > stats.worker_wait_ns) == !caller_ns &&
            stats.caller_wait_ns <= all && stats.worker_wait_ns <= all &&
            (caller_ns ? stats.worker_wait_ns : stats.caller_wait_ns) > all / 2;
    (void)fprintf(right ? stdout : stderr,
                  "%d workers, the caller's work %llu: of %llu ns it waited "
                  "%llu, they %llu\n",
                  workers, (unsigned long long)caller_ns,
                  (unsigned long long)all,
                  (unsigned long long)stats.caller_wait_ns,
                  (unsigned long long)stats.worker_wait_ns);
    return scene_end(&scene, "waits") || !right;
}

int main(void)
{
    static const int32_t workers[] = {1, 2, 12, 60};
    struct fake_set set;
    int failed = 0;

    fake_set_open(&set, BATCHES * SCENE_BATCH);
    for (size_t w = 0; w < sizeof(workers) / sizeof(workers[0]); w++) {
        failed |= check(&set, workers[w], 0);
        failed |= check(&set, workers[w], 100 * READ_NS);
    }
    fake_set_close(&set);
    return failed;
}
