/* SPDX-License-Identifier: Apache-2.0
 * Writes the trace of an epoch on a simulated clock, with a fake device: the
 * same bytes each time, for a picture where there is no device.
 * usage: simulate_trace FILE */
#include <stdio.h>
#include <stdlib.h>

#include "src/cli/trace.h"
#include "src/load/sample.h"
#include "tests/support/scene.h"

#define SAMPLES 40
#define READ_NS 60000
#define COPY_NS 1300000
#define WORK_NS 500000

pinfold_status __real_pfi_sample_make(const struct pfi_task *task,
                                      uint64_t seed, struct pfi_arena *arena,
                                      const void *data, size_t size, void *dst,
                                      struct pfi_times *times,
                                      pinfold_error *err);
pinfold_status __wrap_pfi_sample_make(const struct pfi_task *task,
                                      uint64_t seed, struct pfi_arena *arena,
                                      const void *data, size_t size, void *dst,
                                      struct pfi_times *times,
                                      pinfold_error *err);

/* A picture takes 0.5 to 1.1 ms. */
pinfold_status __wrap_pfi_sample_make(const struct pfi_task *task,
                                      uint64_t seed, struct pfi_arena *arena,
                                      const void *data, size_t size, void *dst,
                                      struct pfi_times *times,
                                      pinfold_error *err)
{
    const uint64_t ns = 500000 + sim_random() % 600000;

    sim_sleep(ns);
    times->decode_ns += ns;
    return __real_pfi_sample_make(task, seed, arena, data, size, dst, times,
                                  err);
}

static void must(pinfold_status status, const pinfold_error *err)
{
    if (status >= 0)
        return;
    (void)fprintf(stderr, "simulate_trace: %s\n", err->message);
    exit(1);
}

static void run_epoch(struct scene *s)
{
    const pinfold_batch *batch;
    pinfold_status status;
    pinfold_error err;

    must(pinfold_loader_start(s->loader, 0, &err), &err);
    while (!(status = pinfold_loader_next(s->loader, -1, &batch, &err))) {
        scene_work(s, batch, 0, WORK_NS);
        must(pinfold_batch_release_after(batch, s->streams[0], &err), &err);
        sim_sleep(100000);
    }
    must(status, &err);
    fake_gpu_run(s->fake, s->streams[0]);
}

int main(int argc, char **argv)
{
    static struct scene scene;
    struct pfi_cli_trace trace;
    struct fake_set set;
    pinfold_error err;
    int failed;

    if (argc != 2 || !pfi_cli_trace_open(&trace, argv[1]))
        return 2;
    trace.start_ns = 0; /* the simulation's */
    fake_set_open(&set, SAMPLES);
    scene_begin(&scene, &set, 1);
    set.read_ns = READ_NS;
    fake_gpu_speed(scene.fake, COPY_NS, 1e9);
    scene.options.trace = &trace.callback;
    scene.options.workers = 2;
    scene.options.slots = 3;
    scene_normalize(&scene);
    must(scene_open(&scene, &err), &err);
    run_epoch(&scene);
    failed = scene_end(&scene, "simulate_trace");
    fake_set_close(&set);
    return !pfi_cli_trace_close(&trace, 2) || failed;
}
