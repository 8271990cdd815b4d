/* SPDX-License-Identifier: Apache-2.0
 * A pool of threads: callers queue work, whose steps the threads take. */
#include "src/load/pool.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/cpu.h"
#include "src/load/internal.h"

/* One caller's work, on its stack until all steps are over. */
struct work {
    pfi_pool_step step;
    void *cookie;
    int64_t n, next, done;
    struct work *behind;
};

struct thread {
    pinfold_pool *pool;
    pthread_t id;
    struct pfi_arena arena;
};

struct pinfold_pool {
    pid_t pid;
    pthread_mutex_t lock;
    pthread_cond_t queued; /* threads: there may be a step to take */
    pthread_cond_t done;   /* callers: their work may be over */
    struct work *first, **last; /* lock; work with steps left to take */
    bool closing;               /* lock */
    struct thread *threads;
    int32_t n_arenas, n_threads;
};

/* With the lock held: the next step of the first work, which is given up when
 * that was its last. */
static int64_t take_step(pinfold_pool *pool, struct work *work)
{
    const int64_t i = work->next++;

    if (work->next == work->n) {
        pool->first = work->behind;
        if (!pool->first)
            pool->last = &pool->first;
    }
    return i;
}

static void *thread_main(void *argument)
{
    struct thread *const thread = argument;
    pinfold_pool *const pool = thread->pool;

    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        struct work *const work = pool->first;

        if (!work) {
            pthread_cond_wait(&pool->queued, &pool->lock);
            continue;
        }
        const int64_t i = take_step(pool, work);

        pthread_mutex_unlock(&pool->lock);
        work->step(work->cookie, i, &thread->arena);
        pthread_mutex_lock(&pool->lock);
        if (++work->done == work->n)
            pthread_cond_broadcast(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

pinfold_status pfi_pool_run(pinfold_pool *pool, pfi_pool_step step, void *cookie,
                            int64_t n, pinfold_error *err)
{
    struct work work = {.step = step, .cookie = cookie, .n = n};

    if (pool->pid != getpid())
        return pfi_fail(err, PINFOLD_E_FORK, 0,
                        "the pool was opened in another process; open one "
                        "after fork()");
    if (!n)
        return PINFOLD_OK;
    pthread_mutex_lock(&pool->lock);
    *pool->last = &work;
    pool->last = &work.behind;
    pthread_cond_broadcast(&pool->queued);
    while (work.done < work.n)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return PINFOLD_OK;
}

static int make_locks(pinfold_pool *pool)
{
    int code = pthread_mutex_init(&pool->lock, NULL);

    if (code)
        return code;
    code = pthread_cond_init(&pool->queued, NULL);
    if (!code) {
        code = pthread_cond_init(&pool->done, NULL);
        if (code)
            pthread_cond_destroy(&pool->queued);
    }
    if (code)
        pthread_mutex_destroy(&pool->lock);
    return code;
}

static pinfold_status make_arenas(pinfold_pool *pool, int32_t n,
                                  pinfold_error *err)
{
    pool->threads = pfi_calloc((size_t)n, sizeof(*pool->threads));
    while (pool->threads && pool->n_arenas < n &&
           pfi_arena_init(&pool->threads[pool->n_arenas].arena,
                          PFI_WORKER_ARENA))
        pool->threads[pool->n_arenas++].pool = pool;
    return pool->n_arenas == n
               ? PINFOLD_OK
               : pfi_fail(err, PINFOLD_E_MEMORY, 0,
                          "no memory for the scratch of %d threads", n);
}

/* The host program's signal handlers must not run in our threads. */
static pinfold_status start_threads(pinfold_pool *pool, pinfold_error *err)
{
    sigset_t all, before;
    int code = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!code && pool->n_threads < pool->n_arenas) {
        struct thread *const thread = &pool->threads[pool->n_threads];

        code = pthread_create(&thread->id, NULL, thread_main, thread);
        pool->n_threads += !code;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? pfi_fail(err, PINFOLD_E_THREAD, code,
                           "cannot start thread %d of %d: errno %d",
                           pool->n_threads + 1, pool->n_arenas, code)
                : PINFOLD_OK;
}

pinfold_status pinfold_pool_open(pinfold_pool **out, int32_t workers,
                                 pinfold_error *err)
{
    pinfold_pool *pool;
    pinfold_status status;
    int code;

    pfi_error_clear(err);
    *out = NULL;
    if (workers < 0 || workers > PINFOLD_WORKERS_MAX)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "workers is %d, not 0 to %d", workers,
                        PINFOLD_WORKERS_MAX);
    pool = pfi_calloc(1, sizeof(*pool));
    if (!pool)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a pool");
    pool->pid = getpid();
    pool->last = &pool->first;
    code = make_locks(pool);
    if (code) {
        pfi_free(pool);
        return pfi_fail(err, PINFOLD_E_THREAD, code,
                        "cannot make a lock: errno %d", code);
    }
    status = make_arenas(pool, workers ? workers : pfi_cpu_count(), err);
    if (!status)
        status = start_threads(pool, err);
    if (status) {
        pinfold_pool_close(pool);
        return status;
    }
    *out = pool;
    return PINFOLD_OK;
}

void pinfold_pool_close(pinfold_pool *pool)
{
    if (!pool)
        return;
    /* A forked child has none of the threads, and a lock of unknown state. */
    const bool forked = pool->pid != getpid();

    if (!forked) {
        pthread_mutex_lock(&pool->lock);
        pool->closing = true;
        pthread_cond_broadcast(&pool->queued);
        pthread_mutex_unlock(&pool->lock);
        for (int32_t i = 0; i < pool->n_threads; i++)
            pthread_join(pool->threads[i].id, NULL);
        pthread_cond_destroy(&pool->done);
        pthread_cond_destroy(&pool->queued);
        pthread_mutex_destroy(&pool->lock);
    }
    for (int32_t i = 0; i < pool->n_arenas; i++)
        pfi_arena_end(&pool->threads[i].arena);
    pfi_free(pool->threads);
    pfi_free(pool);
}
