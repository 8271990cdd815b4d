/* SPDX-License-Identifier: Apache-2.0
 * Consumers of many kinds under SEEDS simulated schedules each: every batch
 * holds its own samples for as long as the consumer's work on it runs, each
 * epoch has all samples once, and nothing hangs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scene.h"

#define SAMPLES 37
#define EPOCHS 3

static int32_t below(int32_t n)
{
    return (int32_t)(sim_random() % (uint32_t)n);
}

static void fail(const char *what, const pinfold_error *err)
{
    (void)fprintf(stderr, "%s: %s: %s\n", what,
                  pinfold_status_name(err->status), err->message);
    abort();
}

static void die(const char *what)
{
    (void)fprintf(stderr, "%s\n", what);
    abort();
}

static uint64_t cancelled_at; /* 0 = not in this epoch */
static int64_t this_epoch, next_number;

static pinfold_status next(struct scene *s, int32_t timeout_ms,
                           const pinfold_batch **batch)
{
    uint64_t start = sim_now();
    pinfold_error err;
    const pinfold_status status =
        pinfold_loader_next(s->loader, timeout_ms, batch, &err);

    if (status < 0 && status != PINFOLD_E_STATE &&
        status != PINFOLD_E_CANCELLED)
        fail("next", &err);
    if (!status &&
        ((*batch)->epoch != this_epoch || (*batch)->number != next_number++))
        die("a batch of another epoch or place");
    start = start > cancelled_at ? start : cancelled_at;
    if (cancelled_at && status && sim_now() - start > s->set->read_ns)
        die("a cancelled next takes longer than a picture");
    return status;
}

/* Starting and closing take the pictures in work, the copies and the work on
 * the device that was queued before, and the calls. */
static uint64_t start_limit(struct scene *s)
{
    return sim_now() + fake_gpu_backlog(s->fake) + s->most_copy_ns +
           s->set->read_ns + 64 * s->call_ns;
}

static void start(struct scene *s, int64_t epoch)
{
    const uint64_t limit = start_limit(s);
    pinfold_error err;

    cancelled_at = 0;
    this_epoch = epoch;
    next_number = 0;
    if (pinfold_loader_start(s->loader, epoch, &err))
        fail("start", &err);
    if (sim_now() > limit)
        die("a start takes too long");
}

static void close_loader(struct scene *s)
{
    const uint64_t limit = start_limit(s);

    pinfold_loader_close(s->loader);
    s->loader = NULL;
    if (sim_now() > limit)
        die("a close takes too long");
}

static void release_after(struct scene *s, const pinfold_batch *batch,
                          int stream, uint64_t ns)
{
    pinfold_error err;

    scene_work(s, batch, stream, ns);
    if (pinfold_batch_release_after(batch, s->streams[stream], &err))
        fail("release_after", &err);
}

static void release(struct scene *s, const pinfold_batch *batch)
{
    scene_look(s, batch);
    pinfold_batch_release(batch);
}

/* ------------------------------------------------------------- consumers ---
 */

/* Each takes batches until one says that there are no more, and returns how
 * many samples it saw, or -1 where it cannot tell. */

static int64_t be_fast(struct scene *s)
{
    const pinfold_batch *batch;
    int64_t seen = 0;

    for (; next(s, -1, &batch) == PINFOLD_OK; seen += batch->count)
        release_after(s, batch, 0, 0);
    return seen;
}

static int64_t be_slow(struct scene *s)
{
    const pinfold_batch *batch;
    int64_t seen = 0;

    for (; next(s, -1, &batch) == PINFOLD_OK; seen += batch->count) {
        sim_sleep(10000);
        if (below(2))
            release(s, batch);
        else
            release_after(s, batch, 0, 20000);
    }
    return seen;
}

/* Takes what it gets until the loader refuses, then gives back in any order. */
static int64_t keep_all(struct scene *s)
{
    const pinfold_batch *kept[8];
    pinfold_status status = PINFOLD_OK;
    int64_t seen = 0;

    while (status != PINFOLD_END) {
        int n = 0;

        while (!(status = next(s, -1, &kept[n])))
            seen += kept[n++]->count;
        if (status == PINFOLD_E_STATE && n != s->options.slots)
            die("next refuses though a slot is free");
        for (int i = 0; i < n; i++)
            scene_look(s, kept[i]);
        while (n > 0) {
            const int i = below(n);

            if (below(2))
                release(s, kept[i]);
            else
                release_after(s, kept[i], below(SCENE_STREAMS),
                              (uint64_t)below(3000));
            kept[i] = kept[--n];
        }
    }
    return seen;
}

static int64_t hold_one(struct scene *s)
{
    const pinfold_batch *batch, *kept = NULL;
    int64_t seen = 0;

    for (; next(s, -1, &batch) == PINFOLD_OK; seen += batch->count) {
        if (!kept && s->options.slots > 1)
            kept = batch;
        else
            release_after(s, batch, below(SCENE_STREAMS), 500);
        if (kept && !below(4)) {
            release_after(s, kept, 2, 700);
            kept = NULL;
        }
    }
    if (kept)
        release(s, kept);
    return seen;
}

/* Streams of very different speed. */
static int64_t use_three_streams(struct scene *s)
{
    const pinfold_batch *batch;
    int64_t seen = 0;
    int i = 0;

    for (; next(s, -1, &batch) == PINFOLD_OK; seen += batch->count, i++)
        release_after(s, batch, i % 3, i % 3 == 0 ? 30000 : 300);
    return seen;
}

static int64_t time_out(struct scene *s)
{
    const pinfold_batch *batch;
    pinfold_status status;
    int64_t seen = 0;

    do {
        const uint64_t start = sim_now();

        status = next(s, below(2), &batch);
        /* The calling thread may be at a picture when the time is up. */
        if (sim_now() - start > 1000000 + s->set->read_ns)
            die("next waits longer than it may");
        if (status == PINFOLD_TIMEOUT && below(2))
            sim_sleep((uint64_t)below(2000));
        if (status)
            continue;
        seen += batch->count;
        release_after(s, batch, below(2), (uint64_t)below(1500000));
    } while (status != PINFOLD_END);
    return seen;
}

static void *cancel_later(void *argument)
{
    struct scene *const s = argument;

    sim_sleep(1 + (uint64_t)below(6000));
    pinfold_loader_cancel(s->loader);
    cancelled_at = sim_now();
    return NULL;
}

/* From another thread; now and then the batches that are out stay out. */
static int64_t cancel(struct scene *s)
{
    const pinfold_batch *batch;
    pthread_t canceller;

    if (pthread_create(&canceller, NULL, cancel_later, s))
        die("pthread_create");
    while (next(s, -1, &batch) == PINFOLD_OK)
        if (below(6))
            release_after(s, batch, below(SCENE_STREAMS), 400);
        else
            release(s, batch);
    if (pthread_join(canceller, NULL))
        die("pthread_join");
    return -1;
}

/* Leaves in the middle, for the next start or the close to clear up. */
static int64_t leave(struct scene *s)
{
    const pinfold_batch *batch;

    for (int32_t n = below(6); n > 0 && !next(s, -1, &batch); n--)
        release_after(s, batch, below(SCENE_STREAMS), (uint64_t)below(5000));
    sim_sleep((uint64_t)below(3000));
    return -1;
}

struct handed {
    struct scene *scene;
    const pinfold_batch *batch;
};

static void *release_later(void *argument)
{
    const struct handed *const handed = argument;

    sim_sleep((uint64_t)below(4000));
    pinfold_batch_release(handed->batch);
    return NULL;
}

/* The slots but one stay with other threads for a while. */
static int64_t hand_over(struct scene *s)
{
    pthread_t threads[8];
    struct handed handed[8];
    pinfold_status status = PINFOLD_OK;
    int64_t seen = 0;

    while (!status) {
        int n = 0;

        while (n + 1 < s->options.slots || n == 0) {
            handed[n] = (struct handed){s, NULL};
            status = next(s, -1, &handed[n].batch);
            if (status)
                break;
            seen += handed[n].batch->count;
            scene_look(s, handed[n].batch);
            if (pthread_create(&threads[n], NULL, release_later, &handed[n]))
                die("pthread_create");
            n++;
        }
        while (n > 0)
            if (pthread_join(threads[--n], NULL))
                die("pthread_join");
    }
    return seen;
}

static const struct {
    const char *name;
    int64_t (*run)(struct scene *);
} consumers[] = {
    {"fast", be_fast},
    {"slow", be_slow},
    {"keep all", keep_all},
    {"hold one", hold_one},
    {"three streams", use_three_streams},
    {"time out", time_out},
    {"hand over", hand_over},
    {"cancel", cancel},
    {"leave", leave},
};

#define N_CONSUMERS ((int)(sizeof(consumers) / sizeof(consumers[0])))

/* ------------------------------------------------------------------ runs ---
 */

/* The loader may hold no lock when it calls. */
static void look_at_event(void *cookie, const pinfold_trace_event *event)
{
    (void)cookie;
    if (sim_world.locks_held())
        die("an event is told with a lock held");
    if (event->start_ns > event->end_ns || event->end_ns > sim_now())
        die("an event has an impossible time");
    sim_sleep(0);
}

static void choose_options(struct scene *s)
{
    static const pinfold_trace trace = {sizeof(trace), NULL, look_at_event};
    static const int32_t workers[] = {PINFOLD_OFF, 1, 2, 3};
    static const pinfold_memory memory[] = {PINFOLD_MEMORY_AUTO,
                                            PINFOLD_MEMORY_PAGEABLE};
    pinfold_loader_options *const o = &s->options;

    o->workers = workers[below(4)];
    o->slots = 1 + below(4);
    o->shuffle = below(2);
    o->trace = below(2) ? &trace : NULL;
    o->memory = memory[below(2)];
    if (below(4) == 0) {
        o->upload = PINFOLD_UPLOAD_OFF;
        o->memory = PINFOLD_MEMORY_PINNED;
    }
    if (o->upload && below(2))
        scene_normalize(s);
    if (o->upload && below(3) == 0)
        o->stream = s->streams[below(SCENE_STREAMS)];
    s->set->read_ns = (uint64_t)below(600);
    s->most_copy_ns = (uint64_t)below(2000);
    fake_gpu_speed(s->fake, s->most_copy_ns, 0.01 + 0.05 * below(20));
    /* At the least speed, from memory that is not pinned. */
    s->most_copy_ns = 4 * (s->most_copy_ns + SCENE_BATCH * 48 * 100);
    if (o->device_normalize) /* with the tables, and the kernel behind it */
        s->most_copy_ns += 4 * 3328 * 100 + s->most_copy_ns;
    s->call_ns = below(4) == 0 ? (uint64_t)below(300) : 0;
    fake_gpu_delay(s->fake, -1, s->call_ns);
}

static int run(struct fake_set *set, int consumer, uint64_t seed)
{
    char what[160];
    struct scene s;
    pinfold_error err;

    scene_begin(&s, set, seed * 31 + (uint64_t)consumer);
    choose_options(&s);
    (void)snprintf(what, sizeof(what),
                   "consumer '%s', seed %llu (%d workers, %d slots, upload %d, "
                   "memory %d, the caller's stream %d, on the device %d)",
                   consumers[consumer].name, (unsigned long long)seed,
                   s.options.workers, s.options.slots, (int)s.options.upload,
                   (int)s.options.memory, s.options.stream != NULL,
                   s.options.device_normalize);
    if (scene_open(&s, &err))
        fail(what, &err);
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        start(&s, epoch);
        const int64_t seen = consumers[consumer].run(&s);

        if (seen >= 0 && seen != SAMPLES) {
            (void)fprintf(stderr, "%s: %lld samples\n", what, (long long)seen);
            return 1;
        }
    }
    close_loader(&s);
    return scene_end(&s, what);
}

int main(int argc, char **argv)
{
    const long seeds = argc > 1 ? atol(argv[1]) : 100;
    const long first = argc > 2 ? atol(argv[2]) : 0;
    struct fake_set set;
    long runs = 0;

    fake_set_open(&set, SAMPLES);
    set.bad = 7;
    for (int c = 0; c < N_CONSUMERS; c++)
        for (long seed = first; seed < first + seeds; seed++, runs++)
            if (run(&set, c, (uint64_t)seed))
                return 1;
    (void)printf("%ld schedules, %ld samples\n", runs, atomic_load(&set.reads));
    fake_set_close(&set);
    return runs == 0;
}
