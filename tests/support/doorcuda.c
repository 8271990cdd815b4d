/* SPDX-License-Identifier: Apache-2.0
 * The fake device through the real back end and the fake libcudart. */
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "tests/support/door.h"
#include "tests/support/fakecudart.h"

struct fake_gpu *fake_door_open(int devices, const struct pfi_gpu **gpu)
{
    struct fake_gpu *const fake = fake_gpu_start(devices);

    fake_cudart_use(fake);
    *gpu = pfi_gpu_default();
    return fake;
}

const char *fake_door_close(struct fake_gpu *fake)
{
    const char *const wrong =
        cudaGetLastError() != cudaSuccess
            ? "a failure is left as the thread's last CUDA error"
            : NULL;

    fake_cudart_use(NULL);
    fake_gpu_end(fake);
    return wrong;
}
