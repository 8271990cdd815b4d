/* SPDX-License-Identifier: Apache-2.0
 * Which kernels each level of x86-64 brings. */
#include "transforms/x86/kernels_x86.h"

static void take_sse41(struct pfi_kernels *k)
{
    k->format = PFI_PACK_16;
    k->horizontal = pfi_horizontal_sse41;
    k->vertical = pfi_vertical_sse41;
    k->store[PINFOLD_U8][PINFOLD_NCHW] = pfi_store_u8_planes_sse41;
    k->flip = pfi_flip_sse41;
}

static void take_avx2(struct pfi_kernels *k)
{
    k->horizontal = pfi_horizontal_avx2;
    k->vertical = pfi_vertical_avx2;
    k->store[PINFOLD_F32][PINFOLD_NCHW] = pfi_store_f32_planes_avx2;
    k->store[PINFOLD_F32][PINFOLD_NHWC] = pfi_store_f32_interleaved_avx2;
    k->store[PINFOLD_F16][PINFOLD_NCHW] = pfi_store_f16_planes_avx2;
    k->store[PINFOLD_F16][PINFOLD_NHWC] = pfi_store_f16_interleaved_avx2;
    k->store[PINFOLD_BF16][PINFOLD_NCHW] = pfi_store_bf16_planes_avx2;
    k->store[PINFOLD_BF16][PINFOLD_NHWC] = pfi_store_bf16_interleaved_avx2;
}

static void take_avx512(struct pfi_kernels *k)
{
    k->format = PFI_PACK_8;
    k->horizontal = pfi_horizontal_avx512;
    k->vertical = pfi_vertical_avx512;
    k->store[PINFOLD_F32][PINFOLD_NCHW] = pfi_store_f32_planes_avx512;
    k->store[PINFOLD_F32][PINFOLD_NHWC] = pfi_store_f32_interleaved_avx512;
    k->store[PINFOLD_F16][PINFOLD_NCHW] = pfi_store_f16_planes_avx512;
    k->store[PINFOLD_F16][PINFOLD_NHWC] = pfi_store_f16_interleaved_avx512;
    k->store[PINFOLD_BF16][PINFOLD_NCHW] = pfi_store_bf16_planes_avx512;
    k->store[PINFOLD_BF16][PINFOLD_NHWC] = pfi_store_bf16_interleaved_avx512;
    k->store[PINFOLD_U8][PINFOLD_NCHW] = pfi_store_u8_planes_avx512;
}

void pfi_kernels_init_arch(struct pfi_kernels *kernels, unsigned levels)
{
    static const struct {
        enum pfi_cpu_level level;
        void (*take)(struct pfi_kernels *kernels);
    } rows[] = {{PFI_CPU_SSE41, take_sse41},
                {PFI_CPU_AVX2, take_avx2},
                {PFI_CPU_AVX512, take_avx512}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (levels & 1u << rows[i].level) {
            rows[i].take(kernels);
            kernels->level = rows[i].level;
        }
    }
}
