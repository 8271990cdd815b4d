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

/* Queues the copy of `from` into `to`, behind the work that still reads `to`. */
static pinfold_status queue_copy(pinfold_loader *loader,
                                 const struct pfi_slot *from,
                                 struct pfi_slot *to, bool returning,
                                 pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const size_t size =
        (size_t)to->meta.count * loader->task.recipe.sample_bytes;
    int code;

    if (returning) {
        code = gpu->stream_wait(gpu->cookie, loader->stream, to->consumed);
        if (code)
            return pfi_fail_cuda(gpu, err, code, "cudaStreamWaitEvent");
    }
    code = gpu->copy_async(gpu->cookie, to->memory, from->memory, size,
                           loader->stream);
    if (code)
        return pfi_fail_cuda(gpu, err, code, "cudaMemcpyAsync");
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
           !loader->failure.status && pfi_ring_peek(&loader->host) &&
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

/* Called with the lock held, which is given up during CUDA calls. */
static void copy_next(pinfold_loader *loader)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    struct pfi_slot *const from = pfi_ring_peek(&loader->host);
    const bool returning = !pfi_ring_count(&loader->dev, PFI_SLOT_FREE);
    struct pfi_slot *const to = pfi_ring_fill_or_returning(&loader->dev);
    const uint64_t start = pfi_now_ns();
    pinfold_status status;
    pinfold_error err;
    int code = 0;

    pfi_ring_take(&loader->host, from);
    swap_meta(from, to);
    pfi_error_clear(&err);
    pthread_mutex_unlock(&loader->lock);
    status = queue_copy(loader, from, to, returning, &err);
    if (!status) {
        pthread_mutex_lock(&loader->lock);
        to->state = PFI_SLOT_READY;
        pthread_cond_broadcast(&loader->ready);
        pthread_mutex_unlock(&loader->lock);
        code = gpu->event_wait(gpu->cookie, to->ready);
        if (code)
            status = pfi_fail_cuda(gpu, &err, code, "cudaEventSynchronize");
    }
    pthread_mutex_lock(&loader->lock);
    loader->stats.copy_ns += pfi_now_ns() - start;
    from->state = PFI_SLOT_FREE;
    if (status) {
        if (to->state == PFI_SLOT_FILLING)
            to->state = PFI_SLOT_FREE;
        record_failure(loader, &err);
    }
    pthread_cond_broadcast(&loader->work);
    /* With no workers the caller itself fills the slot. */
    pthread_cond_broadcast(&loader->ready);
}

/* A host slot that the caller's stream was still reading. */
static void await_returning(pinfold_loader *loader, struct pfi_slot *slot)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    pinfold_error err;
    int code;

    pthread_mutex_unlock(&loader->lock);
    code = gpu->event_wait(gpu->cookie, slot->consumed);
    pthread_mutex_lock(&loader->lock);
    slot->state = PFI_SLOT_FREE;
    if (code) {
        pfi_error_clear(&err);
        (void)pfi_fail_cuda(gpu, &err, code, "cudaEventSynchronize");
        record_failure(loader, &err);
    }
    pthread_cond_broadcast(&loader->work);
    pthread_cond_broadcast(&loader->ready);
}

static void work(pinfold_loader *loader)
{
    while (!loader->closing) {
        struct pfi_slot *const slot = pfi_ring_returning(&loader->host);

        if (!slot && !may_copy(loader)) {
            pthread_cond_wait(&loader->device, &loader->lock);
            continue;
        }
        loader->copying = true;
        if (slot)
            await_returning(loader, slot);
        else
            copy_next(loader);
        loader->copying = false;
        pthread_cond_broadcast(&loader->idle);
    }
}

void *pfi_device_main(void *argument)
{
    pinfold_loader *const loader = argument;
    const struct pfi_gpu *const gpu = loader->gpu;
    const int code = gpu->use_device(gpu->cookie, loader->options.device);
    pinfold_error err;

    pthread_mutex_lock(&loader->lock);
    if (code) {
        pfi_error_clear(&err);
        (void)pfi_fail_cuda(gpu, &err, code, "cudaSetDevice");
        record_failure(loader, &err);
    }
    work(loader);
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}
