/* SPDX-License-Identifier: Apache-2.0
 * Which kernels AArch64 brings. */
#include "transforms/arm/kernels_arm.h"

void pfi_kernels_init_arch(struct pfi_kernels *k, unsigned levels)
{
    if (!(levels & 1u << PFI_CPU_NEON))
        return;
    k->level = PFI_CPU_NEON;
    k->format = PFI_PACK_32;
    k->horizontal = pfi_horizontal_neon;
    k->vertical = pfi_vertical_neon;
    k->store[PINFOLD_F32][PINFOLD_NCHW] = pfi_store_f32_planes_neon;
    k->store[PINFOLD_F32][PINFOLD_NHWC] = pfi_store_f32_interleaved_neon;
    k->store[PINFOLD_F16][PINFOLD_NCHW] = pfi_store_f16_planes_neon;
    k->store[PINFOLD_F16][PINFOLD_NHWC] = pfi_store_f16_interleaved_neon;
    k->store[PINFOLD_BF16][PINFOLD_NCHW] = pfi_store_bf16_planes_neon;
    k->store[PINFOLD_BF16][PINFOLD_NHWC] = pfi_store_bf16_interleaved_neon;
    k->store[PINFOLD_U8][PINFOLD_NCHW] = pfi_store_u8_planes_neon;
    k->flip = pfi_flip_neon;
}
