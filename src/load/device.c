/* SPDX-License-Identifier: Apache-2.0
 * The one thread that waits for the device: it queues each ready batch's copy,
 * and frees slots when the events behind them are done.  No lock is held across
 * a CUDA call. */
#include "src/base/clock.h"
#include "src/load/internal.h"

pinfold_status pfi_fail_cuda(const struct pfi_gpu *gpu, pinfold_error *err,
                             int code, const char *call)
{
    return pfi_fail(err, PINFOLD_E_CUDA, code, "%s: %s (%d)", call,
                    gpu->error_name(gpu->cookie, code), code);
}

pinfold_status pfi_device_enter(const pinfold_loader *loader, int *before,
                                pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    int code = gpu->current_device(gpu->cookie, before);

    if (code)
        return pfi_fail_cuda(gpu, err, code, "cudaGetDevice");
    code = gpu->use_device(gpu->cookie, loader->options.device);
    return code ? pfi_fail_cuda(gpu, err, code, "cudaSetDevice") : PINFOLD_OK;
}

pinfold_status pfi_device_leave(const pinfold_loader *loader, int before,
                                pinfold_status status, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    int code = 0;

    if (before != loader->options.device)
        code = gpu->use_device(gpu->cookie, before);
    if (code && !status)
        return pfi_fail_cuda(gpu, err, code, "cudaSetDevice");
    return status;
}

static pinfold_status copy(pinfold_loader *loader, void *dst,
                           const struct pfi_slot *from, int32_t count,
                           pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const size_t size = loader->staged.pixels +
                        (size_t)count * loader->task.recipe.sample_bytes;
    const int code =
        gpu->copy_async(gpu->cookie, dst, from->memory, size, loader->stream);

    return code ? pfi_fail_cuda(gpu, err, code, "cudaMemcpyAsync") : PINFOLD_OK;
}

/* Queues what brings `from` into `to`, and what writes `to` behind the work that
 * still reads it. */
static pinfold_status queue_copy(pinfold_loader *loader,
                                 const struct pfi_slot *from,
                                 struct pfi_slot *to, bool returning,
                                 pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const bool staged = loader->staged.used;
    const int32_t count = to->meta.count;
    pinfold_status status = PINFOLD_OK;
    int code;

    if (staged)
        status = copy(loader, loader->staged.memory, from, count, err);
    if (!status && returning) {
        code = gpu->stream_wait(gpu->cookie, loader->stream, to->consumed);
        if (code)
            return pfi_fail_cuda(gpu, err, code, "cudaStreamWaitEvent");
    }
    if (!status)
        status = staged ? pfi_staged_launch(loader, to, err)
                        : copy(loader, to->memory, from, count, err);
    if (status)
        return status;
    code = gpu->event_record(gpu->cookie, to->ready, loader->stream);
    if (code)
        return pfi_fail_cuda(gpu, err, code, "cudaEventRecord");
    return PINFOLD_OK;
}

/* With the lock held: keeps the first failure and wakes the caller. */
static void record_failure(pinfold_loader *loader, const pinfold_error *err)
{
    if (!loader->failure.status)
        loader->failure = *err;
    pthread_cond_broadcast(&loader->ready);
}

static bool may_copy(pinfold_loader *loader)
{
    return loader->dev.n_slots && loader->started && !loader->cancelled &&
           pfi_ring_peek(&loader->host) &&
           (pfi_ring_count(&loader->dev, PFI_SLOT_FREE) ||
            pfi_ring_returning(&loader->dev));
}

/* Labels and statuses go with the batch; the arrays change places. */
static void swap_meta(struct pfi_slot *a, struct pfi_slot *b)
{
    const struct pfi_meta meta = a->meta;

    a->meta = b->meta;
    b->meta = meta;
}

/* With the lock held: the copy of `from` failed at some point.  The device may
 * still read it, so it stays lent until recover(); `to` is as free as before. */
static void give_up(pinfold_loader *loader, struct pfi_slot *to, bool returning,
                    const pinfold_error *err)
{
    if (to->state == PFI_SLOT_FILLING)
        to->state = returning ? PFI_SLOT_RETURNING : PFI_SLOT_FREE;
    record_failure(loader, err);
}

/* With the lock held: whoever fills host slots may go on; without workers that
 * is the caller, who waits for `ready`. */
static void free_host(pinfold_loader *loader, struct pfi_slot *slot)
{
    slot->state = PFI_SLOT_FREE;
    pthread_cond_broadcast(&loader->work);
    pthread_cond_broadcast(&loader->ready);
}

/* Lends the batch whose copy is queued, and waits until the copy is done. */
static pinfold_status finish_copy(pinfold_loader *loader, struct pfi_slot *to,
                                  pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    uint64_t queued;
    int code;

    pthread_mutex_lock(&loader->lock);
    to->state = PFI_SLOT_READY;
    pthread_cond_broadcast(&loader->ready);
    pthread_mutex_unlock(&loader->lock);
    queued = pfi_now_ns();
    code = gpu->event_wait(gpu->cookie, to->ready);
    if (code)
        (void)pfi_fail_cuda(gpu, err, code, "cudaEventSynchronize");
    pfi_trace_span(loader, "wait for the copy", PINFOLD_LANE_DEVICE, 0, queued,
                   &to->meta, err->status);
    return err->status;
}

/* Called with the lock held, which is given up during CUDA calls. */
static void copy_next(pinfold_loader *loader)
{
    struct pfi_slot *const from = pfi_ring_peek(&loader->host);
    const bool returning = !pfi_ring_count(&loader->dev, PFI_SLOT_FREE);
    struct pfi_slot *const to = pfi_ring_fill_or_returning(&loader->dev);
    const uint64_t start = pfi_now_ns();
    pinfold_status status;
    pinfold_error err;

    pfi_ring_take(&loader->host, from);
    swap_meta(from, to);
    pfi_error_clear(&err);
    pthread_mutex_unlock(&loader->lock);
    status = queue_copy(loader, from, to, returning, &err);
    pfi_trace_span(loader, "queue", PINFOLD_LANE_DEVICE, 0, start, &to->meta,
                   status);
    if (!status)
        status = finish_copy(loader, to, &err);
    pfi_trace_span(loader, "copy", PINFOLD_LANE_STREAM, 0, start, &to->meta,
                   status);
    pthread_mutex_lock(&loader->lock);
    loader->stats.copy_ns += pfi_now_ns() - start;
    if (status)
        give_up(loader, to, returning, &err);
    else
        free_host(loader, from);
}

/* A host slot that the caller's stream was still reading.  Where the wait fails
 * the slot stays so, for another try in the next epoch. */
static void await_returning(pinfold_loader *loader, struct pfi_slot *slot)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const uint64_t start = pfi_now_ns();
    pinfold_error err;
    int code;

    pthread_mutex_unlock(&loader->lock);
    code = gpu->event_wait(gpu->cookie, slot->consumed);
    pfi_trace_span(loader, "wait for the consumer", PINFOLD_LANE_DEVICE, 0,
                   start, &slot->meta, code ? PINFOLD_E_CUDA : PINFOLD_OK);
    pthread_mutex_lock(&loader->lock);
    if (code) {
        pfi_error_clear(&err);
        (void)pfi_fail_cuda(gpu, &err, code, "cudaEventSynchronize");
        record_failure(loader, &err);
    } else {
        free_host(loader, slot);
    }
}

/* Whether a copy of an earlier epoch failed, and may still run. */
static bool must_recover(const pinfold_loader *loader)
{
    return loader->dev.n_slots && pfi_ring_count(&loader->host, PFI_SLOT_LENT);
}

/* Frees the host slots of failed copies when the stream is done. */
static void recover(pinfold_loader *loader)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    pinfold_error err;
    int code;

    pthread_mutex_unlock(&loader->lock);
    code = gpu->stream_sync(gpu->cookie, loader->stream);
    pthread_mutex_lock(&loader->lock);
    if (code) {
        pfi_error_clear(&err);
        (void)pfi_fail_cuda(gpu, &err, code, "cudaStreamSynchronize");
        record_failure(loader, &err);
        return;
    }
    for (int32_t i = 0; i < loader->host.n_slots; i++)
        if (loader->host.slots[i].state == PFI_SLOT_LENT)
            free_host(loader, &loader->host.slots[i]);
}

/* Makes the loader's device this thread's; false, with the failure recorded,
 * where that is refused. */
static bool enter_device(pinfold_loader *loader)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    pinfold_error err;
    int code;

    pthread_mutex_unlock(&loader->lock);
    code = gpu->use_device(gpu->cookie, loader->options.device);
    pthread_mutex_lock(&loader->lock);
    if (!code)
        return true;
    pfi_error_clear(&err);
    (void)pfi_fail_cuda(gpu, &err, code, "cudaSetDevice");
    record_failure(loader, &err);
    return false;
}

/* With the lock held: does one thing; false where there is nothing to do.  After
 * a failure that is so until the next start. */
static bool step(pinfold_loader *loader, bool *entered)
{
    struct pfi_slot *const returning = pfi_ring_returning(&loader->host);

    if (loader->failure.status ||
        (!returning && !must_recover(loader) && !may_copy(loader)))
        return false;
    loader->copying = true;
    if (!*entered)
        *entered = enter_device(loader);
    else if (must_recover(loader))
        recover(loader);
    else if (returning)
        await_returning(loader, returning);
    else
        copy_next(loader);
    loader->copying = false;
    pthread_cond_broadcast(&loader->idle);
    return true;
}

void *pfi_device_main(void *argument)
{
    pinfold_loader *const loader = argument;
    bool entered = false;

    pthread_mutex_lock(&loader->lock);
    while (!loader->closing)
        if (!step(loader, &entered))
            pthread_cond_wait(&loader->device, &loader->lock);
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}
