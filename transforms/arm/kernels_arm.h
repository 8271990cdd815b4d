/* SPDX-License-Identifier: Apache-2.0
 * The kernels of AArch64; only init.c calls them. */
#ifndef PFI_TRANSFORMS_ARM_KERNELS_ARM_H
#define PFI_TRANSFORMS_ARM_KERNELS_ARM_H

#include "transforms/kernels.h"

void pfi_horizontal_neon(unsigned char *out, const unsigned char *in,
                         const struct pfi_pack *pack);
void pfi_vertical_neon(unsigned char *out, const unsigned char *const *rows,
                       const int32_t *weights, int32_t count, size_t bytes);
pfi_store_function pfi_store_f32_planes_neon, pfi_store_f32_interleaved_neon,
    pfi_store_f16_planes_neon, pfi_store_f16_interleaved_neon,
    pfi_store_bf16_planes_neon, pfi_store_bf16_interleaved_neon,
    pfi_store_u8_planes_neon;
void pfi_flip_neon(unsigned char *out, const unsigned char *in, size_t n);

#endif
