/* SPDX-License-Identifier: Apache-2.0
 * A batch as a DLPack tensor, which lies in the batch's slot. */
#include <pinfold/dlpack.h>

#include "src/load/internal.h"

static void delete_tensor(struct DLManagedTensorVersioned *self)
{
    struct pfi_slot *const slot = self->manager_ctx;
    pinfold_loader *const loader = slot->loader;
    pinfold_status status;

    self->manager_ctx = NULL;
    status =
        pinfold_batch_release_after(&slot->batch, slot->tensor.stream, NULL);
    /* Where that failed, when the consumer is done is not known: the batch
     * stays out, so that its memory is not written again. */
    (void)status;
    pfi_loader_let_go(loader);
}

static pinfold_status await_upload(pinfold_loader *loader,
                                   const struct pfi_slot *slot, void *stream,
                                   pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    int before = 0, code;
    pinfold_status status;

    if (!slot->ready)
        return PINFOLD_OK;
    status = pfi_device_enter(loader, &before, err);
    if (status)
        return status;
    code = gpu->stream_wait(gpu->cookie, stream, slot->ready);
    if (code)
        status = pfi_fail_cuda(gpu, err, code, "cudaStreamWaitEvent");
    return pfi_device_leave(loader, before, status, err);
}

static enum pfi_dl_device device_of(const struct pfi_slot *slot, uint32_t flags)
{
    const bool pinned =
        slot->kind == PFI_MEMORY_PINNED || slot->kind == PFI_MEMORY_REGISTERED;

    if (slot->batch.device_data)
        return PFI_DL_CUDA;
    /* pinfold_loader_next_into() puts a batch elsewhere. */
    return (flags & PINFOLD_DLPACK_CUDA_HOST) && pinned &&
                   slot->batch.data == slot->memory
               ? PFI_DL_CUDA_HOST
               : PFI_DL_CPU;
}

static enum pfi_dl_code code_of(pinfold_dtype dtype)
{
    switch (dtype) {
    case PINFOLD_U8: return PFI_DL_UINT;
    case PINFOLD_BF16: return PFI_DL_BFLOAT;
    case PINFOLD_F32:
    case PINFOLD_F16: break;
    }
    return PFI_DL_FLOAT;
}

static void set_strides(int64_t strides[4], const struct pfi_recipe *r)
{
    const bool nchw = r->layout == PINFOLD_NCHW;

    strides[0] = (int64_t)(r->sample_bytes / pfi_dtype_size(r->dtype));
    strides[1] = nchw ? (int64_t)r->plane : 3 * (int64_t)r->width;
    strides[2] = nchw ? r->width : 3;
    strides[3] = 1;
}

static void describe(struct pfi_slot *slot, enum pfi_dl_device device)
{
    const struct pfi_recipe *const r = &slot->loader->output;
    pinfold_batch *const batch = &slot->batch;
    struct pfi_tensor *const tensor = &slot->tensor;

    set_strides(tensor->strides, r);
    tensor->managed = (struct DLManagedTensorVersioned){
        .major = 1,
        .minor = 3,
        .manager_ctx = slot,
        .deleter = delete_tensor,
        .dl_tensor = {
            .data = batch->data ? batch->data : batch->device_data,
            .device_type = device,
            .device_id =
                device == PFI_DL_CUDA ? slot->loader->options.device : 0,
            .ndim = 4,
            .code = (uint8_t)code_of(r->dtype),
            .bits = (uint8_t)(8 * pfi_dtype_size(r->dtype)),
            .lanes = 1,
            .shape = batch->shape,
            .strides = tensor->strides,
        }};
}

pinfold_status pinfold_batch_to_dlpack(const pinfold_batch *batch, void *stream,
                                       uint32_t flags,
                                       struct DLManagedTensorVersioned **out,
                                       pinfold_error *err)
{
    /* The batch is its slot's first member. */
    struct pfi_slot *const slot = (struct pfi_slot *)(uintptr_t)batch;
    pinfold_loader *const loader = slot->loader;
    pinfold_status status;

    pfi_error_clear(err);
    *out = NULL;
    status = pfi_loader_check(loader, err);
    if (status)
        return status;
    if (flags & ~PINFOLD_DLPACK_CUDA_HOST)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "flags are %#x",
                        (unsigned)flags);
    if (!loader->gpu && stream)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "a stream, but the loader uses no device: %s",
                        loader->why_no_gpu);
    if (slot->tensor.managed.manager_ctx)
        return pfi_fail(err, PINFOLD_E_STATE, 0,
                        "the batch was handed over before");
    status = await_upload(loader, slot, stream, err);
    if (status)
        return status;
    slot->tensor.stream = stream;
    describe(slot, device_of(slot, flags));
    pfi_loader_hold(loader);
    *out = &slot->tensor.managed;
    return PINFOLD_OK;
}
