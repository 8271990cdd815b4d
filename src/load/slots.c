/* SPDX-License-Identifier: Apache-2.0
 * The memory of both rings: allocated once, at open. */
#include "src/load/internal.h"

/* Host slots start at a page, as DMA and O_DIRECT writers like it; 256 would do
 * for TensorRT and DLPack. */
#define PFI_SLOT_ALIGN 4096

static bool alloc_meta(struct pfi_meta *meta, size_t count)
{
    meta->labels = pfi_calloc(count, sizeof(*meta->labels));
    meta->indices = pfi_calloc(count, sizeof(*meta->indices));
    meta->statuses = pfi_calloc(count, sizeof(*meta->statuses));
    meta->errors = pfi_calloc(count, sizeof(*meta->errors));
    return meta->labels && meta->indices && meta->statuses && meta->errors;
}

static void free_meta(struct pfi_meta *meta)
{
    pfi_free(meta->labels);
    pfi_free(meta->indices);
    pfi_free(meta->statuses);
    pfi_free(meta->errors);
}

static size_t meta_bytes(size_t count)
{
    return count * (2 * sizeof(int64_t) + sizeof(pinfold_status) +
                    sizeof(pinfold_error));
}

static pinfold_status open_ring(pinfold_loader *loader, struct pfi_ring *ring,
                                pinfold_error *err)
{
    const int32_t n = loader->options.slots;
    const size_t count = (size_t)loader->options.batch_size;

    ring->slots = pfi_calloc((size_t)n, sizeof(*ring->slots));
    if (!ring->slots)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for %d slots", n);
    ring->n_slots = n;
    for (int32_t i = 0; i < n; i++) {
        ring->slots[i].loader = loader;
        if (!alloc_meta(&ring->slots[i].meta, count))
            return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                            "no memory for the labels of %zu samples", count);
        loader->stats.host_bytes += meta_bytes(count);
    }
    return PINFOLD_OK;
}

static pinfold_status open_event(const struct pfi_gpu *gpu, void **event,
                                 pinfold_error *err)
{
    const int code = gpu->event_create(gpu->cookie, event);

    if (code) {
        *event = NULL;
        return pfi_fail_cuda(gpu, err, code, "cudaEventCreateWithFlags");
    }
    return PINFOLD_OK;
}

/* Pinned while that works; AUTO goes on in ordinary memory where the first
 * cannot be pinned. */
static pinfold_status alloc_host(pinfold_loader *loader, struct pfi_slot *slot,
                                 bool first, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const size_t size = loader->slot_bytes;
    int code;

    if (loader->allocator.alloc) {
        slot->memory = loader->allocator.alloc(loader->allocator.cookie, size,
                                               PFI_SLOT_ALIGN);
        if ((uintptr_t)slot->memory % 256)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "the allocator's memory is not aligned to %d",
                            PFI_SLOT_ALIGN);
    } else if (loader->pinned) {
        code = gpu->pin(gpu->cookie, &slot->memory, size);
        if (!code)
            return PINFOLD_OK;
        slot->memory = NULL;
        if (!first || loader->options.memory == PINFOLD_MEMORY_PINNED)
            return pfi_fail_cuda(gpu, err, code, "cudaHostAlloc");
        loader->pinned = false;
    }
    if (!loader->allocator.alloc)
        slot->memory = pfi_aligned_alloc(PFI_SLOT_ALIGN, size);
    if (!slot->memory)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                        "no memory for a slot of %zu bytes", size);
    return PINFOLD_OK;
}

static pinfold_status open_host(pinfold_loader *loader, pinfold_error *err)
{
    pinfold_status status = open_ring(loader, &loader->host, err);

    for (int32_t i = 0; !status && i < loader->host.n_slots; i++) {
        struct pfi_slot *const slot = &loader->host.slots[i];

        status = alloc_host(loader, slot, i == 0, err);
        if (!status && loader->gpu)
            status = open_event(loader->gpu, &slot->consumed, err);
        if (!status)
            *(loader->pinned ? &loader->stats.pinned_bytes
                             : &loader->stats.host_bytes) += loader->slot_bytes;
    }
    return status;
}

static pinfold_status open_device(pinfold_loader *loader, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    pinfold_status status = open_ring(loader, &loader->dev, err);

    for (int32_t i = 0; !status && i < loader->dev.n_slots; i++) {
        struct pfi_slot *const slot = &loader->dev.slots[i];
        const int code =
            gpu->alloc(gpu->cookie, &slot->memory, loader->slot_bytes);

        if (code) {
            slot->memory = NULL;
            return pfi_fail_cuda(gpu, err, code, "cudaMalloc");
        }
        loader->stats.device_bytes += loader->slot_bytes;
        status = open_event(gpu, &slot->ready, err);
        if (!status)
            status = open_event(gpu, &slot->consumed, err);
    }
    return status;
}

pinfold_status pfi_slots_open(pinfold_loader *loader, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const bool upload = gpu && loader->options.upload != PINFOLD_UPLOAD_OFF;
    pinfold_status status = open_host(loader, err);

    if (status || !upload)
        return status;
    loader->stream = loader->options.stream;
    if (!loader->stream) {
        const int code = gpu->stream_create(gpu->cookie, &loader->stream);

        if (code)
            return pfi_fail_cuda(gpu, err, code, "cudaStreamCreateWithFlags");
        loader->own_stream = true;
    }
    return open_device(loader, err);
}

/* Results are not looked at: on the way out there is nobody to tell. */
static void close_slot(pinfold_loader *loader, struct pfi_slot *slot,
                       bool on_device, bool forked)
{
    const struct pfi_gpu *const gpu = forked ? NULL : loader->gpu;

    free_meta(&slot->meta);
    if (gpu && slot->ready)
        (void)gpu->event_destroy(gpu->cookie, slot->ready);
    if (gpu && slot->consumed)
        (void)gpu->event_destroy(gpu->cookie, slot->consumed);
    if (!slot->memory)
        return;
    if (on_device) {
        if (gpu)
            (void)gpu->dealloc(gpu->cookie, slot->memory);
    } else if (loader->allocator.alloc) {
        if (loader->allocator.free)
            loader->allocator.free(loader->allocator.cookie, slot->memory,
                                   loader->slot_bytes);
    } else if (loader->pinned) {
        if (gpu)
            (void)gpu->unpin(gpu->cookie, slot->memory);
    } else {
        pfi_free(slot->memory);
    }
}

static void close_ring(pinfold_loader *loader, struct pfi_ring *ring,
                       bool on_device, bool forked)
{
    for (int32_t i = 0; i < ring->n_slots; i++)
        close_slot(loader, &ring->slots[i], on_device, forked);
    pfi_free(ring->slots);
    *ring = (struct pfi_ring){0};
}

/* The caller's work on a batch that it gave back may still run. */
static void await_consumers(pinfold_loader *loader, struct pfi_ring *ring)
{
    const struct pfi_gpu *const gpu = loader->gpu;

    for (int32_t i = 0; i < ring->n_slots; i++)
        if (ring->slots[i].state == PFI_SLOT_RETURNING)
            (void)gpu->event_wait(gpu->cookie, ring->slots[i].consumed);
}

void pfi_slots_close(pinfold_loader *loader, bool forked)
{
    const struct pfi_gpu *const gpu = loader->gpu;

    if (gpu && !forked) {
        /* Behind a failed call a copy may still run. */
        if (loader->dev.n_slots && pfi_ring_count(&loader->host, PFI_SLOT_LENT))
            (void)gpu->stream_sync(gpu->cookie, loader->stream);
        await_consumers(loader, &loader->host);
        await_consumers(loader, &loader->dev);
    }
    close_ring(loader, &loader->dev, true, forked);
    close_ring(loader, &loader->host, false, forked);
    if (gpu && !forked && loader->own_stream)
        (void)gpu->stream_destroy(gpu->cookie, loader->stream);
}
