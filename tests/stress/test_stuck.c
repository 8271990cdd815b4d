/* SPDX-License-Identifier: Apache-2.0
 * Scenario 83 of the cases, a read that never returns: next() names the file,
 * start() and close() do not wait for it, and what the thread holds is freed when
 * it wakes.  After a cancel or a close no sample is begun. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/load/sample.h"
#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"

#define SAMPLES 24
#define BATCH 4
#define STUCK 5
#define ALL -2
#define NONE -1

#define CHECK(what)                                                           \
    do {                                                                      \
        if (!(what)) {                                                        \
            (void)fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what,       \
                          error.message);                                     \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

static struct fake_set set;
static pinfold_error error;
static atomic_long makes;
static atomic_bool forbidden; /* a make ends the program */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int stops;  /* reads of this sample, or ALL or NONE */
    bool shut;  /* until it is opened */
    int inside; /* reads that it holds */
    int closes; /* of the data set: the last that a loader does */
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER};

pinfold_status __real_pfi_sample_make(
    const struct pfi_task *task, uint64_t seed, struct pfi_arena *arena,
    const void *data, size_t size, void *dst, struct pfi_times *times,
    pinfold_error *err);
void __real_pinfold_dataset_close(pinfold_dataset *dataset);
pinfold_status __wrap_pfi_sample_make(
    const struct pfi_task *task, uint64_t seed, struct pfi_arena *arena,
    const void *data, size_t size, void *dst, struct pfi_times *times,
    pinfold_error *err);
void __wrap_pinfold_dataset_close(pinfold_dataset *dataset);

pinfold_status __wrap_pfi_sample_make(
    const struct pfi_task *task, uint64_t seed, struct pfi_arena *arena,
    const void *data, size_t size, void *dst, struct pfi_times *times,
    pinfold_error *err)
{
    atomic_fetch_add(&makes, 1);
    if (atomic_load(&forbidden)) {
        (void)fprintf(stderr, "a sample was begun after the close\n");
        abort();
    }
    return __real_pfi_sample_make(task, seed, arena, data, size, dst, times,
                                  err);
}

void __wrap_pinfold_dataset_close(pinfold_dataset *dataset)
{
    __real_pinfold_dataset_close(dataset);
    pthread_mutex_lock(&gate.lock);
    gate.closes++;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static pinfold_status read_gated(void *cookie, int root_fd, const char *path,
                                 struct pfi_arena *arena, const void **data,
                                 size_t *size, pinfold_error *err)
{
    const int i = atoi(strchr(path, '/') + 1);

    (void)cookie;
    pthread_mutex_lock(&gate.lock);
    if (gate.stops == ALL || gate.stops == i) {
        gate.inside++;
        pthread_cond_broadcast(&gate.changed);
        while (gate.shut)
            pthread_cond_wait(&gate.changed, &gate.lock);
        gate.inside--;
    }
    pthread_mutex_unlock(&gate.lock);
    return set.reader.read(set.reader.cookie, root_fd, path, arena, data, size,
                           err);
}

static void shut_gate(int stops)
{
    pthread_mutex_lock(&gate.lock);
    gate.stops = stops;
    gate.shut = true;
    gate.closes = 0;
    pthread_mutex_unlock(&gate.lock);
}

/* Those that come from now on pass. */
static void let_pass(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.stops = NONE;
    pthread_mutex_unlock(&gate.lock);
}

static void await_inside(int n)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.inside < n)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.shut = false;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static void await_free(void)
{
    pthread_mutex_lock(&gate.lock);
    while (!gate.closes)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static pinfold_loader *open_loader(int workers, int io_threads,
                                   const struct pfi_gpu *gpu)
{
    static const struct pfi_reader reader = {NULL, read_gated};
    const pinfold_recipe recipe = fake_recipe();
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_loader *loader = NULL;

    options.recipe = &recipe;
    options.workers = workers ? workers : PINFOLD_OFF;
    options.io_threads = io_threads;
    options.batch_size = BATCH;
    options.memory = gpu ? PINFOLD_MEMORY_AUTO : PINFOLD_MEMORY_PAGEABLE;
    options.upload = gpu ? PINFOLD_UPLOAD_REQUIRE : PINFOLD_UPLOAD_OFF;
    CHECK(!pfi_loader_open(&loader, set.dataset, &options, gpu, &reader,
                           &error));
    return loader;
}

static bool right(const pinfold_batch *batch, const struct pfi_gpu *gpu)
{
    if (gpu && gpu->event_wait(gpu->cookie, batch->ready_event))
        return false;
    return fake_batch_right(&set, batch,
                            gpu ? batch->device_data : batch->data);
}

/* Takes batches until there is none in time; returns how many. */
static int take(pinfold_loader *loader, int timeout, const struct pfi_gpu *gpu,
                pinfold_status wanted)
{
    const pinfold_batch *batch;
    pinfold_status status;
    int n = 0;

    while (!(status = pinfold_loader_next(loader, timeout, &batch, &error))) {
        CHECK(right(batch, gpu));
        pinfold_batch_release(batch);
        n++;
    }
    CHECK(status == wanted && error.status == wanted);
    return n;
}

static void await_name(pinfold_loader *loader, const struct pfi_gpu *gpu)
{
    int tries = 0;

    /* At first a sample before it may be in work still. */
    do {
        CHECK(tries++ < 200);
        (void)take(loader, 10, gpu, PINFOLD_TIMEOUT);
    } while (error.sample != STUCK);
    CHECK(strstr(error.message, set.root));
    CHECK(strstr(error.message, "/0005.png: still being read after "));
}

static void one_stuck(int workers, int io_threads, const struct pfi_gpu *gpu)
{
    pinfold_loader *const loader = open_loader(workers, io_threads, gpu);
    long before;

    shut_gate(STUCK);
    CHECK(!pinfold_loader_start(loader, 0, &error));
    await_inside(1);
    await_name(loader, gpu);
    pinfold_loader_cancel(loader);
    let_pass();
    CHECK(!pinfold_loader_start(loader, 1, &error));
    /* The others go on. */
    if (workers > 1 && !io_threads)
        CHECK(take(loader, -1, gpu, PINFOLD_END) == SAMPLES / BATCH);
    CHECK(pinfold_loader_close_within(loader, 20, &error) == PINFOLD_TIMEOUT);
    CHECK(strstr(error.message, " left behind in a read"));
    if (!io_threads)
        CHECK(error.sample == STUCK && strstr(error.message, "/0005.png: "));
    atomic_store(&forbidden, true);
    before = atomic_load(&makes);
    pthread_mutex_lock(&gate.lock);
    CHECK(!gate.closes && gate.inside == 1);
    pthread_mutex_unlock(&gate.lock);
    open_gate();
    await_free();
    CHECK(atomic_load(&makes) == before);
    atomic_store(&forbidden, false);
}

/* The read ends in the next epoch: its sample is not made in that one. */
static void wakes_late(int io_threads)
{
    pinfold_loader *const loader = open_loader(1, io_threads, NULL);
    long before;

    shut_gate(STUCK);
    CHECK(!pinfold_loader_start(loader, 0, &error));
    await_inside(1);
    await_name(loader, NULL);
    let_pass();
    before = atomic_load(&makes);
    CHECK(!pinfold_loader_start(loader, 1, &error));
    open_gate();
    CHECK(take(loader, -1, NULL, PINFOLD_END) == SAMPLES / BATCH);
    CHECK(!pinfold_loader_close_within(loader, -1, &error));
    CHECK(atomic_load(&makes) == before + SAMPLES);
}

/* Every worker is in a read when the cancel comes. */
static void cancelled_in_read(int workers, int io_threads)
{
    pinfold_loader *const loader = open_loader(workers, io_threads, NULL);
    const long before = atomic_load(&makes);

    shut_gate(ALL);
    CHECK(!pinfold_loader_start(loader, 0, &error));
    await_inside(io_threads ? 1 : workers);
    pinfold_loader_cancel(loader);
    open_gate();
    CHECK(take(loader, -1, NULL, PINFOLD_E_CANCELLED) == 0);
    CHECK(!pinfold_loader_close_within(loader, -1, &error));
    CHECK(atomic_load(&makes) == before);
}

/* The read that is left behind is of the epoch that runs at the close. */
static void closed_in_read(int workers, int io_threads)
{
    pinfold_loader *const loader = open_loader(workers, io_threads, NULL);
    long before;

    shut_gate(STUCK);
    CHECK(!pinfold_loader_start(loader, 0, &error));
    await_inside(1);
    await_name(loader, NULL);
    CHECK(pinfold_loader_close_within(loader, 20, &error) == PINFOLD_TIMEOUT);
    atomic_store(&forbidden, true);
    before = atomic_load(&makes);
    open_gate();
    await_free();
    CHECK(atomic_load(&makes) == before);
    atomic_store(&forbidden, false);
}

static void *cancel_late(void *loader)
{
    await_inside(1);
    pinfold_loader_cancel(loader);
    open_gate();
    return NULL;
}

/* The calling thread itself is in a read, or waits for one. */
static void cancelled_in_next(int io_threads)
{
    pinfold_loader *const loader = open_loader(0, io_threads, NULL);
    const long before = atomic_load(&makes);
    pthread_t other;

    shut_gate(ALL);
    CHECK(!pinfold_loader_start(loader, 0, &error));
    CHECK(!pthread_create(&other, NULL, cancel_late, loader));
    CHECK(take(loader, -1, NULL, PINFOLD_E_CANCELLED) == 0);
    CHECK(!pthread_join(other, NULL));
    CHECK(atomic_load(&makes) == before);
    CHECK(!pinfold_loader_start(loader, 1, &error));
    CHECK(take(loader, -1, NULL, PINFOLD_END) == SAMPLES / BATCH);
    pinfold_loader_close(loader);
}

static void with_device(int workers, int io_threads)
{
    struct fake_gpu *const fake = fake_gpu_start(1);
    struct fake_live live;

    CHECK(fake);
    one_stuck(workers, io_threads, fake_gpu_table(fake));
    live = fake_gpu_live(fake);
    CHECK(live.pins + live.allocs + live.streams + live.events == 0);
    CHECK(!fake_gpu_misuse(fake));
    fake_gpu_end(fake);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    int cases = 0;

    pfi_error_clear(&error);
    fake_set_open(&set, SAMPLES);
    CHECK(!pinfold_loader_close_within(NULL, 0, &error));
    for (int i = 0; i < rounds; i++) {
        for (int io = 0; io < 3; io++) {
            for (int workers = 1; workers < 4; workers++, cases += 4) {
                one_stuck(workers, io, NULL);
                with_device(workers, io);
                cancelled_in_read(workers, io);
                closed_in_read(workers, io);
            }
            cancelled_in_next(io);
            wakes_late(io);
            cases += 2;
        }
    }
    (void)printf("%d cases, %ld samples\n", cases, atomic_load(&makes));
    fake_set_close(&set);
    return 0;
}
