/* SPDX-License-Identifier: Apache-2.0
 * Workers: take the next sample, make it in its place, say so. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "datasets/dataset.h"
#include "src/base/clock.h"
#include "src/load/internal.h"

/* Where batch `number` begins in the epoch's indices. */
static int64_t batch_at(const pinfold_loader *loader, int64_t number)
{
    return pfi_epoch_batch_at(&loader->now, loader->options.batch_size, number);
}

static struct pfi_slot *next_filling(pinfold_loader *loader)
{
    struct pfi_slot *slot = loader->filling;

    if (slot)
        return slot;
    if (loader->host.next_fill >= loader->now.end)
        return NULL;
    slot = pfi_ring_fill(&loader->host);
    if (slot) {
        if (loader->full_since_ns)
            loader->stats.worker_wait_ns +=
                pfi_now_ns() - loader->full_since_ns;
        loader->full_since_ns = 0;
        slot->meta.count =
            (int32_t)(batch_at(loader, slot->meta.number + 1) -
                      batch_at(loader, slot->meta.number));
        slot->meta.epoch = loader->epoch;
    }
    return slot;
}

bool pfi_job_take(pinfold_loader *loader, struct pfi_job *job)
{
    struct pfi_slot *slot;

    if (!loader->started || loader->cancelled || loader->closing)
        return false;
    slot = next_filling(loader);
    if (!slot)
        return false;
    job->slot = slot;
    job->place = slot->assigned++;
    /* Later the slot may be finished, and its `count` another batch's. */
    loader->filling = slot->assigned < slot->meta.count ? slot : NULL;
    job->position = batch_at(loader, slot->meta.number) + job->place;
    job->index = loader->now.indices[job->position];
    job->position -= loader->first_position;
    job->round = loader->round;
    job->idle_ns = 0;
    return true;
}

void pfi_error_name_sample(const pinfold_dataset *dataset, int64_t index,
                           pinfold_error *err)
{
    const char *const root = pinfold_dataset_root(dataset);
    const char *const path = pinfold_dataset_path(dataset, index);
    const bool inside = *path != '/'; /* a list's may be anywhere */
    char full[2 * PATH_MAX];

    if (err)
        err->sample = index;
    (void)snprintf(full, sizeof(full), "%s%s%s", inside ? root : "",
                   inside && root[strlen(root) - 1] != '/' ? "/" : "", path);
    pfi_error_add_path(err, full);
}

static pinfold_status read_sample(pinfold_loader *loader,
                                  struct pfi_arena *arena, struct pfi_job *job)
{
    if (loader->ahead)
        return pfi_ahead_take(loader->ahead, job->round, job->position,
                              &job->data, &job->size, &job->error);
    return loader->reader.read(
        loader->reader.cookie, pfi_dataset_root_fd(loader->dataset),
        pinfold_dataset_path(loader->dataset, job->index), arena, &job->data,
        &job->size, &job->error);
}

void pfi_job_read(pinfold_loader *loader, struct pfi_arena *arena,
                  struct pfi_job *job)
{
    job->start_ns = pfi_now_ns();
    job->times = (struct pfi_times){.detailed = job->index % 16 == 0};
    job->size = 0;
    pfi_error_clear(&job->error);
    job->status = read_sample(loader, arena, job);
    job->times.read_ns = pfi_now_ns() - job->start_ns;
    job->read = !job->status;
}

bool pfi_job_hold(pinfold_loader *loader, const struct pfi_job *job)
{
    const bool wanted = job->round == loader->round && !loader->cancelled &&
                        !loader->closing;

    loader->n_busy += wanted;
    return wanted;
}

void pfi_job_make(pinfold_loader *loader, struct pfi_arena *arena,
                  struct pfi_job *job)
{
    unsigned char *const memory = job->slot->memory;
    unsigned char *const dst =
        memory + loader->staged.pixels +
        (size_t)job->place * loader->task.recipe.sample_bytes;

    if (!job->status)
        job->status = pfi_sample_make(
            &loader->task,
            pinfold_sample_seed(loader->options.seed,
                                job->slot->meta.epoch, job->index),
            arena, job->data, job->size, dst, &job->times, &job->error);
    if (job->status) {
        memset(dst, 0, loader->task.recipe.sample_bytes);
        pfi_error_name_sample(loader->dataset, job->index, &job->error);
    }
    if (loader->staged.used)
        memory[loader->staged.good + (size_t)job->place] = !job->status;
    job->end_ns = pfi_now_ns();
}

void pfi_job_end(pinfold_loader *loader, struct pfi_arena *arena,
                 const struct pfi_job *job)
{
    if (loader->ahead)
        pfi_ahead_give_back(loader->ahead, job->round, job->position);
    pfi_arena_reset(arena);
}

static void count_job(pinfold_stats *stats, const struct pfi_job *job)
{
    stats->samples++;
    stats->bad_samples += job->status != PINFOLD_OK;
    stats->bytes_read += job->size;
    stats->read_ns += job->times.read_ns;
    stats->decode_ns += job->times.decode_ns;
    stats->transform_ns += job->times.transform_ns;
    stats->jpeg_fallbacks += job->times.attempt_ns != 0;
    stats->jpeg_fallback_ns += job->times.attempt_ns;
    if (!job->times.detailed)
        return;
    stats->detailed_samples++;
    stats->detailed_read_ns += job->times.read_ns;
    stats->detailed_header_ns += job->times.header_ns;
    stats->detailed_decode_ns += job->times.decode_ns - job->times.header_ns;
    stats->detailed_plan_ns += job->times.plan_ns;
    stats->detailed_horizontal_ns += job->times.stages.horizontal_ns;
    stats->detailed_vertical_ns += job->times.stages.vertical_ns;
    stats->detailed_normalize_ns += job->times.stages.store_ns;
}

void pfi_job_finish(pinfold_loader *loader, const struct pfi_job *job)
{
    struct pfi_meta *const meta = &job->slot->meta;

    meta->indices[job->place] = job->index;
    meta->labels[job->place] =
        pinfold_dataset_label(loader->dataset, job->index);
    meta->statuses[job->place] = job->status;
    if (job->status) {
        meta->errors[job->place] = job->error;
        meta->bad_count++;
    }
    count_job(&loader->stats, job);
    loader->n_busy--;
    if (++job->slot->done == meta->count) {
        job->slot->state = PFI_SLOT_READY;
        loader->stats.batches++;
        pthread_cond_broadcast(&loader->ready);
        pthread_cond_broadcast(&loader->device);
    }
    pthread_cond_broadcast(&loader->idle);
}

/* A worker found nothing to make.  As long as a slot is being filled it waits
 * for the other workers: only a full ring waits for the caller. */
static void look_full(pinfold_loader *loader)
{
    if (loader->started && !loader->cancelled && !loader->full_since_ns &&
        loader->host.next_fill < loader->now.end &&
        !pfi_ring_count(&loader->host, PFI_SLOT_FILLING))
        loader->full_since_ns = pfi_now_ns();
}

/* Waits for a sample to make, which `job` then is; false at the close.  The
 * lock is held.  `idle` is when the worker began to have nothing to do. */
static bool await_job(struct pfi_worker *worker, struct pfi_job *job,
                      uint64_t idle)
{
    pinfold_loader *const loader = worker->loader;
    bool waited = false;

    while (!loader->closing && !pfi_job_take(loader, job)) {
        look_full(loader);
        pthread_cond_wait(&loader->work, &loader->lock);
        waited = true;
    }
    if (loader->closing)
        return false;
    if (waited)
        job->idle_ns = idle;
    worker->sample = job->index;
    worker->reads = true;
    worker->since_ns = pfi_now_ns();
    return true;
}

/* Begun and ended with the lock held. */
static void do_job(struct pfi_worker *worker, struct pfi_job *job)
{
    pinfold_loader *const loader = worker->loader;
    bool held;

    pthread_mutex_unlock(&loader->lock);
    pfi_job_read(loader, &worker->arena, job);
    pthread_mutex_lock(&loader->lock);
    worker->reads = false;
    held = pfi_job_hold(loader, job);
    pthread_mutex_unlock(&loader->lock);
    if (held) {
        pfi_job_make(loader, &worker->arena, job);
        pfi_trace_job(loader, job, (int32_t)(worker - loader->workers));
    }
    pfi_job_end(loader, &worker->arena, job);
    pthread_mutex_lock(&loader->lock);
    worker->sample = -1;
    if (held)
        pfi_job_finish(loader, job);
}

void *pfi_worker_main(void *argument)
{
    struct pfi_worker *const worker = argument;
    pinfold_loader *const loader = worker->loader;
    uint64_t idle = pfi_now_ns();
    struct pfi_job job;

    /* No more than the node has CPUs for: the others are better off elsewhere. */
    if (worker - loader->workers < loader->numa.n_cpus)
        pfi_numa_stay(&loader->numa);
    pthread_mutex_lock(&loader->lock);
    while (await_job(worker, &job, idle)) {
        do_job(worker, &job);
        idle = pfi_now_ns();
    }
    worker->gone = true;
    loader->n_gone++;
    pthread_cond_broadcast(&loader->idle);
    pthread_mutex_unlock(&loader->lock);
    pfi_loader_drop(loader);
    return NULL;
}
