/* SPDX-License-Identifier: Apache-2.0
 * Epochs and batches: start, next, release, cancel, stats. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/load/internal.h"

pinfold_status pfi_loader_check(const pinfold_loader *loader, pinfold_error *err)
{
    if (loader->pid != getpid())
        return pfi_fail(err, PINFOLD_E_FORK, 0,
                        "the loader was opened in another process; open one "
                        "after fork()");
    return PINFOLD_OK;
}

static void begin_at(struct pfi_ring *ring, int64_t batch)
{
    ring->next_fill = batch;
    ring->next_take = batch;
}

pinfold_status pfi_loader_begin(pinfold_loader *loader, int64_t epoch,
                                const struct pfi_resume *resume,
                                pinfold_error *err)
{
    if (pfi_loader_check(loader, err))
        return PINFOLD_E_FORK;
    if (epoch < 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "epoch is %lld",
                        (long long)epoch);
    pthread_mutex_lock(&loader->lock);
    loader->started = false;
    loader->round++;
    pfi_retry_stop(&loader->patient.retry);
    while (loader->n_busy || loader->copying)
        pthread_cond_wait(&loader->idle, &loader->lock);
    pfi_ring_reset(&loader->host);
    pfi_ring_reset(&loader->dev);
    loader->filling = NULL;
    loader->full_since_ns = 0;
    pthread_mutex_unlock(&loader->lock);
    /* No thread looks at the order before `started`. */
    if (loader->ahead)
        pfi_ahead_stop(loader->ahead);
    pfi_epoch_begin(loader, epoch, resume);
    if (loader->ahead)
        pfi_ahead_start(loader->ahead, loader->round,
                        loader->now.count - loader->first_position);
    pthread_mutex_lock(&loader->lock);
    begin_at(&loader->host, loader->first_batch);
    begin_at(&loader->dev, loader->first_batch);
    loader->epoch = epoch;
    loader->cancelled = false;
    pfi_retry_resume(&loader->patient.retry);
    pfi_error_clear(&loader->failure);
    loader->started = true;
    pthread_cond_broadcast(&loader->work);
    /* Slots that an earlier epoch's failure left may be freed. */
    pthread_cond_broadcast(&loader->device);
    pthread_mutex_unlock(&loader->lock);
    return PINFOLD_OK;
}

pinfold_status pinfold_loader_start(pinfold_loader *loader, int64_t epoch,
                                    pinfold_error *err)
{
    pfi_error_clear(err);
    return pfi_loader_begin(loader, epoch, NULL, err);
}

/* Makes one sample in the calling thread; false where there is none to make.
 * Called with the lock held, which is given up meanwhile. */
static bool make_here(pinfold_loader *loader)
{
    struct pfi_arena *const arena = &loader->workers[0].arena;
    struct pfi_job job;
    bool held;

    if (loader->n_threads || !pfi_job_take(loader, &job))
        return false;
    pthread_mutex_unlock(&loader->lock);
    pfi_job_read(loader, arena, &job);
    pthread_mutex_lock(&loader->lock);
    held = pfi_job_hold(loader, &job);
    pthread_mutex_unlock(&loader->lock);
    if (held) {
        pfi_job_make(loader, arena, &job);
        pfi_trace_job(loader, &job, -1);
    }
    pfi_job_end(loader, arena, &job);
    pthread_mutex_lock(&loader->lock);
    if (held)
        pfi_job_finish(loader, &job);
    return true;
}

/* Whether waiting can bring a batch; the lock is held. */
static pinfold_status may_wait(pinfold_loader *loader, pinfold_error *err)
{
    const struct pfi_ring *const ring = pfi_lending_ring(loader);

    if (loader->cancelled)
        return pfi_fail(err, PINFOLD_E_CANCELLED, 0,
                        "the loader was cancelled");
    if (!loader->started)
        return pfi_fail(err, PINFOLD_E_STATE, 0, "no epoch was started");
    if (loader->failure.status) {
        if (err)
            *err = loader->failure;
        return loader->failure.status;
    }
    if (ring->next_take >= loader->now.end)
        return PINFOLD_END;
    if (pfi_ring_count(ring, PFI_SLOT_LENT) == ring->n_slots)
        return pfi_fail(err, PINFOLD_E_STATE, 0,
                        "all %d slots are lent: release a batch first",
                        ring->n_slots);
    return PINFOLD_OK;
}

/* With the lock held: the next batch's slot, or why there is none. */
static pinfold_status await_batch(pinfold_loader *loader, uint64_t deadline,
                                  struct pfi_slot **out, pinfold_error *err)
{
    struct pfi_ring *const ring = pfi_lending_ring(loader);

    for (;;) {
        const pinfold_status status = may_wait(loader, err);

        if (status)
            return status;
        *out = pfi_ring_peek(ring);
        if (*out)
            return PINFOLD_OK;
        if (deadline && pfi_now_ns() >= deadline)
            return pfi_time_out(loader, "", err);
        if (!make_here(loader))
            (void)pfi_cond_await(&loader->ready, &loader->lock, deadline);
    }
}

static void fill_batch(const pinfold_loader *loader, struct pfi_slot *slot)
{
    const struct pfi_recipe *const r = &loader->output;
    const bool nchw = r->layout == PINFOLD_NCHW, upload = loader->dev.n_slots;
    const struct pfi_meta *const meta = &slot->meta;

    slot->batch = (pinfold_batch){
        .data = upload ? NULL : slot->memory,
        .device_data = upload ? slot->memory : NULL,
        .ready_event = slot->ready,
        .labels = meta->labels,
        .indices = meta->indices,
        .statuses = meta->statuses,
        .size = (size_t)meta->count * r->sample_bytes,
        .shape = {meta->count, nchw ? 3 : r->height, nchw ? r->height : r->width,
                  nchw ? r->width : 3},
        .epoch = meta->epoch,
        .number = meta->number,
        .count = meta->count,
        .bad_count = meta->bad_count,
    };
}

/* The first bad sample's error, where the caller wants one; the lock is held. */
static pinfold_status refuse_bad(const pinfold_loader *loader,
                                 const struct pfi_slot *slot, pinfold_error *err)
{
    if (loader->options.bad_sample != PINFOLD_BAD_FAIL)
        return PINFOLD_OK;
    for (int32_t i = 0; i < slot->meta.count; i++) {
        if (slot->meta.statuses[i]) {
            if (err)
                *err = slot->meta.errors[i];
            return slot->meta.statuses[i];
        }
    }
    return PINFOLD_OK;
}

/* With the lock held: the slot may be filled again. */
static void free_slot(pinfold_loader *loader, struct pfi_slot *slot)
{
    slot->state = PFI_SLOT_FREE;
    pthread_cond_broadcast(&loader->work);
    pthread_cond_broadcast(&loader->device);
    /* With no workers the caller, in next, may fill it. */
    pthread_cond_broadcast(&loader->ready);
}

pinfold_status pinfold_loader_next(pinfold_loader *loader, int32_t timeout_ms,
                                   const pinfold_batch **out,
                                   pinfold_error *err)
{
    const uint64_t start = pfi_now_ns();
    struct pfi_slot *slot = NULL;
    pinfold_status status;

    pfi_error_clear(err);
    *out = NULL;
    if (pfi_loader_check(loader, err))
        return PINFOLD_E_FORK;
    pthread_mutex_lock(&loader->lock);
    status = await_batch(loader, pfi_deadline(timeout_ms), &slot, err);
    loader->stats.caller_wait_ns += pfi_now_ns() - start;
    if (!status) {
        pfi_ring_take(pfi_lending_ring(loader), slot);
        status = refuse_bad(loader, slot, err);
        if (status)
            free_slot(loader, slot);
    }
    pthread_mutex_unlock(&loader->lock);
    if (!status) {
        fill_batch(loader, slot);
        *out = &slot->batch;
    }
    pfi_trace_span(loader, "next", PINFOLD_LANE_CALLER, 0, start,
                   status ? NULL : &slot->meta, status);
    if (err && status > 0)
        err->status = status;
    return status;
}

pinfold_status pinfold_loader_next_into(pinfold_loader *loader,
                                        int32_t timeout_ms, void *dst,
                                        size_t dst_size,
                                        const pinfold_batch **out,
                                        pinfold_error *err)
{
    const size_t most = loader->slot_bytes - PFI_SLOT_TAIL;
    pinfold_status status;
    struct pfi_slot *slot;

    pfi_error_clear(err);
    *out = NULL;
    if (loader->dev.n_slots)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the batches are on the device");
    if (!dst || dst_size < most)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "dst has %zu bytes, a batch %zu", dst ? dst_size : 0,
                        most);
    status = pinfold_loader_next(loader, timeout_ms, out, err);
    if (status)
        return status;
    memcpy(dst, (*out)->data, (*out)->size);
    slot = (struct pfi_slot *)(uintptr_t)*out;
    slot->batch.data = dst;
    return PINFOLD_OK;
}

void pinfold_loader_stats(const pinfold_loader *loader, pinfold_stats *out)
{
    /* Only the lock is touched through this. */
    pinfold_loader *const open = (pinfold_loader *)(uintptr_t)loader;
    pinfold_stats stats;

    if (pfi_loader_check(loader, NULL)) {
        stats = (pinfold_stats){.struct_size = sizeof(stats)};
    } else {
        const struct pfi_ring *const ring = pfi_lending_ring(open);

        pthread_mutex_lock(&open->lock);
        stats = loader->stats;
        stats.slots_filling = pfi_ring_count(&open->host, PFI_SLOT_FILLING);
        stats.slots_ready = pfi_ring_count(ring, PFI_SLOT_READY);
        stats.slots_lent = pfi_ring_count(ring, PFI_SLOT_LENT);
        stats.workers_busy = open->n_busy;
        pthread_mutex_unlock(&open->lock);
        stats.read_retries = pfi_retry_count(&open->patient.retry);
    }
    pfi_struct_out(out, &stats, sizeof(stats));
}

void pinfold_loader_cancel(pinfold_loader *loader)
{
    if (pfi_loader_check(loader, NULL))
        return;
    pthread_mutex_lock(&loader->lock);
    loader->cancelled = true;
    pfi_retry_stop(&loader->patient.retry);
    pthread_cond_broadcast(&loader->ready);
    pthread_mutex_unlock(&loader->lock);
    if (loader->ahead)
        pfi_ahead_halt(loader->ahead);
}

static struct pfi_slot *slot_of(const pinfold_batch *batch)
{
    /* The batch is its slot's first member. */
    return (struct pfi_slot *)(uintptr_t)batch;
}

void pinfold_batch_error(const pinfold_batch *batch, int32_t i,
                         pinfold_error *err)
{
    const struct pfi_slot *const slot = slot_of(batch);

    pfi_error_clear(err);
    if (err && slot->meta.statuses[i])
        *err = slot->meta.errors[i];
}

void pinfold_batch_release(const pinfold_batch *batch)
{
    if (!batch)
        return;
    pinfold_loader *const loader = slot_of(batch)->loader;

    if (pfi_loader_check(loader, NULL))
        return;
    pthread_mutex_lock(&loader->lock);
    free_slot(loader, slot_of(batch));
    pthread_mutex_unlock(&loader->lock);
}

static pinfold_status record_consumed(pinfold_loader *loader,
                                      const struct pfi_slot *slot, void *stream,
                                      pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    int before = 0, code;
    pinfold_status status = pfi_device_enter(loader, &before, err);

    if (status)
        return status;
    code = gpu->event_record(gpu->cookie, slot->consumed, stream);
    if (code)
        status = pfi_fail_cuda(gpu, err, code, "cudaEventRecord");
    return pfi_device_leave(loader, before, status, err);
}

pinfold_status pinfold_batch_release_after(const pinfold_batch *batch,
                                           void *stream, pinfold_error *err)
{
    struct pfi_slot *const slot = slot_of(batch);
    pinfold_loader *const loader = slot->loader;
    pinfold_status status;

    pfi_error_clear(err);
    if (pfi_loader_check(loader, err))
        return PINFOLD_E_FORK;
    if (!loader->gpu && stream)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "a stream, but the loader uses no device: %s",
                        loader->why_no_gpu);
    if (!loader->gpu) {
        pinfold_batch_release(batch);
        return PINFOLD_OK;
    }
    status = record_consumed(loader, slot, stream, err);
    if (status)
        return status;
    pthread_mutex_lock(&loader->lock);
    pfi_ring_return(pfi_lending_ring(loader), slot);
    pthread_cond_broadcast(&loader->device);
    pthread_mutex_unlock(&loader->lock);
    return PINFOLD_OK;
}
