/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda.h - the CUDA types for pinfold's stream and event, for programs that
 * include the CUDA Runtime's headers anyway.
 */
#ifndef PINFOLD_CUDA_H
#define PINFOLD_CUDA_H

#include <cuda_runtime_api.h>
#include <pinfold/pinfold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes what is queued on `stream` from now on wait until the batch is on the
 * device.  Does not block the CPU.  A host batch needs no wait. */
static inline cudaError_t pinfold_cuda_wait(const pinfold_batch *batch,
                                            cudaStream_t stream)
{
    if (!batch->ready_event)
        return cudaSuccess;
    return cudaStreamWaitEvent(stream, (cudaEvent_t)batch->ready_event, 0);
}

/* pinfold_batch_release_after() with the stream's own type. */
static inline pinfold_status
pinfold_cuda_release_after(const pinfold_batch *batch, cudaStream_t stream,
                           pinfold_error *err)
{
    return pinfold_batch_release_after(batch, (void *)stream, err);
}

#ifdef __cplusplus
}
#endif

#endif /* PINFOLD_CUDA_H */
