/* SPDX-License-Identifier: Apache-2.0
 * The orders in which PyTorch visits a data set (torch 2.15.0
 * utils/data/sampler.py, dataloader.py). */
#ifndef PFI_DATASETS_ORDER_H
#define PFI_DATASETS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/mt19937.h"

/* DataLoader(shuffle=True, generator=torch.Generator().manual_seed(seed)), each
 * epoch run to its end: epochs follow each other on one generator. */
struct pfi_shuffle {
    struct pfi_mt19937 generator; /* as it is before `epoch` */
    int64_t epoch;
    uint64_t seed;
    int64_t n;
    bool persistent_workers; /* no base seed is drawn after the first epoch */
};

void pfi_shuffle_init(struct pfi_shuffle *shuffle, uint64_t seed, int64_t n,
                      bool persistent_workers);

/* Writes the n indices of `epoch` (from 0) to `order` and moves on to the next.
 * Going on from the last one costs one epoch's draws, any other epoch those of
 * all epochs before it. */
void pfi_shuffle_epoch(struct pfi_shuffle *shuffle, int64_t epoch,
                       int64_t *order);

#endif
