/* SPDX-License-Identifier: Apache-2.0
 * Picks the kernels by what the CPU has. */
#include "src/codec/fastjpeg/kernels.h"

#include "src/base/cpu.h"

const struct pfi_fast_kernels pfi_fast_kernels_c = {
    "c",
    pfi_fast_decode_c,
    pfi_fast_ac_first_c,
    pfi_fast_ac_refine_c,
    pfi_fast_idct_c,
    pfi_fast_blend_rows_c,
    pfi_fast_double_blended_c,
    pfi_fast_double_row_c,
    pfi_fast_ycc_to_rgb_c,
};

/* Kernels by level, the best first. */
struct level {
    enum pfi_cpu_level level;
    const struct pfi_fast_kernels *kernels;
};

static const struct level levels[] = {
#if defined(__x86_64__)
    {PFI_CPU_AVX512, &pfi_fast_kernels_avx512},
    {PFI_CPU_AVX2, &pfi_fast_kernels_avx2},
    {PFI_CPU_SSE41, &pfi_fast_kernels_sse41},
#elif defined(__AARCH64EL__)
    {PFI_CPU_NEON, &pfi_fast_kernels_neon},
#endif
    {PFI_CPU_C, &pfi_fast_kernels_c},
};

static bool may_use(enum pfi_cpu_level level)
{
    if (!(pfi_cpu_levels() & 1u << level))
        return false;
#if defined(__x86_64__)
    /* BMI2 came with AVX2, but not everywhere. */
    if (level >= PFI_CPU_AVX2)
        return __builtin_cpu_supports("bmi2");
#endif
    return true;
}

#define N_LEVELS ((int)(sizeof(levels) / sizeof(levels[0])))

const struct pfi_fast_kernels *pfi_fast_kernels_for(int32_t level)
{
    for (int i = 0; i < N_LEVELS; i++)
        if ((!level || (int32_t)levels[i].level <= level) &&
            may_use(levels[i].level))
            return levels[i].kernels;
    return &pfi_fast_kernels_c;
}

const struct pfi_fast_kernels *pfi_fast_kernels_at(int i)
{
    for (int l = 0; l < N_LEVELS; l++)
        if (may_use(levels[l].level) && i-- == 0)
            return levels[l].kernels;
    return NULL;
}
