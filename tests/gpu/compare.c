/* SPDX-License-Identifier: Apache-2.0
 * Batches go to the device and back on three streams, and are compared with the
 * host loader's. */
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/device.h"

/* A batch on its way back, and the same from the host. */
struct flight {
    const pinfold_batch *host;
    unsigned char *back; /* pinned */
    long number;
};

static struct flight flights[CONSUMERS];

/* Waits for the batch that came back on stream i. */
static void land(int i)
{
    struct flight *const f = &flights[i];

    if (!f->host)
        return;
    device_must(cudaStreamSynchronize(device_streams[i]),
                "cudaStreamSynchronize");
    if (memcmp(f->back, f->host->data, f->host->size))
        device_fail("a batch differs from the host's", f->number);
    pinfold_batch_release(f->host);
    f->host = NULL;
}

/* Copies the batch back behind its upload, and gives it back: by stream, or
 * every fifth, when it has come, at once. */
static void fetch(const pinfold_batch *batch, const pinfold_batch *host,
                  long number)
{
    const int i = (int)(number % CONSUMERS);
    struct flight *const f = &flights[i];
    pinfold_error err;

    land(i);
    if (batch->data || batch->size != host->size ||
        memcmp(batch->labels, host->labels,
               (size_t)host->count * sizeof(*host->labels)) ||
        memcmp(batch->statuses, host->statuses,
               (size_t)host->count * sizeof(*host->statuses)))
        device_fail("a batch has other labels or another size", number);
    device_must(cudaStreamWaitEvent(device_streams[i], batch->ready_event, 0),
                "cudaStreamWaitEvent");
    device_must(cudaMemcpyAsync(f->back, batch->device_data, batch->size,
                                cudaMemcpyDeviceToHost, device_streams[i]),
                "cudaMemcpyAsync");
    f->host = host;
    f->number = number;
    if (number % 5 == 4) {
        land(i);
        pinfold_batch_release(batch);
    } else {
        device_ok(pinfold_batch_release_after(batch, device_streams[i], &err),
                  &err);
    }
}

static long run_epoch(pinfold_loader *device, pinfold_loader *host,
                      int64_t epoch)
{
    const pinfold_batch *there, *here;
    pinfold_error err;
    long n = 0;

    device_ok(pinfold_loader_start(device, epoch, &err), &err);
    device_ok(pinfold_loader_start(host, epoch, &err), &err);
    for (; device_next(device, &there) == PINFOLD_OK; n++) {
        if (device_next(host, &here) != PINFOLD_OK)
            device_fail("the host has fewer batches", n);
        fetch(there, here, n);
    }
    for (int i = 0; i < CONSUMERS; i++)
        land(i);
    return n;
}

long device_compare(const struct device_set *set, const struct device_way *way,
                    long epochs)
{
    static const struct device_way plain = {
        PINFOLD_UPLOAD_OFF, PINFOLD_MEMORY_PAGEABLE, 0, CONSUMERS + 1, 0};
    pinfold_loader *const device = device_open(set, way);
    pinfold_loader *const host = device_open(set, &plain);
    pinfold_error err;
    size_t bytes;
    void *ptr;
    long n = 0;

    device_ok(pinfold_recipe_size(&set->recipe, BATCH, &bytes, NULL, &err),
              &err);
    for (int i = 0; i < CONSUMERS; i++) {
        device_must(cudaHostAlloc(&ptr, bytes, cudaHostAllocPortable),
                    "cudaHostAlloc");
        flights[i].back = ptr;
    }
    for (long epoch = 0; epoch < epochs; epoch++)
        n += run_epoch(device, host, epoch);
    for (int i = 0; i < CONSUMERS; i++)
        device_must(cudaFreeHost(flights[i].back), "cudaFreeHost");
    pinfold_loader_close(device);
    pinfold_loader_close(host);
    return n;
}
