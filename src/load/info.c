/* SPDX-License-Identifier: Apache-2.0
 * What the library is, was built with, and finds. */
#include <stdio.h>

#include <jpeglib.h>
#include <zlib.h>

#include "src/base/error.h"
#include "src/gpu/gpu.h"
#include "transforms/kernels.h"

#define PFI_TEXT_(x) #x
#define PFI_TEXT(x) PFI_TEXT_(x)

/* Of the formats' libraries that the build found: the headers' versions. */
#ifndef PFI_WITH_TIFF
#define PFI_WITH_TIFF NULL
#endif
#ifndef PFI_WITH_WEBP
#define PFI_WITH_WEBP NULL
#endif

const char *pinfold_version(void)
{
    return PINFOLD_VERSION_STRING;
}

const char *pinfold_status_name(pinfold_status status)
{
    switch (status) {
    case PINFOLD_OK: return "PINFOLD_OK";
    case PINFOLD_END: return "PINFOLD_END";
    case PINFOLD_TIMEOUT: return "PINFOLD_TIMEOUT";
    case PINFOLD_E_ARGUMENT: return "PINFOLD_E_ARGUMENT";
    case PINFOLD_E_STATE: return "PINFOLD_E_STATE";
    case PINFOLD_E_MEMORY: return "PINFOLD_E_MEMORY";
    case PINFOLD_E_IO: return "PINFOLD_E_IO";
    case PINFOLD_E_FORMAT: return "PINFOLD_E_FORMAT";
    case PINFOLD_E_CORRUPT: return "PINFOLD_E_CORRUPT";
    case PINFOLD_E_LIMIT: return "PINFOLD_E_LIMIT";
    case PINFOLD_E_UNSUPPORTED: return "PINFOLD_E_UNSUPPORTED";
    case PINFOLD_E_THREAD: return "PINFOLD_E_THREAD";
    case PINFOLD_E_CUDA: return "PINFOLD_E_CUDA";
    case PINFOLD_E_FORK: return "PINFOLD_E_FORK";
    case PINFOLD_E_CANCELLED: return "PINFOLD_E_CANCELLED";
    }
    return "PINFOLD_E_?";
}

void pinfold_info_get(pinfold_info *out)
{
    const struct pfi_gpu *const gpu = pfi_gpu_default();
    pinfold_info info = {.struct_size = sizeof(info)};
    struct pfi_kernels kernels;
    int devices = 0, runtime = 0, driver = 0;

    (void)pfi_gpu_probe(gpu, &devices, &info.cuda_status);
    (void)gpu->runtime_version(gpu->cookie, &runtime);
    (void)gpu->driver_version(gpu->cookie, &driver);
    info.version = PINFOLD_VERSION_STRING;
    info.libjpeg_turbo = PFI_TEXT(LIBJPEG_TURBO_VERSION);
    info.zlib = zlibVersion();
    info.pillow = "13.0.0";
    info.torchvision = "0.29.2";
    pfi_kernels_init(&kernels, ~0u);
    info.simd = pfi_cpu_level_name(kernels.level);
    info.cuda_runtime = runtime;
    info.cuda_driver = driver;
    info.cuda_devices = devices;
    info.libtiff = PFI_WITH_TIFF;
    info.libwebp = PFI_WITH_WEBP;
    pfi_struct_out(out, &info, sizeof(info));
}
