/* SPDX-License-Identifier: Apache-2.0
 * Why there is no device, in words. */
#include "src/gpu/gpu.h"

/* Codes of driver_types.h; that header may not be here. */
static const char *reason(int code, int runtime, int driver)
{
    if (runtime == 0)
        return "built without CUDA";
    switch (code) {
    case 3: return "the CUDA driver could not be initialised";
    case 34: return "libcuda is the toolkit's stub, not a driver";
    case 35:
        return driver == 0 ? "no NVIDIA driver"
                           : "the NVIDIA driver is too old for this CUDA "
                             "runtime";
    case 100: return "no CUDA device";
    case 802: return "the device's fabric is not ready yet";
    case 803: return "the NVIDIA driver and its libraries do not match";
    case 804: return "the driver's compatibility mode does not take this device";
    default: return "the CUDA runtime reported an unknown error";
    }
}

int pfi_gpu_probe(const struct pfi_gpu *gpu, int *devices, const char **why)
{
    int runtime = 0, driver = 0, count = 0;
    int code;

    (void)gpu->runtime_version(gpu->cookie, &runtime);
    (void)gpu->driver_version(gpu->cookie, &driver);
    code = gpu->device_count(gpu->cookie, &count);
    *devices = code ? 0 : count;
    *why = code        ? reason(code, runtime, driver)
           : count > 0 ? "usable"
                       : "no CUDA device";
    return code;
}
