/* SPDX-License-Identifier: Apache-2.0
 * A consumer with a stream of its own: the CPU waits for neither the upload nor
 * the work.  usage: cuda_stream ROOT */
#include <stdio.h>
#include <stdlib.h>

#include <pinfold/cuda.h>

static void check_cuda(cudaError_t code, const char *call)
{
    if (code == cudaSuccess)
        return;
    (void)fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(code));
    exit(1);
}

static void check(pinfold_status status, const pinfold_error *err)
{
    if (status >= 0)
        return;
    (void)fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static pinfold_loader *open_loader(const char *root, pinfold_recipe *recipe)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;

    options.recipe = recipe;
    options.batch_size = 64;
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    check(pinfold_dataset_open(&dataset, root, NULL, &err), &err);
    check(pinfold_loader_open(&loader, dataset, &options, &err), &err);
    pinfold_dataset_close(dataset); /* the loader keeps it */
    check(pinfold_loader_start(loader, 0, &err), &err);
    return loader;
}

/* In place of a model: fetches the first sample's first values. */
static void queue_work(const pinfold_batch *batch, float *out, size_t count,
                       cudaStream_t stream)
{
    check_cuda(cudaMemcpyAsync(out, batch->device_data, count * sizeof(*out),
                               cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync");
}

int main(int argc, char **argv)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_loader *loader;
    const pinfold_batch *batch;
    cudaStream_t stream;
    pinfold_error err;
    long long images = 0;
    float first[4] = {0};

    if (argc != 2)
        return 2;
    loader = open_loader(argv[1], &recipe);
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    while (pinfold_loader_next(loader, -1, &batch, &err) == PINFOLD_OK) {
        /* What is queued from here on begins when the copy is done ... */
        check_cuda(pinfold_cuda_wait(batch, stream), "cudaStreamWaitEvent");
        queue_work(batch, first, 4, stream);
        /* ... and the slot is filled again when the work is.  Only the numbers
         * are to be taken before. */
        images += batch->count;
        check(pinfold_cuda_release_after(batch, stream, &err), &err);
    }
    check(err.status, &err);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    (void)printf("%lld images; the last batch begins with %g %g %g %g\n", images,
                 (double)first[0], (double)first[1], (double)first[2],
                 (double)first[3]);
    pinfold_loader_close(loader);
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return 0;
}
