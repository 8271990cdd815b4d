/* SPDX-License-Identifier: Apache-2.0
 * The events of a run: each stage, copy and wait once, in its lane, at a time
 * that can be. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"

#define SAMPLES 37
#define BATCHES 10
#define MOST 1000

static struct fake_set set;
static struct fake_gpu *fake;
static pinfold_recipe recipe;
static pinfold_loader_options options;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pinfold_trace_event events[MOST];
static int n_events;

static void keep(void *cookie, const pinfold_trace_event *event)
{
    pthread_mutex_lock(&lock);
    cr_assert_eq(cookie, (void *)&n_events);
    cr_assert_lt(n_events, MOST);
    cr_assert_eq(event->struct_size, sizeof(*event));
    cr_assert_eq(event->reserved, 0);
    events[n_events++] = *event;
    pthread_mutex_unlock(&lock);
}

static const pinfold_trace trace = {sizeof(trace), &n_events, keep};

static void setup(void)
{
    fake_set_open(&set, SAMPLES);
    fake = fake_gpu_start(1);
    cr_assert_not_null(fake);
    recipe = fake_recipe();
    options = pinfold_loader_options_default();
    options.recipe = &recipe;
    options.batch_size = 4;
    options.workers = 3;
    options.trace = &trace;
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    n_events = 0;
}

static void teardown(void)
{
    fake_gpu_end(fake);
    fake_set_close(&set);
}

TestSuite(trace, .init = setup, .fini = teardown, .timeout = 60);

static void run(void)
{
    const pinfold_batch *batch;
    pinfold_loader *loader;
    pinfold_error err;
    pinfold_status status;

    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options,
                                 fake_gpu_table(fake), &set.reader, &err),
                 PINFOLD_OK, "%s", err.message);
    cr_assert_eq(pinfold_loader_start(loader, 5, &err), PINFOLD_OK);
    while (!(status = pinfold_loader_next(loader, -1, &batch, &err)))
        cr_assert_eq(pinfold_batch_release_after(batch, NULL, &err),
                     PINFOLD_OK);
    cr_assert_eq(status, PINFOLD_END);
    pinfold_loader_close(loader);
}

/* How many events have this name; all must be in this lane. */
static int count(const char *name, pinfold_lane lane)
{
    int n = 0;

    for (int i = 0; i < n_events; i++) {
        if (strcmp(events[i].name, name))
            continue;
        cr_assert_eq(events[i].lane, lane, "%s", name);
        n++;
    }
    return n;
}

static const pinfold_trace_event *find(const char *name, int64_t sample)
{
    const pinfold_trace_event *found = NULL;

    for (int i = 0; i < n_events; i++) {
        if (strcmp(events[i].name, name) || events[i].sample != sample)
            continue;
        cr_assert_null(found, "%s of sample %d twice", name, (int)sample);
        found = &events[i];
    }
    cr_assert_not_null(found, "%s of sample %d", name, (int)sample);
    return found;
}

static int compare(const void *a, const void *b)
{
    const pinfold_trace_event *const x = a, *const y = b;

    if (x->lane != y->lane)
        return (int)x->lane - (int)y->lane;
    if (x->lane_index != y->lane_index)
        return x->lane_index - y->lane_index;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Nothing does two things at once. */
static void check_times(void)
{
    qsort(events, (size_t)n_events, sizeof(events[0]), compare);
    for (int i = 0; i < n_events; i++) {
        const pinfold_trace_event *const e = &events[i];

        cr_assert_leq(e->start_ns, e->end_ns, "%s", e->name);
        if (i && e[-1].lane == e->lane && e[-1].lane_index == e->lane_index)
            cr_assert_leq(e[-1].end_ns, e->start_ns, "%s, %s", e[-1].name,
                          e->name);
    }
}

Test(trace, every_stage_is_told_once)
{
    set.bad = 7;
    run();
    cr_assert_eq(count("read", PINFOLD_LANE_WORKER), SAMPLES);
    cr_assert_eq(count("make", PINFOLD_LANE_WORKER), SAMPLES);
    cr_assert_eq(count("queue", PINFOLD_LANE_DEVICE), BATCHES);
    cr_assert_eq(count("wait for the copy", PINFOLD_LANE_DEVICE), BATCHES);
    cr_assert_eq(count("copy", PINFOLD_LANE_STREAM), BATCHES);
    cr_assert_eq(count("next", PINFOLD_LANE_CALLER), BATCHES + 1);
    cr_assert_eq(count("wait for the consumer", PINFOLD_LANE_DEVICE), 0);
    for (int64_t i = 0; i < SAMPLES; i++) {
        const pinfold_trace_event *const read = find("read", i);
        const pinfold_trace_event *const made = find("make", i);

        cr_assert(read->epoch == 5 && read->batch == i / 4);
        cr_assert(made->epoch == 5 && made->batch == i / 4);
        cr_assert_eq(made->lane_index, read->lane_index);
        cr_assert(read->lane_index >= 0 && read->lane_index < 3);
        cr_assert_leq(read->end_ns, made->start_ns);
        cr_assert_leq(made->decode_ns + made->transform_ns,
                      made->end_ns - made->start_ns);
        cr_assert_eq(read->status, PINFOLD_OK);
        cr_assert_eq(made->status != PINFOLD_OK, i == 7);
        cr_assert_gt(made->decode_ns, 0);
    }
    check_times();
}

Test(trace, the_calling_threads_own_work_is_in_its_lane)
{
    options.workers = PINFOLD_OFF;
    options.upload = PINFOLD_UPLOAD_OFF;
    options.memory = PINFOLD_MEMORY_PINNED;
    run();
    cr_assert_eq(count("read", PINFOLD_LANE_CALLER), SAMPLES);
    cr_assert_eq(count("make", PINFOLD_LANE_CALLER), SAMPLES);
    cr_assert_eq(count("copy", PINFOLD_LANE_STREAM), 0);
    cr_assert_gt(count("wait for the consumer", PINFOLD_LANE_DEVICE), 0);
    for (int i = 0; i < n_events; i++) {
        const pinfold_trace_event *const next = &events[i];

        if (strcmp(next->name, "make"))
            continue;
        for (int k = i + 1; k < n_events; k++) {
            if (strcmp(events[k].name, "next"))
                continue;
            cr_assert_leq(events[k].start_ns, next->start_ns, "inside a next");
            break;
        }
    }
}

Test(trace, a_failed_copy_has_its_status)
{
    pinfold_loader *loader;
    const pinfold_batch *batch;
    pinfold_error err;

    fake_gpu_refuse(fake, "cudaMemcpyAsync", 700);
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options,
                                 fake_gpu_table(fake), &set.reader, &err),
                 PINFOLD_OK);
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_E_CUDA);
    pinfold_loader_close(loader);
    cr_assert_eq(count("copy", PINFOLD_LANE_STREAM), 1);
    cr_assert_eq(count("wait for the copy", PINFOLD_LANE_DEVICE), 0);
    for (int i = 0; i < n_events; i++)
        if (events[i].lane == PINFOLD_LANE_STREAM)
            cr_assert_eq(events[i].status, PINFOLD_E_CUDA);
}

Test(trace, what_cannot_be_read_is_not_made)
{
    uint64_t limit = UINT64_MAX;

    options.upload = PINFOLD_UPLOAD_OFF;
    set.reader = pfi_reader_files(&limit);
    fake_set_remove(&set, 3);
    run();
    cr_assert_eq(count("read", PINFOLD_LANE_WORKER), SAMPLES);
    cr_assert_eq(count("make", PINFOLD_LANE_WORKER), SAMPLES - 1);
    cr_assert_eq(find("read", 3)->status, PINFOLD_E_IO);
    cr_assert_eq(find("read", 4)->status, PINFOLD_OK);
}

Test(trace, a_trace_needs_its_function)
{
    const pinfold_trace none = {.struct_size = sizeof(none)};
    pinfold_loader *loader;
    pinfold_error err;

    options.trace = &none;
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options,
                                 fake_gpu_table(fake), &set.reader, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, "trace"), "%s", err.message);
}
