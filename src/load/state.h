/* SPDX-License-Identifier: Apache-2.0
 * What a loader's state holds: 64-bit fields, each with a name. */
#ifndef PFI_LOAD_STATE_H
#define PFI_LOAD_STATE_H

#include "src/load/internal.h"

/* The fields that must be the opened loader's own come first, in the order in
 * which they are compared. */
enum {
    PFI_STATE_N,
    PFI_STATE_FINGERPRINT,
    PFI_STATE_RECIPE,
    PFI_STATE_SEED = PFI_STATE_RECIPE + 33,
    PFI_STATE_BATCH_SIZE,
    PFI_STATE_SHUFFLE,
    PFI_STATE_DROP_LAST,
    PFI_STATE_SAMPLER,
    PFI_STATE_SHARD,
    PFI_STATE_REPLACEMENT,
    PFI_STATE_PERSISTENT,
    PFI_STATE_NUM_SAMPLES,
    PFI_STATE_SHARD_DROP_LAST,
    PFI_STATE_LISTS,
    PFI_STATE_INITIAL,
    PFI_STATE_WORLD,
    PFI_STATE_RANK,
    PFI_STATE_EPOCH, /* from here on: where it stands */
    PFI_STATE_BATCH,
    PFI_STATE_THINGS,
    PFI_STATE_GENERATOR,
    PFI_STATE_FIELDS = PFI_STATE_GENERATOR + 2 + 624 / 2
};

/* state_fields.c: fills in all fields but those of where it stands. */
void pfi_state_fill(const pinfold_loader *loader, uint64_t *fields);

/* Refuses a state whose fields are not the loader's `own`, in words. */
pinfold_status pfi_state_compare(const uint64_t *own, const uint64_t *given,
                                 pinfold_error *err);

#endif
