/* SPDX-License-Identifier: Apache-2.0
 * libcudart's names on a fake device, with the rules of flags and of the last
 * error. */
#include "tests/support/fakecudart.h"

#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

static struct fake_gpu *fake;
static const struct pfi_gpu *gpu;
static _Thread_local cudaError_t last;

void fake_cudart_use(struct fake_gpu *used)
{
    fake = used;
    gpu = used ? fake_gpu_table(used) : NULL;
}

/* A program that knows nothing of the fake has one device, or as the test that
 * runs it says: "DEVICES CODE-OF-THE-COUNT DRIVER BYTES-OF-A-DEVICE". */
static struct fake_gpu *first;

__attribute__((constructor)) static void begin(void)
{
    const char *const words = getenv("PINFOLD_FAKE_GPU");
    int devices = 1, code = 0, driver = 13000;
    unsigned long long room = 0;

    if (words &&
        sscanf(words, "%d %d %d %llu", &devices, &code, &driver, &room) != 4)
        abort();
    first = fake_gpu_start(devices);
    if (!first)
        abort();
    fake_gpu_script(first, code, 13000, driver);
    fake_gpu_room(first, (size_t)room);
    fake_cudart_use(first);
}

__attribute__((destructor)) static void end(void)
{
    if (first)
        fake_gpu_end(first);
}

static cudaError_t keep(int code)
{
    if (code)
        last = (cudaError_t)code;
    return (cudaError_t)code;
}

static void expect(int right, const char *rule)
{
    if (!right)
        fake_gpu_report(fake, rule);
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t code = last;

    last = cudaSuccess;
    return code;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return gpu->error_name(gpu->cookie, (int)error);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return keep(gpu->runtime_version(gpu->cookie, version));
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return keep(gpu->driver_version(gpu->cookie, version));
}

cudaError_t cudaGetDeviceCount(int *count)
{
    return keep(gpu->device_count(gpu->cookie, count));
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    return keep(gpu->pci_bus_id(gpu->cookie, text, size, device));
}

cudaError_t cudaGetDevice(int *device)
{
    return keep(gpu->current_device(gpu->cookie, device));
}

cudaError_t cudaSetDevice(int device)
{
    return keep(gpu->use_device(gpu->cookie, device));
}

cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned flags)
{
    expect(flags == cudaHostAllocPortable, "cudaHostAlloc is not portable");
    return keep(gpu->pin(gpu->cookie, ptr, size));
}

cudaError_t cudaFreeHost(void *ptr)
{
    return keep(gpu->unpin(gpu->cookie, ptr));
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned flags)
{
    expect(flags == cudaHostRegisterPortable,
           "cudaHostRegister is not portable");
    return keep(gpu->host_register(gpu->cookie, ptr, size));
}

cudaError_t cudaHostUnregister(void *ptr)
{
    return keep(gpu->host_unregister(gpu->cookie, ptr));
}

cudaError_t cudaMalloc(void **ptr, size_t size)
{
    return keep(gpu->alloc(gpu->cookie, ptr, size));
}

cudaError_t cudaFree(void *ptr)
{
    return keep(gpu->dealloc(gpu->cookie, ptr));
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    return keep(gpu->memory_info(gpu->cookie, free, total));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    expect(flags == cudaStreamNonBlocking,
           "the stream waits for the legacy default stream");
    return keep(gpu->stream_create(gpu->cookie, (void **)stream));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return keep(gpu->stream_destroy(gpu->cookie, stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags)
{
    expect(flags == 0, "cudaStreamWaitEvent has flags");
    return keep(gpu->stream_wait(gpu->cookie, stream, event));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return keep(gpu->stream_sync(gpu->cookie, stream));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (kind == cudaMemcpyDeviceToHost)
        return keep(fake_gpu_copy_back(fake, dst, src, size, stream));
    expect(kind == cudaMemcpyHostToDevice, "the copy has another direction");
    return keep(gpu->copy_async(gpu->cookie, dst, src, size, stream));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    expect(flags == (cudaEventDisableTiming | cudaEventBlockingSync),
           "the event spins, or takes the time");
    return keep(gpu->event_create(gpu->cookie, (void **)event));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return keep(gpu->event_destroy(gpu->cookie, event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return keep(gpu->event_record(gpu->cookie, event, stream));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return keep(gpu->event_wait(gpu->cookie, event));
}

/* What the tests ask of a device, and the library does not. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *ptr)
{
    const int kind = fake_gpu_kind_of(fake, ptr);

    *attributes = (struct cudaPointerAttributes){
        .type = kind == 2   ? cudaMemoryTypeDevice
                : kind == 1 ? cudaMemoryTypeHost
                            : cudaMemoryTypeUnregistered};
    return cudaSuccess;
}

#if CUDART_VERSION >= 12080
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                enum cudaJitOption *options, void **values,
                                unsigned n_options,
                                enum cudaLibraryOption *library_options,
                                void **library_values,
                                unsigned n_library_options)
{
    expect(!options && !values && !n_options && !library_options &&
               !library_values && !n_library_options,
           "cudaLibraryLoadData has options");
    return keep(gpu->library_load(gpu->cookie, code, (void **)library));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return keep(gpu->library_unload(gpu->cookie, library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                 const char *name)
{
    return keep(
        gpu->library_kernel(gpu->cookie, library, name, (void **)kernel));
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                             void **arguments, size_t shared,
                             cudaStream_t stream)
{
    const struct pfi_gpu_grid taken = {grid.x, grid.y, block.x};

    expect(grid.z == 1 && block.y == 1 && block.z == 1 && shared == 0,
           "the kernel has another shape");
    return keep(gpu->launch(gpu->cookie, (void *)(uintptr_t)kernel, &taken,
                            arguments, stream));
}
#endif
