/* SPDX-License-Identifier: Apache-2.0
 * How well decoding and copying overlap on a device. */
#include <stdlib.h>

#include "src/base/clock.h"
#include "tests/gpu/device.h"

/* Seconds of one epoch. */
static double time_epoch(pinfold_loader *loader, bool upload)
{
    const uint64_t start = pfi_now_ns();
    const pinfold_batch *batch;
    pinfold_error err;

    device_ok(pinfold_loader_start(loader, 0, &err), &err);
    while (device_next(loader, &batch) == PINFOLD_OK) {
        if (upload)
            device_ok(
                pinfold_batch_release_after(batch, device_streams[0], &err),
                &err);
        else
            pinfold_batch_release(batch);
    }
    /* The last copy is part of the epoch. */
    device_must(cudaStreamSynchronize(device_streams[0]),
                "cudaStreamSynchronize");
    return (double)(pfi_now_ns() - start) * 1e-9;
}

/* The least of three epochs behind a first one. */
static double time_way(const struct device_set *set,
                       const struct device_way *way)
{
    pinfold_loader *const loader = device_open(set, way);
    const bool upload = way->upload != PINFOLD_UPLOAD_OFF;
    double least = 1e9;

    (void)time_epoch(loader, upload);
    for (int i = 0; i < 3; i++) {
        const double seconds = time_epoch(loader, upload);

        least = seconds < least ? seconds : least;
    }
    pinfold_loader_close(loader);
    return least;
}

/* Seconds of a copy of so many bytes, the least of ten. */
static double time_copy(size_t bytes, bool pinned)
{
    double least = 1e9;
    void *device, *host;

    device_must(cudaMalloc(&device, bytes), "cudaMalloc");
    host = calloc(1, bytes);
    if (!host)
        device_fail("no memory for bytes:", (long)bytes);
    if (pinned)
        device_must(cudaHostRegister(host, bytes, cudaHostRegisterPortable),
                    "cudaHostRegister");
    for (int i = 0; i < 10; i++) {
        const uint64_t start = pfi_now_ns();
        double seconds;

        device_must(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice,
                                    device_streams[0]),
                    "cudaMemcpyAsync");
        device_must(cudaStreamSynchronize(device_streams[0]),
                    "cudaStreamSynchronize");
        seconds = (double)(pfi_now_ns() - start) * 1e-9;
        least = seconds < least ? seconds : least;
    }
    if (pinned)
        device_must(cudaHostUnregister(host), "cudaHostUnregister");
    free(host);
    device_must(cudaFree(device), "cudaFree");
    return least;
}

struct device_times device_measure(const struct device_set *set, bool pinned,
                                   bool normalize)
{
    struct device_way way = {
        PINFOLD_UPLOAD_OFF,
        pinned ? PINFOLD_MEMORY_PINNED : PINFOLD_MEMORY_PAGEABLE, 0, 3, 0};
    pinfold_recipe copied = set->recipe;
    struct device_times t = {0};
    pinfold_error err;
    size_t bytes, whole;

    if (normalize)
        copied.dtype = PINFOLD_U8;
    device_ok(pinfold_recipe_size(&copied, BATCH, &bytes, NULL, &err), &err);
    device_ok(pinfold_recipe_size(&set->recipe, BATCH, &whole, NULL, &err),
              &err);
    t.batches =
        (double)((pinfold_dataset_size(set->dataset) + BATCH - 1) / BATCH);
    t.batch_bytes = (double)whole;
    t.copied_bytes = (double)bytes;
    t.decode = time_way(set, &way);
    t.copy = time_copy(bytes, pinned);
    way.upload = PINFOLD_UPLOAD_REQUIRE;
    way.normalize = normalize;
    t.both = time_way(set, &way);
    return t;
}
