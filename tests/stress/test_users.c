/* SPDX-License-Identifier: Apache-2.0
 * Many threads that use the library at once in random ways, for ROUNDS steps
 * each or, with a second argument, for so many seconds: loaders on one data
 * set, with and without uploads, whose batches other threads check and give
 * back out of order while further ones cancel them and read their counters;
 * resumes, plans, orders, pools, pictures.  For ThreadSanitizer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"
#include "tests/support/tinypng.h"

enum { USERS = 30, SAMPLES = 200, BAD = 77, LENT = 8, STEP_KINDS = 8 };

/* What a user shows of the loader that is open. */
struct stage {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    pinfold_loader *loader;           /* lock; NULL = none */
    const pinfold_batch *lent[LENT];  /* lock; for others to give back */
    int n_lent, visitors;             /* lock; threads inside a lent batch */
};

static struct stage stages[USERS];
static struct fake_set set;
static const struct pfi_gpu *gpu;
static pinfold_pool *pool;
static atomic_bool over;
static atomic_long steps[STEP_KINDS], batches;
static long rounds;

static void die(const char *what, const pinfold_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", what, err ? err->message : "wrong");
    exit(1);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void check_batch(const pinfold_batch *batch)
{
    if (batch->ready_event && gpu->event_wait(gpu->cookie, batch->ready_event))
        die("an event", NULL);
    if (!fake_batch_right(&set, batch,
                          batch->device_data ? batch->device_data
                                             : batch->data))
        die("a batch", NULL);
    atomic_fetch_add(&batches, 1);
}

/* ------------------------------------------------------------- a loader --- */

static pinfold_loader_options random_options(const pinfold_recipe *recipe,
                                             unsigned *random)
{
    pinfold_loader_options o = pinfold_loader_options_default();

    o.recipe = recipe;
    o.workers = (int32_t)(next_random(random) % 4);
    if (!o.workers)
        o.workers = PINFOLD_OFF;
    o.io_threads = (int32_t)(next_random(random) % 3);
    o.slots = 1 + (int32_t)(next_random(random) % 4);
    o.batch_size = 1 + (int32_t)(next_random(random) % 17);
    o.shuffle = (int32_t)(next_random(random) % 2);
    o.seed = next_random(random);
    o.memory = PINFOLD_MEMORY_PAGEABLE;
    if (next_random(random) % 2) {
        o.upload = PINFOLD_UPLOAD_REQUIRE;
        o.memory = PINFOLD_MEMORY_AUTO;
    }
    return o;
}

static void lend(struct stage *stage, const pinfold_batch *batch)
{
    pthread_mutex_lock(&stage->lock);
    if (stage->n_lent < LENT) {
        stage->lent[stage->n_lent++] = batch;
        batch = NULL;
    }
    pthread_mutex_unlock(&stage->lock);
    pinfold_batch_release(batch);
}

/* Gives one of the batches back that any user has lent, or looks at the
 * loader, or cancels it. */
static void visit(unsigned *random)
{
    struct stage *const stage = &stages[next_random(random) % USERS];
    const unsigned what = next_random(random) % 16;
    const pinfold_batch *batch = NULL;
    pinfold_stats stats = {.struct_size = sizeof(stats)};

    pthread_mutex_lock(&stage->lock);
    if (stage->n_lent) {
        const unsigned k = next_random(random) % (unsigned)stage->n_lent;

        batch = stage->lent[k];
        stage->lent[k] = stage->lent[--stage->n_lent];
        stage->visitors++;
    }
    if (stage->loader && what == 0)
        pinfold_loader_cancel(stage->loader);
    if (stage->loader && what % 2)
        pinfold_loader_stats(stage->loader, &stats);
    pthread_mutex_unlock(&stage->lock);
    if (!batch)
        return;
    check_batch(batch);
    pinfold_batch_release(batch);
    pthread_mutex_lock(&stage->lock);
    stage->visitors--;
    pthread_cond_signal(&stage->idle);
    pthread_mutex_unlock(&stage->lock);
}

/* Takes batches until the end, a cancel, or chance. */
static void consume(struct stage *stage, pinfold_loader *loader,
                    unsigned *random)
{
    static const int32_t waits[] = {0, 2, 50, -1};
    const pinfold_batch *batch;
    pinfold_error err;

    for (int k = 0; k < 60; k++) {
        const int32_t wait = waits[next_random(random) % 4];
        const pinfold_status status =
            pinfold_loader_next(loader, wait, &batch, &err);

        if (status == PINFOLD_END)
            return;
        if (status == PINFOLD_E_STATE || status == PINFOLD_E_CANCELLED ||
            status == PINFOLD_TIMEOUT) {
            /* Cancelled, all slots lent, or slow: help whoever has them. */
            visit(random);
            if (next_random(random) % 8 == 0)
                return;
            continue;
        }
        if (status)
            die("next", &err);
        check_batch(batch);
        if (next_random(random) % 2)
            lend(stage, batch);
        else
            pinfold_batch_release(batch);
    }
}

static void show(struct stage *stage, pinfold_loader *loader)
{
    pthread_mutex_lock(&stage->lock);
    stage->loader = loader;
    pthread_mutex_unlock(&stage->lock);
}

/* Out of the others' sight, and none of them inside a batch. */
static void hide(struct stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    stage->loader = NULL;
    stage->n_lent = 0;
    while (stage->visitors)
        pthread_cond_wait(&stage->idle, &stage->lock);
    pthread_mutex_unlock(&stage->lock);
}

static void load(struct stage *stage, unsigned *random)
{
    const pinfold_recipe recipe = fake_recipe();
    pinfold_loader_options o = random_options(&recipe, random);
    unsigned char state[PINFOLD_STATE_MAX];
    pinfold_loader *loader;
    pinfold_error err;
    size_t size = 0;

    for (int life = 0; life < 2; life++) {
        if (size)
            o.state = state;
        o.state_size = size;
        if (pfi_loader_open(&loader, set.dataset, &o, gpu, &set.reader, &err))
            die("open", &err);
        show(stage, loader);
        if (!size && pinfold_loader_start(loader, next_random(random) % 3, &err))
            die("start", &err);
        consume(stage, loader, random);
        if (pinfold_loader_state(loader, state, sizeof(state), &size, &err))
            die("state", &err);
        hide(stage);
        pinfold_loader_close(loader);
    }
}

/* --------------------------------------------------------- other calls --- */

static void read_some(unsigned *random, bool through_pool)
{
    enum { N = 9, SAMPLE = 48 };
    const pinfold_recipe recipe = fake_recipe();
    pinfold_status statuses[N];
    int64_t indices[N];
    unsigned char dst[N * SAMPLE];
    const pinfold_read_options options = {.struct_size = sizeof(options),
                                          .pool = through_pool ? pool : NULL,
                                          .statuses = statuses};
    pinfold_error err;

    for (int i = 0; i < N; i++)
        indices[i] = next_random(random) % SAMPLES;
    if (pfi_read(set.dataset, &recipe, indices, N, dst, sizeof(dst), &options,
                 &set.reader, &err))
        die("read", &err);
    for (int i = 0; i < N; i++)
        if (dst[i * SAMPLE] != (indices[i] == BAD ? 0 : indices[i]) ||
            (statuses[i] != PINFOLD_OK) != (indices[i] == BAD))
            die("a sample that was read", NULL);
}

static void order(unsigned *random)
{
    pinfold_loader_options o = pinfold_loader_options_default();
    bool seen[SAMPLES] = {false};
    int64_t indices[SAMPLES], count;
    pinfold_error err;

    o.shuffle = 1;
    o.seed = next_random(random);
    if (pinfold_order_indices(&o, SAMPLES, 1, indices, SAMPLES, &count, &err))
        die("order", &err);
    for (int64_t i = 0; i < count; i++)
        seen[indices[i]] = true;
    for (int i = 0; i < SAMPLES; i++)
        if (!seen[i])
            die("an order", NULL);
}

static void plan(unsigned *random)
{
    const pinfold_recipe recipe = fake_recipe();
    const pinfold_loader_options o = random_options(&recipe, random);
    pinfold_memory_plan out = {.struct_size = sizeof(out)};
    pinfold_error err;

    if (pfi_loader_plan(set.dataset, &o, gpu, &out, &err))
        die("plan", &err);
    if (out.samples != SAMPLES)
        die("a plan", NULL);
}

static void preprocess(unsigned *random)
{
    const pinfold_recipe recipe = fake_recipe();
    const unsigned colour = next_random(random) & 255;
    unsigned char png[TINY_PNG_MAX], dst[48];
    const size_t size = tiny_png(png, 8, 8, colour << 16);
    pinfold_error err;

    if (pinfold_preprocess(&recipe, png, size, dst, sizeof(dst), &err))
        die("preprocess", &err);
    if (dst[0] != colour || dst[1])
        die("a picture", NULL);
}

static void open_dataset(void)
{
    pinfold_dataset *dataset;
    pinfold_error err;

    if (pinfold_dataset_open(&dataset, set.root, NULL, &err))
        die("a data set", &err);
    if (pinfold_dataset_size(dataset) != SAMPLES)
        die("a data set", NULL);
    pinfold_dataset_close(dataset);
}

/* ---------------------------------------------------------------- users --- */

static void step(struct stage *stage, unsigned *random)
{
    const unsigned kind = next_random(random) % STEP_KINDS;

    atomic_fetch_add(&steps[kind], 1);
    switch (kind) {
    case 0:
        order(random);
        break;
    case 1:
        plan(random);
        break;
    case 2:
        preprocess(random);
        break;
    case 3:
        open_dataset();
        break;
    case 4:
        read_some(random, true);
        break;
    case 5:
        read_some(random, false);
        break;
    case 6:
        visit(random);
        break;
    default:
        load(stage, random);
        break;
    }
}

static void *use(void *argument)
{
    struct stage *const stage = argument;
    unsigned random = 977u * (unsigned)(stage - stages) + 1;

    if (gpu->use_device(gpu->cookie, 0))
        die("the device", NULL);
    for (long i = 0; (!rounds || i < rounds) && !atomic_load(&over); i++)
        step(stage, &random);
    return NULL;
}

static void run(long seconds)
{
    const struct timespec wait = {.tv_sec = seconds};
    pthread_t threads[USERS];

    for (int i = 0; i < USERS; i++) {
        pthread_mutex_init(&stages[i].lock, NULL);
        pthread_cond_init(&stages[i].idle, NULL);
    }
    for (int i = 0; i < USERS; i++)
        if (pthread_create(&threads[i], NULL, use, &stages[i]))
            die("no thread", NULL);
    if (seconds)
        (void)nanosleep(&wait, NULL);
    atomic_store(&over, seconds != 0);
    for (int i = 0; i < USERS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    const long seconds = argc > 2 ? atol(argv[2]) : 0;
    struct fake_gpu *fake;
    struct fake_live live;
    pinfold_error err;

    rounds = seconds ? 0 : argc > 1 ? atol(argv[1]) : 50;
    fake_set_open(&set, SAMPLES);
    set.bad = BAD;
    fake = fake_gpu_start(1);
    if (!fake)
        die("no device", NULL);
    gpu = fake_gpu_table(fake);
    if (pinfold_pool_open(&pool, 3, &err))
        die("pool", &err);
    run(seconds);
    pinfold_pool_close(pool);
    live = fake_gpu_live(fake);
    if (live.pins + live.allocs + live.streams + live.events)
        die("something on the device was not freed", NULL);
    if (fake_gpu_misuse(fake)) {
        (void)fprintf(stderr, "the device: %s\n", fake_gpu_misuse(fake));
        return 1;
    }
    (void)printf("%d users, %ld batches; steps of each kind:", USERS,
                 atomic_load(&batches));
    for (int k = 0; k < STEP_KINDS; k++)
        (void)printf(" %ld", atomic_load(&steps[k]));
    (void)printf("\n");
    fake_gpu_end(fake);
    fake_set_close(&set);
    return atomic_load(&batches) ? 0 : 1;
}
