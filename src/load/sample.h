/* SPDX-License-Identifier: Apache-2.0
 * One encoded picture to one finished sample. */
#ifndef PFI_LOAD_SAMPLE_H
#define PFI_LOAD_SAMPLE_H

#include "src/codec/codec.h"
#include "transforms/kernels.h"

/* What every sample of a loader shares. */
struct pfi_task {
    struct pfi_recipe recipe;
    struct pfi_norm norm;
    struct pfi_kernels kernels;
};

struct pfi_times {
    uint64_t read_ns, decode_ns, transform_ns;
    uint64_t attempt_ns; /* part of decode_ns: pfi_decoder's */
    /* Where `detailed` is set before: parts of decode_ns and transform_ns. */
    bool detailed;
    uint64_t header_ns, plan_ns;
    struct pfi_stages stages;
};

pinfold_status pfi_task_init(struct pfi_task *task, const pinfold_recipe *recipe,
                             pinfold_error *err);

/* Decodes `size` bytes at `data`, draws the random crop and flip with `seed` and
 * writes task->recipe.sample_bytes to `dst`.  Scratch comes from the arena, which
 * the caller resets.  Adds to `times`.  Messages name no file. */
pinfold_status pfi_sample_make(const struct pfi_task *task, uint64_t seed,
                               struct pfi_arena *arena, const void *data,
                               size_t size, void *dst, struct pfi_times *times,
                               pinfold_error *err);

#endif
