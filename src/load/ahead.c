/* SPDX-License-Identifier: Apache-2.0
 * A ring of file buffers between reading threads and workers. */
#include "src/load/ahead.h"

#include <signal.h>

#include "src/base/wait.h"

#define PFI_AHEAD_ARENA ((size_t)256 << 10)

enum entry_state { FREE, READING, READ };

/* Position p lies in entry p % depth. */
struct entry {
    struct pfi_arena arena;
    enum entry_state state;
    int64_t position;
    pinfold_status status;
    pinfold_error error;
    const void *data;
    size_t size;
};

struct thread {
    struct pfi_ahead *ahead;
    pthread_t id;
    bool reads; /* lock */
    bool gone;  /* lock; all it has to do is drop() */
    bool left;  /* at the end it was not */
};

struct pfi_ahead {
    struct pfi_ahead_source source;
    struct entry *entries;
    struct thread *threads;
    int32_t n_entries, n_threads; /* n_entries counts those with an arena */
    int32_t depth;
    pthread_mutex_t lock;
    pthread_cond_t room; /* readers: an entry became free, or the end */
    pthread_cond_t read; /* workers and end: a file was read, a thread is gone */
    int64_t round;       /* lock; -1 = stopped */
    int64_t next, n;     /* lock; positions to be claimed */
    int32_t n_gone;      /* lock; threads */
    bool closing;        /* lock */
};

static void drop(struct entry *e)
{
    e->state = FREE;
    pfi_arena_reset(&e->arena);
}

/* With the lock held, which is given up meanwhile: reads the next position,
 * whose entry is free.  The read may outlast the round, or never end. */
static void read_next(struct pfi_ahead *ahead)
{
    const int64_t round = ahead->round, position = ahead->next++;
    struct entry *const e = &ahead->entries[position % ahead->depth];
    const char *const path =
        ahead->source.path(ahead->source.cookie, position);

    e->state = READING;
    e->position = position;
    /* A worker may wait for its position to come next. */
    pthread_cond_broadcast(&ahead->read);
    pthread_mutex_unlock(&ahead->lock);
    pfi_error_clear(&e->error);
    e->status = ahead->source.reader.read(
        ahead->source.reader.cookie, ahead->source.root_fd, path, &e->arena,
        &e->data, &e->size, &e->error);
    pthread_mutex_lock(&ahead->lock);
    e->state = READ;
    if (round != ahead->round) {
        drop(e);
        pthread_cond_signal(&ahead->room);
    }
    pthread_cond_broadcast(&ahead->read);
}

static bool can_read(const struct pfi_ahead *ahead)
{
    return ahead->next < ahead->n &&
           ahead->entries[ahead->next % ahead->depth].state == FREE;
}

static void *reader_main(void *argument)
{
    struct thread *const thread = argument;
    struct pfi_ahead *const ahead = thread->ahead;
    const struct pfi_ahead_source source = ahead->source;

    pthread_mutex_lock(&ahead->lock);
    while (!ahead->closing) {
        thread->reads = can_read(ahead);
        if (thread->reads)
            read_next(ahead);
        else
            pthread_cond_wait(&ahead->room, &ahead->lock);
    }
    thread->gone = true;
    ahead->n_gone++;
    pthread_cond_broadcast(&ahead->read);
    pthread_mutex_unlock(&ahead->lock);
    if (source.drop)
        source.drop(source.cookie);
    return NULL;
}

void pfi_ahead_halt(struct pfi_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->n = 0;
    pthread_cond_broadcast(&ahead->read);
    pthread_mutex_unlock(&ahead->lock);
}

void pfi_ahead_stop(struct pfi_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->round = -1;
    ahead->n = 0;
    for (int32_t i = 0; i < ahead->n_entries; i++)
        if (ahead->entries[i].state == READ)
            drop(&ahead->entries[i]);
    pthread_cond_broadcast(&ahead->read);
    pthread_mutex_unlock(&ahead->lock);
}

void pfi_ahead_start(struct pfi_ahead *ahead, int64_t round, int64_t n)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->round = round;
    ahead->next = 0;
    ahead->n = n;
    pthread_cond_broadcast(&ahead->room);
    pthread_mutex_unlock(&ahead->lock);
}

pinfold_status pfi_ahead_take(struct pfi_ahead *ahead, int64_t round,
                              int64_t position, const void **data, size_t *size,
                              pinfold_error *err)
{
    struct entry *const e = &ahead->entries[position % ahead->depth];
    pinfold_status status = PINFOLD_E_STATE;

    pthread_mutex_lock(&ahead->lock);
    while (round == ahead->round && ahead->n &&
           (e->state != READ || e->position != position)) {
        if (ahead->next == position && can_read(ahead))
            read_next(ahead);
        else
            pthread_cond_wait(&ahead->read, &ahead->lock);
    }
    if (round == ahead->round && ahead->n) {
        status = e->status;
        *data = e->data;
        *size = e->size;
        if (status && err)
            *err = e->error;
    }
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

void pfi_ahead_give_back(struct pfi_ahead *ahead, int64_t round,
                         int64_t position)
{
    struct entry *const e = &ahead->entries[position % ahead->depth];

    pthread_mutex_lock(&ahead->lock);
    if (round == ahead->round && e->state == READ && e->position == position) {
        drop(e);
        pthread_cond_signal(&ahead->room);
        /* A worker may wait for its turn to read. */
        pthread_cond_broadcast(&ahead->read);
    }
    pthread_mutex_unlock(&ahead->lock);
}

static pinfold_status make_entries(struct pfi_ahead *ahead, pinfold_error *err)
{
    ahead->entries =
        pfi_calloc((size_t)ahead->depth, sizeof(*ahead->entries));
    while (ahead->entries && ahead->n_entries < ahead->depth &&
           pfi_arena_init(&ahead->entries[ahead->n_entries].arena,
                          PFI_AHEAD_ARENA))
        ahead->n_entries++;
    return ahead->n_entries == ahead->depth
               ? PINFOLD_OK
               : pfi_fail(err, PINFOLD_E_MEMORY, 0,
                          "no memory to read %d files ahead", ahead->depth);
}

/* The host program's signal handlers must not run in our threads. */
static pinfold_status start_threads(struct pfi_ahead *ahead, int32_t threads,
                                    pinfold_error *err)
{
    sigset_t all, before;
    int code = 0;

    ahead->threads = pfi_calloc((size_t)threads, sizeof(*ahead->threads));
    if (!ahead->threads)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for %d threads",
                        threads);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!code && ahead->n_threads < threads) {
        struct thread *const thread = &ahead->threads[ahead->n_threads];

        thread->ahead = ahead;
        if (ahead->source.hold)
            ahead->source.hold(ahead->source.cookie);
        code = pthread_create(&thread->id, NULL, reader_main, thread);
        if (code && ahead->source.drop)
            ahead->source.drop(ahead->source.cookie);
        ahead->n_threads += !code;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? pfi_fail(err, PINFOLD_E_THREAD, code,
                           "cannot start reading thread %d of %d: errno %d",
                           ahead->n_threads + 1, threads, code)
                : PINFOLD_OK;
}

static int make_locks(struct pfi_ahead *ahead)
{
    int code = pthread_mutex_init(&ahead->lock, NULL);

    if (code)
        return code;
    code = pfi_cond_init(&ahead->room);
    if (!code) {
        code = pfi_cond_init(&ahead->read);
        if (code)
            pthread_cond_destroy(&ahead->room);
    }
    if (code)
        pthread_mutex_destroy(&ahead->lock);
    return code;
}

bool pfi_ahead_bytes(int32_t threads, int32_t depth, size_t *bytes)
{
    size_t entries;

    if (!pfi_mul((size_t)depth, sizeof(struct entry) + PFI_AHEAD_ARENA,
                 &entries))
        return false;
    return pfi_add(entries,
                   sizeof(struct pfi_ahead) +
                       (size_t)threads * sizeof(struct thread),
                   bytes);
}

pinfold_status pfi_ahead_open(struct pfi_ahead **out, int32_t threads,
                              int32_t depth,
                              const struct pfi_ahead_source *source,
                              pinfold_error *err)
{
    struct pfi_ahead *const ahead = pfi_calloc(1, sizeof(*ahead));
    pinfold_status status;
    int code;

    *out = NULL;
    if (!ahead)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory to read ahead");
    ahead->source = *source;
    ahead->depth = depth;
    ahead->round = -1;
    code = make_locks(ahead);
    if (code) {
        pfi_free(ahead);
        return pfi_fail(err, PINFOLD_E_THREAD, code,
                        "cannot make a lock: errno %d", code);
    }
    status = make_entries(ahead, err);
    if (!status)
        status = start_threads(ahead, threads, err);
    if (status) {
        pfi_ahead_close(ahead);
        return status;
    }
    *out = ahead;
    return PINFOLD_OK;
}

/* Whether a thread is on its way out, without a read before it. */
static bool one_goes(const struct pfi_ahead *ahead)
{
    for (int32_t i = 0; i < ahead->n_threads; i++)
        if (!ahead->threads[i].gone && !ahead->threads[i].reads)
            return true;
    return false;
}

int32_t pfi_ahead_end(struct pfi_ahead *ahead, uint64_t deadline)
{
    int32_t left = 0;

    pfi_ahead_stop(ahead);
    pthread_mutex_lock(&ahead->lock);
    ahead->closing = true;
    pthread_cond_broadcast(&ahead->room);
    while (ahead->n_gone < ahead->n_threads &&
           pfi_cond_await(&ahead->read, &ahead->lock,
                          one_goes(ahead) ? 0 : deadline)) {
    }
    for (int32_t i = 0; i < ahead->n_threads; i++) {
        ahead->threads[i].left = !ahead->threads[i].gone;
        left += ahead->threads[i].left;
    }
    pthread_mutex_unlock(&ahead->lock);
    for (int32_t i = 0; i < ahead->n_threads; i++) {
        if (ahead->threads[i].left)
            pthread_detach(ahead->threads[i].id);
        else
            pthread_join(ahead->threads[i].id, NULL);
    }
    return left;
}

void pfi_ahead_close(struct pfi_ahead *ahead)
{
    if (!ahead)
        return;
    if (!ahead->closing)
        (void)pfi_ahead_end(ahead, 0);
    for (int32_t i = 0; i < ahead->n_entries; i++)
        pfi_arena_end(&ahead->entries[i].arena);
    pthread_cond_destroy(&ahead->read);
    pthread_cond_destroy(&ahead->room);
    pthread_mutex_destroy(&ahead->lock);
    pfi_free(ahead->threads);
    pfi_free(ahead->entries);
    pfi_free(ahead);
}
