/* SPDX-License-Identifier: Apache-2.0
 *
 * dlpack.h - a batch as a DLPack tensor: what numpy, torch, JAX, CuPy, TVM and
 * others take as theirs without a copy.
 */
#ifndef PINFOLD_DLPACK_H
#define PINFOLD_DLPACK_H

#include <pinfold/pinfold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whoever looks inside includes <dlpack/dlpack.h>, 1.0 or later, or torch's
 * <ATen/dlpack.h>; whoever only hands it on needs neither. */
struct DLManagedTensorVersioned;

/* Pinned memory is called kDLCUDAHost, which torch refuses, not kDLCPU. */
#define PINFOLD_DLPACK_CUDA_HOST 1u

/* Hands `batch` over as a DLPack 1.3 tensor, which it stores in *out: kDLCUDA
 * with the loader's device, or kDLCPU; of the recipe's type and layout, with
 * strides, writable, byte_offset 0.  Copies and allocates nothing.
 *
 * `stream` is the one that will work on it, a cudaStream_t; NULL = the legacy
 * default stream.  It is made to wait for the upload here, and the tensor's
 * deleter, which any thread may call, is pinfold_batch_release_after() on it
 * (where that fails, the batch stays out).  Host batches of a loader that uses
 * no device need NULL, and their deleter is pinfold_batch_release().
 *
 * The batch's labels and the rest stay readable until the deleter was called;
 * releasing the batch is then no longer the caller's.  Tensors may outlive
 * pinfold_loader_close(): the last one's deleter frees what the close left,
 * from its own thread.  `flags` is 0 or PINFOLD_DLPACK_CUDA_HOST.
 *
 * PINFOLD_E_STATE: the batch was handed over before.  On error it is the
 * caller's still. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status pinfold_batch_to_dlpack(
    const pinfold_batch *batch, void *stream, uint32_t flags,
    struct DLManagedTensorVersioned **out, pinfold_error *err);

#ifdef __cplusplus
}
#endif

#endif /* PINFOLD_DLPACK_H */
