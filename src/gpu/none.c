/* SPDX-License-Identifier: Apache-2.0
 * The back end of a build without CUDA: no device, and why. */
#include "src/gpu/gpu.h"

/* cudaErrorNotSupported */
#define PFI_NOT_SUPPORTED 801

static int version(void *cookie, int *out)
{
    (void)cookie;
    *out = 0;
    return 0;
}

static int device_count(void *cookie, int *count)
{
    (void)cookie;
    *count = 0;
    return PFI_NOT_SUPPORTED;
}

static const char *error_name(void *cookie, int code)
{
    (void)cookie;
    (void)code;
    return "built without CUDA";
}

/* With no device none of the other functions is ever called. */
const struct pfi_gpu *pfi_gpu_default(void)
{
    static const struct pfi_gpu none = {
        .runtime_version = version,
        .driver_version = version,
        .device_count = device_count,
        .error_name = error_name,
    };

    return &none;
}
