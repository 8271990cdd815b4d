/* SPDX-License-Identifier: Apache-2.0
 * The real back end: the CUDA Runtime. */
#include <cuda_runtime_api.h>

#include "src/gpu/gpu.h"

/* A failed call is kept as the thread's last error, where the program's own
 * next check would find it. */
static int done(cudaError_t code)
{
    if (code != cudaSuccess)
        (void)cudaGetLastError();
    return (int)code;
}

static int runtime_version(void *cookie, int *version)
{
    (void)cookie;
    return done(cudaRuntimeGetVersion(version));
}

static int driver_version(void *cookie, int *version)
{
    (void)cookie;
    return done(cudaDriverGetVersion(version));
}

static int device_count(void *cookie, int *count)
{
    (void)cookie;
    return done(cudaGetDeviceCount(count));
}

static int pci_bus_id(void *cookie, char *text, int size, int device)
{
    (void)cookie;
    return done(cudaDeviceGetPCIBusId(text, size, device));
}

static int current_device(void *cookie, int *device)
{
    (void)cookie;
    return done(cudaGetDevice(device));
}

static int use_device(void *cookie, int device)
{
    (void)cookie;
    return done(cudaSetDevice(device));
}

/* Portable: pinned for every device, whichever was current. */
static int pin(void *cookie, void **ptr, size_t size)
{
    (void)cookie;
    return done(cudaHostAlloc(ptr, size, cudaHostAllocPortable));
}

static int unpin(void *cookie, void *ptr)
{
    (void)cookie;
    return done(cudaFreeHost(ptr));
}

static int host_register(void *cookie, void *ptr, size_t size)
{
    (void)cookie;
    return done(cudaHostRegister(ptr, size, cudaHostRegisterPortable));
}

static int host_unregister(void *cookie, void *ptr)
{
    (void)cookie;
    return done(cudaHostUnregister(ptr));
}

static int alloc(void *cookie, void **ptr, size_t size)
{
    (void)cookie;
    return done(cudaMalloc(ptr, size));
}

static int dealloc(void *cookie, void *ptr)
{
    (void)cookie;
    return done(cudaFree(ptr));
}

static int memory_info(void *cookie, size_t *free, size_t *total)
{
    (void)cookie;
    return done(cudaMemGetInfo(free, total));
}

/* Does not wait for the legacy default stream. */
static int stream_create(void *cookie, void **stream)
{
    cudaStream_t made = NULL;
    const int code =
        done(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));

    (void)cookie;
    *stream = (void *)made;
    return code;
}

static int stream_destroy(void *cookie, void *stream)
{
    (void)cookie;
    return done(cudaStreamDestroy((cudaStream_t)stream));
}

static int stream_wait(void *cookie, void *stream, void *event)
{
    (void)cookie;
    return done(
        cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}

static int stream_sync(void *cookie, void *stream)
{
    (void)cookie;
    return done(cudaStreamSynchronize((cudaStream_t)stream));
}

static int copy_async(void *cookie, void *dst, const void *src, size_t size,
                      void *stream)
{
    (void)cookie;
    return done(cudaMemcpyAsync(dst, src, size, cudaMemcpyHostToDevice,
                                (cudaStream_t)stream));
}

/* BlockingSync: the thread that waits sleeps instead of spinning. */
static int event_create(void *cookie, void **event)
{
    cudaEvent_t made = NULL;
    const int code = done(cudaEventCreateWithFlags(
        &made, cudaEventDisableTiming | cudaEventBlockingSync));

    (void)cookie;
    *event = (void *)made;
    return code;
}

static int event_destroy(void *cookie, void *event)
{
    (void)cookie;
    return done(cudaEventDestroy((cudaEvent_t)event));
}

static int event_record(void *cookie, void *event, void *stream)
{
    (void)cookie;
    return done(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
}

static int event_wait(void *cookie, void *event)
{
    (void)cookie;
    return done(cudaEventSynchronize((cudaEvent_t)event));
}

/* With them a kernel needs neither nvcc at build time nor libcuda. */
#if CUDART_VERSION >= 12080
static int library_load(void *cookie, const char *ptx, void **library)
{
    cudaLibrary_t made = NULL;
    const int code =
        done(cudaLibraryLoadData(&made, ptx, NULL, NULL, 0, NULL, NULL, 0));

    (void)cookie;
    *library = (void *)made;
    return code;
}

static int library_unload(void *cookie, void *library)
{
    (void)cookie;
    return done(cudaLibraryUnload((cudaLibrary_t)library));
}

static int library_kernel(void *cookie, void *library, const char *name,
                          void **kernel)
{
    cudaKernel_t found = NULL;
    const int code =
        done(cudaLibraryGetKernel(&found, (cudaLibrary_t)library, name));

    (void)cookie;
    *kernel = (void *)found;
    return code;
}

static int launch(void *cookie, void *kernel, const struct pfi_gpu_grid *grid,
                  void **arguments, void *stream)
{
    const dim3 blocks = {grid->blocks_x, grid->blocks_y, 1};
    const dim3 threads = {grid->threads, 1, 1};

    (void)cookie;
    return done(cudaLaunchKernel(kernel, blocks, threads, arguments, 0,
                                 (cudaStream_t)stream));
}
#endif

static const char *error_name(void *cookie, int code)
{
    (void)cookie;
    return cudaGetErrorName((cudaError_t)code);
}

const struct pfi_gpu *pfi_gpu_default(void)
{
    static const struct pfi_gpu cuda = {
        .runtime_version = runtime_version,
        .driver_version = driver_version,
        .device_count = device_count,
        .pci_bus_id = pci_bus_id,
        .current_device = current_device,
        .use_device = use_device,
        .pin = pin,
        .unpin = unpin,
        .host_register = host_register,
        .host_unregister = host_unregister,
        .alloc = alloc,
        .dealloc = dealloc,
        .memory_info = memory_info,
        .stream_create = stream_create,
        .stream_destroy = stream_destroy,
        .stream_wait = stream_wait,
        .stream_sync = stream_sync,
        .copy_async = copy_async,
        .event_create = event_create,
        .event_destroy = event_destroy,
        .event_record = event_record,
        .event_wait = event_wait,
        .error_name = error_name,
#if CUDART_VERSION >= 12080
        .library_load = library_load,
        .library_unload = library_unload,
        .library_kernel = library_kernel,
        .launch = launch,
#endif
    };

    return &cuda;
}
