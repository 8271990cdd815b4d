/* SPDX-License-Identifier: Apache-2.0
 * Which vector instructions may be used. */
#include "src/base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdbool.h>

/* __builtin_cpu_supports() also looks at which registers the operating system
 * saves.  It does not know F16C in every compiler; that one uses AVX's. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

unsigned pfi_cpu_levels(void)
{
    unsigned levels = 1u << PFI_CPU_C;

    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.1"))
        levels |= 1u << PFI_CPU_SSE41;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        has_f16c())
        levels |= 1u << PFI_CPU_AVX2;
    if ((levels & 1u << PFI_CPU_AVX2) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vnni"))
        levels |= 1u << PFI_CPU_AVX512;
    return levels;
}
#elif defined(__aarch64__) && defined(__AARCH64EL__)
unsigned pfi_cpu_levels(void)
{
    return 1u << PFI_CPU_C | 1u << PFI_CPU_NEON; /* every AArch64 has it */
}
#else
unsigned pfi_cpu_levels(void)
{
    return 1u << PFI_CPU_C;
}
#endif

const char *pfi_cpu_level_name(enum pfi_cpu_level level)
{
    switch (level) {
    case PFI_CPU_C: break;
    case PFI_CPU_SSE41: return "sse4.1";
    case PFI_CPU_AVX2: return "avx2";
    case PFI_CPU_AVX512: return "avx512";
    case PFI_CPU_NEON: return "neon";
    }
    return "none";
}
