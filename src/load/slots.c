/* SPDX-License-Identifier: Apache-2.0
 * The memory of both rings: allocated once, at open. */
#include <stdio.h>

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

size_t pfi_slot_labels(size_t count)
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

static pinfold_status no_memory(const pinfold_loader *loader,
                                pinfold_error *err)
{
    return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a slot of %zu bytes",
                    loader->slot_bytes);
}

static pinfold_status alloc_callers(pinfold_loader *loader,
                                    struct pfi_slot *slot, pinfold_error *err)
{
    slot->memory = loader->allocator.alloc(loader->allocator.cookie,
                                           loader->slot_bytes, PFI_SLOT_ALIGN);
    slot->kind = PFI_MEMORY_CALLERS;
    if (!slot->memory)
        return no_memory(loader, err);
    if ((uintptr_t)slot->memory % 256)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the allocator's memory is not aligned to %d",
                        PFI_SLOT_ALIGN);
    return PINFOLD_OK;
}

/* Pinned where that works: where cudaHostAlloc refuses, ordinary memory may
 * still be registered, and AUTO takes it as it is.  Once that has happened no
 * other slot is tried. */
static pinfold_status alloc_host(pinfold_loader *loader, struct pfi_slot *slot,
                                 pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    int code = 0, second;

    if (loader->allocator.alloc)
        return alloc_callers(loader, slot, err);
    if (loader->pinned) {
        code = gpu->pin(gpu->cookie, &slot->memory, loader->slot_bytes);
        slot->kind = PFI_MEMORY_PINNED;
        if (!code)
            return PINFOLD_OK;
    }
    slot->kind = PFI_MEMORY_PLAIN;
    slot->memory = pfi_pages_alloc(loader->slot_bytes);
    if (!slot->memory)
        return no_memory(loader, err);
    pfi_numa_place(&loader->numa, slot->memory, loader->slot_bytes);
    if (!loader->pinned)
        return PINFOLD_OK;
    second = gpu->host_register(gpu->cookie, slot->memory, loader->slot_bytes);
    if (!second) {
        slot->kind = PFI_MEMORY_REGISTERED;
        return PINFOLD_OK;
    }
    if (loader->options.memory == PINFOLD_MEMORY_PINNED)
        return pfi_fail(err, PINFOLD_E_CUDA, second,
                        "cudaHostAlloc: %s (%d), and cudaHostRegister: %s (%d)",
                        gpu->error_name(gpu->cookie, code), code,
                        gpu->error_name(gpu->cookie, second), second);
    loader->pinned = false;
    return PINFOLD_OK;
}

static void count_host(pinfold_stats *stats, const struct pfi_slot *slot,
                       size_t size)
{
    const bool pinned = slot->kind == PFI_MEMORY_PINNED ||
                        slot->kind == PFI_MEMORY_REGISTERED;

    *(pinned ? &stats->pinned_bytes : &stats->host_bytes) += size;
}

static pinfold_status open_host(pinfold_loader *loader, pinfold_error *err)
{
    pinfold_status status = open_ring(loader, &loader->host, err);

    for (int32_t i = 0; !status && i < loader->host.n_slots; i++) {
        struct pfi_slot *const slot = &loader->host.slots[i];

        status = alloc_host(loader, slot, err);
        if (!status && loader->gpu)
            status = open_event(loader->gpu, &slot->consumed, err);
        if (!status)
            count_host(&loader->stats, slot, loader->slot_bytes);
        if (!status && loader->staged.used)
            pfi_staged_fill(loader, slot);
    }
    return status;
}

pinfold_status pfi_fail_alloc(const pinfold_loader *loader, size_t bytes,
                              const char *what, int code, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    size_t left = 0, total = 0;

    if (gpu->memory_info(gpu->cookie, &left, &total))
        return pfi_fail_cuda(gpu, err, code, "cudaMalloc");
    return pfi_fail(err, PINFOLD_E_CUDA, code,
                    "cudaMalloc: %s (%d): %zu bytes asked for %s, %zu of device "
                    "%d's %zu are free",
                    gpu->error_name(gpu->cookie, code), code, bytes, what, left,
                    loader->options.device, total);
}

static pinfold_status no_room(const pinfold_loader *loader, int32_t slot,
                              int code, pinfold_error *err)
{
    char what[48];

    (void)snprintf(what, sizeof(what), "slot %d of %d", slot + 1,
                   loader->options.slots);
    return pfi_fail_alloc(loader, loader->device_bytes, what, code, err);
}

static pinfold_status open_device(pinfold_loader *loader, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    pinfold_status status = open_ring(loader, &loader->dev, err);

    for (int32_t i = 0; !status && i < loader->dev.n_slots; i++) {
        struct pfi_slot *const slot = &loader->dev.slots[i];
        const int code =
            gpu->alloc(gpu->cookie, &slot->memory, loader->device_bytes);

        if (code) {
            slot->memory = NULL;
            return no_room(loader, i, code, err);
        }
        slot->kind = PFI_MEMORY_DEVICE;
        loader->stats.device_bytes += loader->device_bytes;
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
    status = open_device(loader, err);
    if (!status && loader->staged.used)
        status = pfi_staged_open(loader, err);
    return status;
}

/* A forked child gives nothing back to the device. */
static void free_memory(pinfold_loader *loader, struct pfi_slot *slot,
                        const struct pfi_gpu *gpu)
{
    if (!slot->memory)
        return;
    switch (slot->kind) {
    case PFI_MEMORY_CALLERS:
        loader->allocator.dealloc(loader->allocator.cookie, slot->memory,
                                  loader->slot_bytes);
        break;
    case PFI_MEMORY_PINNED:
        if (gpu)
            (void)gpu->unpin(gpu->cookie, slot->memory);
        break;
    case PFI_MEMORY_DEVICE:
        if (gpu)
            (void)gpu->dealloc(gpu->cookie, slot->memory);
        break;
    case PFI_MEMORY_REGISTERED:
        if (gpu)
            (void)gpu->host_unregister(gpu->cookie, slot->memory);
        pfi_pages_free(slot->memory, loader->slot_bytes);
        break;
    case PFI_MEMORY_PLAIN:
        pfi_pages_free(slot->memory, loader->slot_bytes);
        break;
    }
}

/* Results are not looked at: on the way out there is nobody to tell. */
static void close_ring(pinfold_loader *loader, struct pfi_ring *ring,
                       bool forked)
{
    const struct pfi_gpu *const gpu = forked ? NULL : loader->gpu;

    for (int32_t i = 0; i < ring->n_slots; i++) {
        struct pfi_slot *const slot = &ring->slots[i];

        free_meta(&slot->meta);
        if (gpu && slot->ready)
            (void)gpu->event_destroy(gpu->cookie, slot->ready);
        if (gpu && slot->consumed)
            (void)gpu->event_destroy(gpu->cookie, slot->consumed);
        free_memory(loader, slot, gpu);
    }
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
    if (gpu && !forked)
        pfi_staged_close(loader);
    close_ring(loader, &loader->dev, forked);
    close_ring(loader, &loader->host, forked);
    if (gpu && !forked && loader->own_stream)
        (void)gpu->stream_destroy(gpu->cookie, loader->stream);
}
