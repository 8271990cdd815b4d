/* SPDX-License-Identifier: Apache-2.0
 * Threads that take one number after the other. */
#include "src/cli/crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "src/cli/progress.h"
#include "src/cli/run.h"

struct crew {
    void (*job)(void *cookie, int64_t i);
    void *cookie;
    int64_t n;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the last one has ended */
    int64_t next, done;     /* lock */
    int64_t running;        /* threads; lock */
};

/* The next number, or -1 where there is none or a signal came. */
static int64_t take(struct crew *crew, int64_t done)
{
    int64_t index = -1;

    (void)pthread_mutex_lock(&crew->lock);
    crew->done += done;
    if (crew->next < crew->n && !pfi_cli_signal())
        index = crew->next++;
    (void)pthread_mutex_unlock(&crew->lock);
    return index;
}

static void *work(void *argument)
{
    struct crew *const crew = argument;

    for (int64_t i = take(crew, 0); i >= 0; i = take(crew, 1))
        crew->job(crew->cookie, i);
    (void)pthread_mutex_lock(&crew->lock);
    if (--crew->running == 0)
        (void)pthread_cond_signal(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static struct timespec in_100_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 100000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

static void watch(struct crew *crew, const struct pfi_cli_options *o)
{
    struct pfi_cli_bar bar;

    pfi_cli_bar_start(&bar, o, crew->n);
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->running) {
        const struct timespec until = in_100_ms();

        (void)pthread_cond_timedwait(&crew->changed, &crew->lock, &until);
        pfi_cli_bar_add(&bar, crew->done - bar.done);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    pfi_cli_bar_end(&bar);
}

/* Fewer threads than asked for do as well; none is the calling one. */
static void run(struct crew *crew, const struct pfi_cli_options *o,
                int64_t workers)
{
    pthread_t *const threads =
        calloc(workers ? (size_t)workers : 1, sizeof(*threads));
    int64_t started = 0;

    (void)pthread_mutex_lock(&crew->lock);
    while (threads && started < workers &&
           !pthread_create(&threads[started], NULL, work, crew))
        started++;
    crew->running = started ? started : 1;
    (void)pthread_mutex_unlock(&crew->lock);
    if (!started)
        (void)work(crew);
    watch(crew, o);
    for (int64_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    free(threads);
}

/* As many threads as a loader would have. */
static int64_t count_workers(pinfold_dataset *dataset,
                             const struct pfi_cli_options *o, int64_t n)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};

    options.workers = o->loader.workers;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    if (pinfold_loader_plan(dataset, &options, &plan, NULL))
        return 1;
    return plan.workers < n ? plan.workers : n;
}

bool pfi_cli_crew_run(pinfold_dataset *dataset, const struct pfi_cli_options *o,
                      void (*job)(void *cookie, int64_t i), void *cookie)
{
    struct crew crew = {.job = job,
                        .cookie = cookie,
                        .n = pinfold_dataset_size(dataset),
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};

    run(&crew, o, count_workers(dataset, o, crew.n));
    return !pfi_cli_signal();
}
