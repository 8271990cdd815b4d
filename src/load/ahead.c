/* SPDX-License-Identifier: Apache-2.0
 * A ring of file buffers between reading threads and workers. */
#include "src/load/ahead.h"

#include <pthread.h>
#include <signal.h>

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

struct pfi_ahead {
    struct pfi_ahead_source source;
    struct entry *entries;
    pthread_t *threads;
    int32_t n_entries, n_threads; /* n_entries counts those with an arena */
    int32_t depth;
    pthread_mutex_t lock;
    pthread_cond_t room; /* readers: an entry became free, or the end */
    pthread_cond_t read; /* workers and start: a file was read */
    int64_t next, n;     /* lock; positions to be claimed */
    int32_t n_reading;   /* lock */
    bool closing;        /* lock */
};

/* With the lock held, which is given up meanwhile: reads the next position,
 * whose entry is free. */
static void read_next(struct pfi_ahead *ahead)
{
    const int64_t position = ahead->next++;
    struct entry *const e = &ahead->entries[position % ahead->depth];

    e->state = READING;
    e->position = position;
    ahead->n_reading++;
    /* A worker may wait for its position to come next. */
    pthread_cond_broadcast(&ahead->read);
    pthread_mutex_unlock(&ahead->lock);
    pfi_error_clear(&e->error);
    e->status = ahead->source.reader.read(
        ahead->source.reader.cookie, ahead->source.root_fd,
        ahead->source.path(ahead->source.cookie, position), &e->arena, &e->data,
        &e->size, &e->error);
    pthread_mutex_lock(&ahead->lock);
    e->state = READ;
    ahead->n_reading--;
    pthread_cond_broadcast(&ahead->read);
}

static bool can_read(const struct pfi_ahead *ahead)
{
    return ahead->next < ahead->n &&
           ahead->entries[ahead->next % ahead->depth].state == FREE;
}

static void *reader_main(void *argument)
{
    struct pfi_ahead *const ahead = argument;

    pthread_mutex_lock(&ahead->lock);
    while (!ahead->closing) {
        if (can_read(ahead))
            read_next(ahead);
        else
            pthread_cond_wait(&ahead->room, &ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

void pfi_ahead_stop(struct pfi_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->n = 0;
    while (ahead->n_reading)
        pthread_cond_wait(&ahead->read, &ahead->lock);
    for (int32_t i = 0; i < ahead->n_entries; i++) {
        ahead->entries[i].state = FREE;
        pfi_arena_reset(&ahead->entries[i].arena);
    }
    pthread_mutex_unlock(&ahead->lock);
}

void pfi_ahead_start(struct pfi_ahead *ahead, int64_t n)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->next = 0;
    ahead->n = n;
    pthread_cond_broadcast(&ahead->room);
    pthread_mutex_unlock(&ahead->lock);
}

pinfold_status pfi_ahead_take(struct pfi_ahead *ahead, int64_t position,
                              const void **data, size_t *size,
                              pinfold_error *err)
{
    struct entry *const e = &ahead->entries[position % ahead->depth];
    pinfold_status status;

    pthread_mutex_lock(&ahead->lock);
    while (e->state != READ || e->position != position) {
        if (ahead->next == position && e->state == FREE)
            read_next(ahead);
        else
            pthread_cond_wait(&ahead->read, &ahead->lock);
    }
    status = e->status;
    *data = e->data;
    *size = e->size;
    if (status && err)
        *err = e->error;
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

void pfi_ahead_give_back(struct pfi_ahead *ahead, int64_t position)
{
    struct entry *const e = &ahead->entries[position % ahead->depth];

    pfi_arena_reset(&e->arena);
    pthread_mutex_lock(&ahead->lock);
    e->state = FREE;
    pthread_cond_signal(&ahead->room);
    /* A worker may wait for its turn to read. */
    pthread_cond_broadcast(&ahead->read);
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
        code = pthread_create(&ahead->threads[ahead->n_threads], NULL,
                              reader_main, ahead);
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
    code = pthread_cond_init(&ahead->room, NULL);
    if (!code) {
        code = pthread_cond_init(&ahead->read, NULL);
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
                       (size_t)threads * sizeof(pthread_t),
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

void pfi_ahead_close(struct pfi_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->closing = true;
    pthread_cond_broadcast(&ahead->room);
    pthread_mutex_unlock(&ahead->lock);
    for (int32_t i = 0; i < ahead->n_threads; i++)
        pthread_join(ahead->threads[i], NULL);
    for (int32_t i = 0; i < ahead->n_entries; i++)
        pfi_arena_end(&ahead->entries[i].arena);
    pthread_cond_destroy(&ahead->read);
    pthread_cond_destroy(&ahead->room);
    pthread_mutex_destroy(&ahead->lock);
    pfi_free(ahead->threads);
    pfi_free(ahead->entries);
    pfi_free(ahead);
}
