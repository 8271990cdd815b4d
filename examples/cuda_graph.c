/* SPDX-License-Identifier: Apache-2.0
 * A CUDA graph as the consumer.  A graph keeps the addresses that it was
 * captured with, and each batch lies in another slot: so a copy on the device
 * brings it to one place, behind which the slot is free again.
 * usage: cuda_graph ROOT */
#include <stdio.h>
#include <stdlib.h>

#include <pinfold/cuda.h>

#define BATCH 64
#define VALUES 4

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

static pinfold_loader *open_loader(const char *root)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;

    options.batch_size = BATCH;
    options.drop_last = 1; /* a graph's shapes are fixed */
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    check(pinfold_dataset_open(&dataset, root, NULL, &err), &err);
    check(pinfold_loader_open(&loader, dataset, &options, &err), &err);
    pinfold_dataset_close(dataset); /* the loader keeps it */
    check(pinfold_loader_start(loader, 0, &err), &err);
    return loader;
}

/* In place of a model: takes the first values of the input. */
static cudaGraphExec_t capture(const void *input, float *output,
                               cudaStream_t stream)
{
    cudaGraphExec_t executable;
    cudaGraph_t graph;

    /* Thread-local: what the loader's thread queues meanwhile is not captured,
     * and not forbidden either. */
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    check_cuda(cudaMemcpyAsync(output, input, VALUES * sizeof(*output),
                               cudaMemcpyDeviceToDevice, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiateWithFlags(&executable, graph, 0),
               "cudaGraphInstantiateWithFlags");
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
}

static long long run(pinfold_loader *loader, void *input,
                     cudaGraphExec_t graph, cudaStream_t stream)
{
    const pinfold_batch *batch;
    long long images = 0;
    pinfold_error err;

    while (pinfold_loader_next(loader, -1, &batch, &err) == PINFOLD_OK) {
        check_cuda(pinfold_cuda_wait(batch, stream), "cudaStreamWaitEvent");
        check_cuda(cudaMemcpyAsync(input, batch->device_data, batch->size,
                                   cudaMemcpyDeviceToDevice, stream),
                   "cudaMemcpyAsync");
        images += batch->count;
        /* The slot is free behind the copy, before the graph has run. */
        check(pinfold_cuda_release_after(batch, stream, &err), &err);
        check_cuda(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    }
    check(err.status, &err);
    return images;
}

int main(int argc, char **argv)
{
    float *output, values[VALUES] = {0};
    pinfold_loader *loader;
    cudaGraphExec_t graph;
    cudaStream_t stream;
    pinfold_error err;
    void *input;
    size_t size;

    if (argc != 2)
        return 2;
    check(pinfold_recipe_size(NULL, BATCH, &size, NULL, &err), &err);
    loader = open_loader(argv[1]);
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    check_cuda(cudaMalloc(&input, size), "cudaMalloc");
    check_cuda(cudaMalloc((void **)&output, sizeof(values)), "cudaMalloc");
    graph = capture(input, output, stream);
    const long long images = run(loader, input, graph, stream);

    check_cuda(cudaMemcpyAsync(values, output, sizeof(values),
                               cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    (void)printf("%lld images; the last batch begins with %g %g %g %g\n", images,
                 (double)values[0], (double)values[1], (double)values[2],
                 (double)values[3]);
    pinfold_loader_close(loader);
    check_cuda(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
    check_cuda(cudaFree(input), "cudaFree");
    check_cuda(cudaFree(output), "cudaFree");
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return 0;
}
