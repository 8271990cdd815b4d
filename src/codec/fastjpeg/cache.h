/* SPDX-License-Identifier: Apache-2.0
 * A worker's lookup tables: photographs of one encoder share them, and making
 * them costs a tenth of a picture. */
#ifndef PFI_CODEC_FASTJPEG_CACHE_H
#define PFI_CODEC_FASTJPEG_CACHE_H

#include "src/base/memory.h"
#include "src/codec/fastjpeg/kernels.h"

/* Coders kept: two pictures of three components each. */
#define PFI_FAST_CODERS 6

struct pfi_fast_cache {
    struct pfi_fast_coder coder[PFI_FAST_CODERS];
    uint64_t clock; /* counts pictures */
    /* What pfi_fast_kernels_for(cpu_level) said: on a virtual machine asking the
     * CPU takes as long as a twentieth of a picture. */
    const struct pfi_fast_kernels *kernels;
    int32_t cpu_level;
    struct pfi_fast_building room;
};

/* The arena's cache, which outlives its resets; NULL when out of memory. */
struct pfi_fast_cache *pfi_fast_cache_of(struct pfi_arena *arena);

/* pfi_fast_kernels_for(), asked once. */
const struct pfi_fast_kernels *
pfi_fast_cache_kernels(struct pfi_fast_cache *cache, int32_t cpu_level);

/* Finds or makes the coder for each component of a picture; NULL, or why the
 * tables are not fit.  They stay until the next call but one. */
const char *pfi_fast_cache_take(struct pfi_fast_cache *cache,
                                const struct pfi_fast_header *header,
                                const struct pfi_fast_coder **out);

#endif
