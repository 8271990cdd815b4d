/* SPDX-License-Identifier: Apache-2.0
 * A bounded queue of jobs, and threads that each take as many of them as wait,
 * up to a batch, make them into one tensor, and run the model on it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "server.h"

struct worker {
    struct work *work;
    struct job **jobs; /* [batch] */
    struct best *best; /* [batch] */
    unsigned char *tensor;
    pthread_t thread;
};

struct work {
    struct work_options options;
    size_t sample_size;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct job *first, **last; /* lock */
    int32_t waiting;           /* lock */
    bool closed;               /* lock */
    struct worker *workers;
    int32_t n_started;
};

void job_answer(struct job *job, unsigned status, const char *format, ...)
{
    va_list arguments;

    job->status = status;
    va_start(arguments, format);
    (void)vsnprintf(job->answer, sizeof(job->answer), format, arguments);
    va_end(arguments);
}

bool work_add(struct work *work, struct job *job)
{
    bool added;

    (void)pthread_mutex_lock(&work->lock);
    added = !work->closed && work->waiting < work->options.queue;
    if (added) {
        job->next = NULL;
        *work->last = job;
        work->last = &job->next;
        work->waiting++;
        (void)pthread_cond_signal(&work->filled);
    }
    (void)pthread_mutex_unlock(&work->lock);
    return added;
}

/* Waits for jobs and returns how many it took; 0 = closed, and none left. */
static int32_t take(const struct worker *worker)
{
    struct work *const work = worker->work;
    int32_t count = 0;

    (void)pthread_mutex_lock(&work->lock);
    while (!work->first && !work->closed)
        (void)pthread_cond_wait(&work->filled, &work->lock);
    for (; work->first && count < work->options.batch; count++) {
        worker->jobs[count] = work->first;
        work->first = work->first->next;
    }
    if (!work->first)
        work->last = &work->first;
    work->waiting -= count;
    (void)pthread_mutex_unlock(&work->lock);
    return count;
}

/* Whose fault it is. */
static unsigned http_status(pinfold_status status)
{
    switch (status) {
    case PINFOLD_E_LIMIT: return 413;  /* content too large */
    case PINFOLD_E_FORMAT: return 415; /* unsupported media type */
    case PINFOLD_E_CORRUPT:            /* bad request */
    case PINFOLD_E_UNSUPPORTED: return 400;
    case PINFOLD_E_MEMORY: return 503; /* service unavailable */
    default: return 500;
    }
}

/* Makes the samples of the jobs whose pictures are sound, which it moves to the
 * front and counts; answers the others. */
static int32_t preprocess(const struct worker *worker, int32_t count)
{
    const struct work *const work = worker->work;
    int32_t good = 0;
    pinfold_error err;

    for (int32_t i = 0; i < count; i++) {
        unsigned char *const sample =
            worker->tensor + (size_t)good * work->sample_size;
        struct job *const job = worker->jobs[i];

        if (pinfold_preprocess(&work->options.recipe, job->picture, job->size,
                               sample, work->sample_size, &err) == PINFOLD_OK) {
            worker->jobs[good++] = job;
        } else {
            job_answer(job, http_status(err.status), "%s\n", err.message);
            work->options.done(job);
        }
    }
    return good;
}

/* FNV-1a. */
static uint64_t checksum(const unsigned char *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

static void answer_checksums(const struct worker *worker, int32_t count)
{
    const struct work *const work = worker->work;

    for (int32_t i = 0; i < count; i++) {
        job_answer(worker->jobs[i], 200, "%016" PRIx64 "\n",
                   checksum(worker->tensor + (size_t)i * work->sample_size,
                            work->sample_size));
        work->options.done(worker->jobs[i]);
    }
}

/* A line for each of the best classes: its number, and its logit. */
static void answer_classes(const struct worker *worker, int32_t count)
{
    const struct work_options *const options = &worker->work->options;
    const struct best *const best = worker->best;
    char *const why =
        model_run(options->model, worker->tensor, count, worker->best);

    for (int32_t i = 0; i < count; i++) {
        struct job *const job = worker->jobs[i];
        size_t end = 0;

        if (why)
            job_answer(job, 500, "the model failed: %s\n", why);
        else
            job->status = 200;
        for (size_t k = 0; !why && k < best[i].count; k++)
            end += (size_t)snprintf(job->answer + end,
                                    sizeof(job->answer) - end, "%zu %.9g\n",
                                    best[i].class[k], (double)best[i].logit[k]);
        options->done(job);
    }
    free(why);
}

static void *serve(void *argument)
{
    const struct worker *const worker = argument;
    int32_t count;

    while ((count = take(worker)) > 0) {
        count = preprocess(worker, count);
        if (count && worker->work->options.model)
            answer_classes(worker, count);
        else if (count)
            answer_checksums(worker, count);
    }
    return NULL;
}

static bool start(struct work *work, struct worker *worker)
{
    const size_t batch = (size_t)work->options.batch;

    worker->work = work;
    worker->jobs = calloc(batch, sizeof(struct job *));
    worker->best = calloc(batch, sizeof(struct best));
    worker->tensor = calloc(batch, work->sample_size);
    return worker->jobs && worker->best && worker->tensor &&
           !pthread_create(&worker->thread, NULL, serve, worker);
}

struct work *work_open(const struct work_options *options)
{
    struct work *const work = calloc(1, sizeof(*work));
    size_t size;

    if (!work || pinfold_recipe_size(&options->recipe, 1, &size, NULL, NULL)) {
        free(work);
        return NULL;
    }
    work->options = *options;
    work->sample_size = size;
    work->last = &work->first;
    (void)pthread_mutex_init(&work->lock, NULL);
    (void)pthread_cond_init(&work->filled, NULL);
    work->workers = calloc((size_t)options->workers, sizeof(*work->workers));
    while (work->workers && work->n_started < options->workers) {
        if (!start(work, &work->workers[work->n_started]))
            break;
        work->n_started++;
    }
    if (work->n_started == options->workers)
        return work;
    work_close(work);
    return NULL;
}

void work_finish(struct work *work)
{
    (void)pthread_mutex_lock(&work->lock);
    work->closed = true;
    (void)pthread_cond_broadcast(&work->filled);
    (void)pthread_mutex_unlock(&work->lock);
    while (work->n_started)
        (void)pthread_join(work->workers[--work->n_started].thread, NULL);
}

void work_close(struct work *work)
{
    work_finish(work);
    for (int32_t i = 0; work->workers && i < work->options.workers; i++) {
        free(work->workers[i].jobs);
        free(work->workers[i].best);
        free(work->workers[i].tensor);
    }
    (void)pthread_cond_destroy(&work->filled);
    (void)pthread_mutex_destroy(&work->lock);
    free(work->workers);
    free(work);
}
