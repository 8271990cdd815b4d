/* SPDX-License-Identifier: Apache-2.0
 * Which part of n things in a row one rank of many gets. */
#ifndef PFI_DATASETS_SHARD_H
#define PFI_DATASETS_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include <pinfold/pinfold.h>

struct pfi_shard {
    pinfold_shard kind;
    int32_t rank, world; /* 0 <= rank < world */
    bool drop_last;      /* of PINFOLD_SHARD_TORCH */
};

int64_t pfi_shard_count(const struct pfi_shard *shard, int64_t n);

/* Where thing i of the shard lies among the n; 0 <= i < the count. */
int64_t pfi_shard_at(const struct pfi_shard *shard, int64_t n, int64_t i);

/* Moves the shard's things to the front. */
void pfi_shard_pick(const struct pfi_shard *shard, int64_t n, int64_t *things);

#endif
