/* SPDX-License-Identifier: Apache-2.0
 * Picks the kernels by what the CPU has. */
#include "src/codec/fastjpeg/kernels.h"

const struct pfi_fast_kernels pfi_fast_kernels_c = {
    "c",
    pfi_fast_decode_c,
    pfi_fast_idct_c,
    pfi_fast_blend_rows_c,
    pfi_fast_double_blended_c,
    pfi_fast_double_row_c,
    pfi_fast_ycc_to_rgb_c,
};

#define PFI_MAX_LEVELS 4

#if defined(__x86_64__)
static int levels(const struct pfi_fast_kernels **out)
{
    const bool sse41 = __builtin_cpu_supports("sse4.1");
    const bool avx2 = sse41 && __builtin_cpu_supports("avx2") &&
                      __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl");
    int n = 0;

    if (avx512)
        out[n++] = &pfi_fast_kernels_avx512;
    if (avx2)
        out[n++] = &pfi_fast_kernels_avx2;
    if (sse41)
        out[n++] = &pfi_fast_kernels_sse41;
    out[n++] = &pfi_fast_kernels_c;
    return n;
}
#else
static int levels(const struct pfi_fast_kernels **out)
{
    out[0] = &pfi_fast_kernels_c;
    return 1;
}
#endif

const struct pfi_fast_kernels *pfi_fast_kernels_at(int i)
{
    const struct pfi_fast_kernels *all[PFI_MAX_LEVELS];
    const int n = levels(all);

    return i < n ? all[i] : NULL;
}

const struct pfi_fast_kernels *pfi_fast_kernels_best(void)
{
    return pfi_fast_kernels_at(0);
}
