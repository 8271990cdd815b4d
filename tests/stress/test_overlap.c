/* SPDX-License-Identifier: Apache-2.0
 * Decoding and copying overlap.  With decode time d and copy time c a batch, an
 * epoch of n batches takes at most 1.15 (n max(d, c) + d + c), on a simulated
 * clock, and host slots are filled while another's copy runs. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/scene.h"

#define BATCHES 40
#define SAMPLES (BATCHES * SCENE_BATCH)
#define UNIT 1000 /* ns; the shorter of d and c */

static struct scene scene;
static long n_reads, n_reads_in_copies;

static void sleep_and_look(uint64_t ns)
{
    if (ns) {
        n_reads++;
        n_reads_in_copies += fake_gpu_live(scene.fake).pending > 0;
    }
    sim_sleep(ns);
}

static void fail(const char *what, const pinfold_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

/* From the start until the last batch is on the device. */
static uint64_t run_epoch(int64_t epoch)
{
    const uint64_t start = sim_now();
    const pinfold_batch *batch;
    pinfold_status status;
    pinfold_error err;

    if (pinfold_loader_start(scene.loader, epoch, &err))
        fail("start", &err);
    while (!(status = pinfold_loader_next(scene.loader, -1, &batch, &err))) {
        scene_work(&scene, batch, 0, 0);
        if (pinfold_batch_release_after(batch, scene.streams[0], &err))
            fail("release_after", &err);
    }
    if (status < 0)
        fail("next", &err);
    fake_gpu_run(scene.fake, scene.streams[0]);
    return sim_now() - start;
}

/* How long an epoch takes over n max(d, c) + d + c; below 0 where it fails.
 * Where the device normalises, c is a ninth longer: the kernel's time. */
static double measure(struct fake_set *set, int32_t workers, int32_t slots,
                      uint64_t d, uint64_t c, bool normalize)
{
    struct fake_world world = sim_world;
    char what[96];
    pinfold_error err;
    uint64_t worst = 0;

    world.sleep = sleep_and_look;
    scene_begin(&scene, set, 1);
    set->world = &world;
    set->read_ns = d * (uint64_t)(workers > 0 ? workers : 1) / SCENE_BATCH;
    fake_gpu_speed(scene.fake, c, 1e9);
    if (normalize) {
        scene_normalize(&scene);
        c += 1 + c / 8;
    }
    scene.options.workers = workers;
    scene.options.slots = slots;
    n_reads = n_reads_in_copies = 0;
    if (scene_open(&scene, &err))
        fail("open", &err);
    for (int64_t epoch = 0; epoch < 3; epoch++) {
        const uint64_t ns = run_epoch(epoch);

        worst = ns > worst ? ns : worst;
    }
    (void)snprintf(what, sizeof(what),
                   "%d workers, %d slots, d %llu, c %llu, on the device %d",
                   workers, slots, (unsigned long long)d, (unsigned long long)c,
                   normalize);
    if (scene_end(&scene, what))
        return -1;
    return (double)worst / (double)(BATCHES * (d > c ? d : c) + d + c);
}

static double worst;
static long runs;

/* Both ways of uploading; false, after saying how, where a bound is broken. */
static bool check(struct fake_set *set, int32_t workers, int32_t slots,
                  uint64_t d, uint64_t c)
{
    bool good = true;

    for (int normalize = 0; normalize < 2; normalize++, runs++) {
        const double over = measure(set, workers, slots, d, c, normalize);

        worst = over > worst ? over : worst;
        if (over >= 0 && over <= 1.15 && n_reads_in_copies > 0 &&
            n_reads == 3 * SAMPLES)
            continue;
        good = false;
        (void)fprintf(stderr,
                      "%d workers, %d slots, d %llu, c %llu, on the device %d: "
                      "%.3f of the bound's measure; %ld of %ld samples were "
                      "made during a copy\n",
                      workers, slots, (unsigned long long)d,
                      (unsigned long long)c, normalize, over, n_reads_in_copies,
                      n_reads);
    }
    return good;
}

int main(void)
{
    static const int32_t workers[] = {PINFOLD_OFF, 1, 2, 4};
    struct fake_set set;
    int failed = 0;

    fake_set_open(&set, SAMPLES);
    for (size_t w = 0; w < sizeof(workers) / sizeof(workers[0]); w++)
        for (int32_t slots = 2; slots <= 4; slots++)
            for (int ratio = -3; ratio <= 3; ratio++)
                failed |= !check(&set, workers[w], slots,
                                 ratio > 0 ? (uint64_t)UNIT << ratio : UNIT,
                                 ratio < 0 ? (uint64_t)UNIT << -ratio : UNIT);
    (void)printf("%ld pairs of times; the longest epoch is %.3f (n max(d, c) + "
                 "d + c)\n",
                 runs, worst);
    fake_set_close(&set);
    return failed;
}
