/* SPDX-License-Identifier: Apache-2.0
 * DLPack 1.3's tensor, laid out as in dlpack.h, and what a slot needs to be
 * handed over as one. */
#ifndef PFI_LOAD_DLPACK_H
#define PFI_LOAD_DLPACK_H

#include <stdint.h>

enum pfi_dl_device { PFI_DL_CPU = 1, PFI_DL_CUDA = 2, PFI_DL_CUDA_HOST = 3 };
enum pfi_dl_code { PFI_DL_UINT = 1, PFI_DL_FLOAT = 2, PFI_DL_BFLOAT = 4 };

struct pfi_dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides in elements */
    uint64_t byte_offset;
};

struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    struct pfi_dl_tensor dl_tensor;
};

struct pfi_tensor {
    struct DLManagedTensorVersioned
        managed; /* manager_ctx: NULL, or the slot */
    int64_t strides[4];
    void *stream; /* of the consumer */
};

#endif
