/* SPDX-License-Identifier: Apache-2.0
 * Uploads on a real device: what comes back from it equals the host's batches,
 * byte for byte; then how well decoding and copying overlap.  Skips (77) where
 * no device can be used, and says why.
 * usage: test_device [EPOCHS [SAMPLES]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "src/base/clock.h"
#include "tests/support/fakeset.h"

#define BATCH 64

static struct fake_set set;
static pinfold_recipe recipe;
static cudaStream_t consumers[2];
static unsigned char *back[2]; /* pinned; a consumer's batch comes here */
static size_t batch_bytes;

static void must(int code, const char *what)
{
    if (!code)
        return;
    (void)fprintf(stderr, "%s: %d (%s)\n", what, code,
                  cudaGetErrorName((cudaError_t)code));
    exit(1);
}

static void ok(pinfold_status status, const pinfold_error *err)
{
    if (status >= 0)
        return;
    (void)fprintf(stderr, "%s: %s\n", pinfold_status_name(status),
                  err->message);
    exit(1);
}

static pinfold_loader *open_loader(pinfold_upload upload, pinfold_memory memory,
                                   int32_t workers, int32_t slots)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_loader *loader;
    pinfold_error err;

    options.recipe = &recipe;
    options.batch_size = BATCH;
    options.workers = workers;
    options.slots = slots;
    options.shuffle = 1;
    options.upload = upload;
    options.memory = memory;
    ok(pfi_loader_open(&loader, set.dataset, &options, NULL, &set.reader, &err),
       &err);
    return loader;
}

static pinfold_status next(pinfold_loader *loader, const pinfold_batch **batch)
{
    pinfold_error err;
    const pinfold_status status = pinfold_loader_next(loader, -1, batch, &err);

    ok(status, &err);
    return status;
}

/* Copies the batch back on stream i, behind its upload, and gives it back. */
static void fetch(const pinfold_batch *batch, int i)
{
    pinfold_error err;

    must(cudaStreamWaitEvent(consumers[i], batch->ready_event, 0),
         "cudaStreamWaitEvent");
    must(cudaMemcpyAsync(back[i], batch->device_data, batch->size,
                         cudaMemcpyDeviceToHost, consumers[i]),
         "cudaMemcpyAsync");
    ok(pinfold_batch_release_after(batch, consumers[i], &err), &err);
}

/* Epochs of both loaders side by side; returns the batches that were compared
 * and ends the program at one that differs. */
static long compare(pinfold_loader *device, pinfold_loader *host, long epochs)
{
    const pinfold_batch *there, *here;
    pinfold_error err;
    long n = 0;

    for (long epoch = 0; epoch < epochs; epoch++) {
        ok(pinfold_loader_start(device, epoch, &err), &err);
        ok(pinfold_loader_start(host, epoch, &err), &err);
        for (; next(device, &there) == PINFOLD_OK; n++) {
            const size_t size = there->size;

            fetch(there, (int)(n % 2));
            must(cudaStreamSynchronize(consumers[n % 2]),
                 "cudaStreamSynchronize");
            if (next(host, &here) || here->size != size ||
                memcmp(back[n % 2], here->data, size)) {
                (void)fprintf(stderr, "epoch %ld, batch %ld differs\n", epoch,
                              n);
                exit(1);
            }
            pinfold_batch_release(here);
        }
    }
    return n;
}

static long compare_all(long epochs)
{
    static const pinfold_memory memory[] = {PINFOLD_MEMORY_PINNED,
                                            PINFOLD_MEMORY_PAGEABLE};
    long n = 0;

    for (int m = 0; m < 2; m++) {
        for (int32_t slots = 1; slots <= 3; slots++) {
            const int32_t workers = slots == 2 ? PINFOLD_OFF : 0;
            pinfold_loader *const device =
                open_loader(PINFOLD_UPLOAD_REQUIRE, memory[m], workers, slots);
            pinfold_loader *const host =
                open_loader(PINFOLD_UPLOAD_OFF, PINFOLD_MEMORY_PAGEABLE, 0, 2);

            n += compare(device, host, epochs);
            pinfold_loader_close(device);
            pinfold_loader_close(host);
        }
    }
    return n;
}

/* Seconds of one epoch, without and with uploads. */
static double time_epoch(pinfold_loader *loader, bool upload)
{
    const uint64_t start = pfi_now_ns();
    const pinfold_batch *batch;
    pinfold_error err;

    ok(pinfold_loader_start(loader, 0, &err), &err);
    while (next(loader, &batch) == PINFOLD_OK) {
        if (upload)
            ok(pinfold_batch_release_after(batch, consumers[0], &err), &err);
        else
            pinfold_batch_release(batch);
    }
    return (double)(pfi_now_ns() - start) * 1e-9;
}

/* Seconds of a copy of one batch, the least of ten. */
static double time_copy(void)
{
    double least = 1e9;
    void *device;

    must(cudaMalloc(&device, batch_bytes), "cudaMalloc");
    for (int i = 0; i < 10; i++) {
        const uint64_t start = pfi_now_ns();
        double seconds;

        must(cudaMemcpyAsync(device, back[0], batch_bytes,
                             cudaMemcpyHostToDevice, consumers[0]),
             "cudaMemcpyAsync");
        must(cudaStreamSynchronize(consumers[0]), "cudaStreamSynchronize");
        seconds = (double)(pfi_now_ns() - start) * 1e-9;
        least = seconds < least ? seconds : least;
    }
    must(cudaFree(device), "cudaFree");
    return least;
}

static void measure(void)
{
    pinfold_loader *loader =
        open_loader(PINFOLD_UPLOAD_OFF, PINFOLD_MEMORY_PINNED, 0, 3);
    const double n = (double)pinfold_loader_batch_count(loader);
    double decode, copy, both, bound;

    (void)time_epoch(loader, false);
    decode = time_epoch(loader, false);
    pinfold_loader_close(loader);
    copy = time_copy();
    loader = open_loader(PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_PINNED, 0, 3);
    (void)time_epoch(loader, true);
    both = time_epoch(loader, true);
    pinfold_loader_close(loader);
    bound = (decode > n * copy ? decode : n * copy) + decode / n + copy;
    (void)printf(
        "a batch of %.1f MB: decode %.3f ms, copy %.3f ms (%.1f GB/s)\n",
        (double)batch_bytes * 1e-6, decode / n * 1e3, copy * 1e3,
        (double)batch_bytes / copy * 1e-9);
    (void)printf("an epoch: decode %.3f ms, copies %.3f ms, with uploads %.3f "
                 "ms: %.3f of n max(d, c) + d + c\n",
                 decode * 1e3, n * copy * 1e3, both * 1e3, both / bound);
}

int main(int argc, char **argv)
{
    const long epochs = argc > 1 ? atol(argv[1]) : 2;
    const int samples = argc > 2 ? atoi(argv[2]) : 1000;
    pinfold_info info = {.struct_size = sizeof(info)};
    pinfold_error err;

    pinfold_info_get(&info);
    if (!info.cuda_devices) {
        (void)printf("skipped: %s\n", info.cuda_status);
        return 77;
    }
    fake_set_open(&set, samples);
    recipe = pinfold_recipe_default();
    ok(pinfold_recipe_size(&recipe, BATCH, &batch_bytes, NULL, &err), &err);
    must(cudaSetDevice(0), "cudaSetDevice");
    for (int i = 0; i < 2; i++) {
        void *ptr;

        must(cudaStreamCreateWithFlags(&consumers[i], cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags");
        must(cudaHostAlloc(&ptr, batch_bytes, cudaHostAllocPortable),
             "cudaHostAlloc");
        back[i] = ptr;
        memset(ptr, 0, batch_bytes);
    }
    (void)printf("%ld batches came back as they were made\n",
                 compare_all(epochs));
    measure();
    for (int i = 0; i < 2; i++) {
        must(cudaStreamDestroy(consumers[i]), "cudaStreamDestroy");
        must(cudaFreeHost(back[i]), "cudaFreeHost");
    }
    must(cudaGetLastError(), "cudaGetLastError");
    fake_set_close(&set);
    return 0;
}
