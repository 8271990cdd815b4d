/* SPDX-License-Identifier: Apache-2.0
 * The kernels of x86-64, by level; only init.c calls them. */
#ifndef PFI_TRANSFORMS_X86_KERNELS_X86_H
#define PFI_TRANSFORMS_X86_KERNELS_X86_H

#include "transforms/kernels.h"

typedef void pfi_horizontal_function(unsigned char *out,
                                     const unsigned char *in,
                                     const struct pfi_pack *pack);
typedef void pfi_vertical_function(unsigned char *out,
                                   const unsigned char *const *rows,
                                   const int32_t *weights, int32_t count,
                                   size_t bytes);

pfi_horizontal_function pfi_horizontal_sse41, pfi_horizontal_avx2,
    pfi_horizontal_avx512;
pfi_vertical_function pfi_vertical_sse41, pfi_vertical_avx2,
    pfi_vertical_avx512;
pfi_store_function pfi_store_u8_planes_sse41;
pfi_store_function pfi_store_f32_planes_avx2, pfi_store_f32_interleaved_avx2,
    pfi_store_f16_planes_avx2, pfi_store_f16_interleaved_avx2,
    pfi_store_bf16_planes_avx2, pfi_store_bf16_interleaved_avx2;
pfi_store_function pfi_store_f32_planes_avx512,
    pfi_store_f32_interleaved_avx512, pfi_store_f16_planes_avx512,
    pfi_store_f16_interleaved_avx512, pfi_store_bf16_planes_avx512,
    pfi_store_bf16_interleaved_avx512, pfi_store_u8_planes_avx512;
void pfi_flip_sse41(unsigned char *out, const unsigned char *in, size_t n);

#endif
