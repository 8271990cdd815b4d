/* SPDX-License-Identifier: Apache-2.0
 * How many CPUs this process may use, and what their vectors can do. */
#ifndef PFI_BASE_CPU_H
#define PFI_BASE_CPU_H

#include <pinfold/pinfold.h>

/* CPUs that both affinity and the cgroup's quota (v2 and v1, rounded up) allow;
 * at least 1. */
int pfi_cpu_count(void);

/* Sets of instructions that there are kernels for.  AVX2 includes FMA and F16C;
 * AVX512 is Ice Lake's: F, BW, VL, VBMI and VNNI. */
enum pfi_cpu_level {
    PFI_CPU_C = PINFOLD_CPU_C,
    PFI_CPU_SSE41 = PINFOLD_CPU_SSE41,
    PFI_CPU_AVX2 = PINFOLD_CPU_AVX2,
    PFI_CPU_AVX512 = PINFOLD_CPU_AVX512,
    PFI_CPU_NEON = PINFOLD_CPU_NEON
};

/* The levels that this CPU and its operating system have: bits 1 << level. */
unsigned pfi_cpu_levels(void);

/* "none" for C, "sse4.1", "avx2", "avx512", "neon". */
const char *pfi_cpu_level_name(enum pfi_cpu_level level);

#endif
