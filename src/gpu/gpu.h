/* SPDX-License-Identifier: Apache-2.0
 * The only way to the CUDA runtime: a table that the real back end, the one
 * that says "built without CUDA" and the tests' fake one fill. */
#ifndef PFI_GPU_GPU_H
#define PFI_GPU_GPU_H

#include <stddef.h>

/* A kernel's launch: blocks of `threads` in one row. */
struct pfi_gpu_grid {
    unsigned blocks_x, blocks_y, threads;
};

/* Codes are cudaError_t values; 0 is success.  Every function but
 * device_count, pci_bus_id, current_device, use_device and the version ones
 * works on the thread's current device.  error_name returns a literal.  The last
 * four are NULL where the runtime that was built with is too old for them:
 * before 12.8. */
struct pfi_gpu {
    void *cookie;
    int (*runtime_version)(void *cookie, int *version); /* 0 = none */
    int (*driver_version)(void *cookie, int *version);  /* 0 = no driver */
    int (*device_count)(void *cookie, int *count);
    /* Stores "0000:3B:00.0" in `text` of `size` bytes. */
    int (*pci_bus_id)(void *cookie, char *text, int size, int device);
    int (*current_device)(void *cookie, int *device);
    int (*use_device)(void *cookie, int device);
    int (*pin)(void *cookie, void **ptr, size_t size);
    int (*unpin)(void *cookie, void *ptr);
    int (*host_register)(void *cookie, void *ptr, size_t size); /* pins it */
    int (*host_unregister)(void *cookie, void *ptr);
    int (*alloc)(void *cookie, void **ptr, size_t size);
    int (*dealloc)(void *cookie, void *ptr);
    int (*memory_info)(void *cookie, size_t *free, size_t *total);
    int (*stream_create)(void *cookie, void **stream);
    int (*stream_destroy)(void *cookie, void *stream);
    int (*stream_wait)(void *cookie, void *stream, void *event);
    int (*stream_sync)(void *cookie, void *stream);
    int (*copy_async)(void *cookie, void *dst, const void *src, size_t size,
                      void *stream);
    int (*event_create)(void *cookie, void **event);
    int (*event_destroy)(void *cookie, void *event);
    int (*event_record)(void *cookie, void *event, void *stream);
    int (*event_wait)(void *cookie, void *event);
    const char *(*error_name)(void *cookie, int code);
    int (*library_load)(void *cookie, const char *ptx, void **library);
    int (*library_unload)(void *cookie, void *library);
    int (*library_kernel)(void *cookie, void *library, const char *name,
                          void **kernel);
    int (*launch)(void *cookie, void *kernel, const struct pfi_gpu_grid *grid,
                  void **arguments, void *stream);
};

/* PTX of normalize.cu, for elements of 2 and of 4 bytes. */
extern const char pfi_normalize_ptx_2[], pfi_normalize_ptx_4[];

/* The back end that this library was built with: src/gpu/cuda.c or none.c. */
const struct pfi_gpu *pfi_gpu_default(void);

/* Asks whether a device can be used.  Stores the number of usable devices
 * (0 = none) and, in words, "usable" or why not, a literal: "built without
 * CUDA", "no NVIDIA driver", "the NVIDIA driver is too old for this CUDA
 * runtime", "no CUDA device", "libcuda is the toolkit's stub", ... */
int pfi_gpu_probe(const struct pfi_gpu *gpu, int *devices, const char **why);

#endif
