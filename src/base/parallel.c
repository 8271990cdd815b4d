/* SPDX-License-Identifier: Apache-2.0
 * Threads for one piece of work: whoever ends a step gathers what is due. */
#include "src/base/parallel.h"

#include <pthread.h>
#include <signal.h>

#include "src/base/memory.h"

struct shared {
    const struct pfi_parallel *work;
    int64_t n;
    pthread_mutex_t lock;
    int64_t next;     /* lock; step to be begun */
    int64_t gathered; /* lock; steps */
    bool gathering;   /* lock; a thread is */
    bool *done;       /* lock; [n] */
};

/* With the lock held, which is given up meanwhile. */
static void gather(struct shared *s)
{
    if (s->gathering)
        return;
    s->gathering = true;
    while (s->gathered < s->n && s->done[s->gathered]) {
        const int64_t i = s->gathered;
        bool good;

        pthread_mutex_unlock(&s->lock);
        good = s->work->gather(s->work->cookie, i);
        pthread_mutex_lock(&s->lock);
        if (!good) {
            /* `gathering` stays: nobody goes on. */
            s->next = s->n;
            return;
        }
        s->gathered++;
    }
    s->gathering = false;
}

static void *take_steps(void *shared)
{
    struct shared *const s = shared;

    pthread_mutex_lock(&s->lock);
    while (s->next < s->n) {
        const int64_t i = s->next++;

        pthread_mutex_unlock(&s->lock);
        s->work->step(s->work->cookie, i);
        pthread_mutex_lock(&s->lock);
        s->done[i] = true;
        gather(s);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* The host program's signal handlers must not run in our threads.  Fewer threads
 * than were wanted are enough. */
static int32_t start_threads(struct shared *s, pthread_t *ids, int32_t n)
{
    sigset_t all, before;
    int32_t started = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < n && !pthread_create(&ids[started], NULL, take_steps, s))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void run_alone(const struct pfi_parallel *work, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        work->step(work->cookie, i);
        if (!work->gather(work->cookie, i))
            return;
    }
}

void pfi_parallel_run(const struct pfi_parallel *work, int64_t n,
                      int32_t threads)
{
    struct shared s = {.work = work, .n = n};
    const int32_t others = (int32_t)(threads < n ? threads : n) - 1;
    pthread_t *const ids =
        others > 0 ? pfi_calloc((size_t)others, sizeof(*ids)) : NULL;

    s.done = ids ? pfi_calloc((size_t)n, sizeof(*s.done)) : NULL;
    if (s.done && !pthread_mutex_init(&s.lock, NULL)) {
        int32_t started = start_threads(&s, ids, others);

        (void)take_steps(&s);
        while (started > 0)
            pthread_join(ids[--started], NULL);
        pthread_mutex_destroy(&s.lock);
    } else {
        run_alone(work, n);
    }
    pfi_free(s.done);
    pfi_free(ids);
}
