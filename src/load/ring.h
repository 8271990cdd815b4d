/* SPDX-License-Identifier: Apache-2.0
 * Slots and the order in which batches pass through them.  No thread and no
 * memory of its own: the loader's lock guards it. */
#ifndef PFI_LOAD_RING_H
#define PFI_LOAD_RING_H

#include "src/base/error.h"
#include "src/load/dlpack.h"

enum pfi_slot_state {
    PFI_SLOT_FREE,
    PFI_SLOT_FILLING,  /* samples are being written, or a copy was queued */
    PFI_SLOT_READY,
    PFI_SLOT_LENT,
    PFI_SLOT_RETURNING /* given back; free when its event is done */
};

/* How a slot's memory was got, and has to be given back. */
enum pfi_memory_kind {
    PFI_MEMORY_PLAIN,
    PFI_MEMORY_CALLERS,    /* from the caller's allocator */
    PFI_MEMORY_PINNED,     /* cudaHostAlloc */
    PFI_MEMORY_REGISTERED, /* plain, pinned by cudaHostRegister */
    PFI_MEMORY_DEVICE
};

/* What belongs to a batch rather than to the memory that it lies in. */
struct pfi_meta {
    int64_t number, epoch;
    int64_t *labels, *indices;
    pinfold_status *statuses;
    pinfold_error *errors;
    int32_t count, bad_count;
};

/* Any free slot takes the next batch, so that a caller who keeps one does not
 * stop the others. */
struct pfi_slot {
    pinfold_batch batch; /* what is lent; first, to find the slot from it */
    pinfold_loader *loader;
    enum pfi_slot_state state;
    int64_t returned; /* order of the release */
    int32_t assigned, done; /* samples given to workers, and finished */
    struct pfi_meta meta;
    void *memory;
    enum pfi_memory_kind kind;
    void *ready, *consumed; /* CUDA events, or NULL */
    struct pfi_tensor tensor;
};

struct pfi_ring {
    struct pfi_slot *slots;
    int32_t n_slots;
    int64_t next_fill, next_take; /* batch numbers */
    int64_t n_returned;
};

/* A free slot for the next batch, FILLING from now on, or NULL. */
struct pfi_slot *pfi_ring_fill(struct pfi_ring *ring);
/* As pfi_ring_fill(), the longest RETURNING slot where none is free. */
struct pfi_slot *pfi_ring_fill_or_returning(struct pfi_ring *ring);
/* The slot of the next batch if it is ready, else NULL. */
struct pfi_slot *pfi_ring_peek(const struct pfi_ring *ring);
/* Lends the slot that peek gave. */
void pfi_ring_take(struct pfi_ring *ring, struct pfi_slot *slot);
void pfi_ring_return(struct pfi_ring *ring, struct pfi_slot *slot);
/* The slot that has been RETURNING for longest, or NULL. */
struct pfi_slot *pfi_ring_returning(const struct pfi_ring *ring);
int32_t pfi_ring_count(const struct pfi_ring *ring, enum pfi_slot_state state);
/* Begins at batch 0; batches that nobody has taken are dropped. */
void pfi_ring_reset(struct pfi_ring *ring);

#endif
