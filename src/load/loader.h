/* SPDX-License-Identifier: Apache-2.0
 * The loader with its doors open, for tests. */
#ifndef PFI_LOAD_LOADER_H
#define PFI_LOAD_LOADER_H

#include "src/gpu/gpu.h"
#include "src/load/read.h"

/* pinfold_loader_open() with another GPU or another way to read files; either
 * may be NULL for the real one. */
pinfold_status pfi_loader_open(pinfold_loader **out, pinfold_dataset *dataset,
                               const pinfold_loader_options *options,
                               const struct pfi_gpu *gpu,
                               const struct pfi_reader *reader,
                               pinfold_error *err);

/* pinfold_loader_plan() with another GPU. */
pinfold_status pfi_loader_plan(pinfold_dataset *dataset,
                               const pinfold_loader_options *options,
                               const struct pfi_gpu *gpu,
                               pinfold_memory_plan *out, pinfold_error *err);
/* pinfold_read() with another way to read files, or NULL. */
pinfold_status pfi_read(const pinfold_dataset *dataset,
                        const pinfold_recipe *recipe, const int64_t *indices,
                        int64_t n, void *dst, size_t dst_size,
                        const pinfold_read_options *options,
                        const struct pfi_reader *reader, pinfold_error *err);

#endif
