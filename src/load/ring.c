/* SPDX-License-Identifier: Apache-2.0
 * Which slot takes and gives which batch. */
#include "src/load/ring.h"

static struct pfi_slot *first_in(const struct pfi_ring *ring,
                                 enum pfi_slot_state state)
{
    for (int32_t i = 0; i < ring->n_slots; i++)
        if (ring->slots[i].state == state)
            return &ring->slots[i];
    return NULL;
}

static struct pfi_slot *begin_fill(struct pfi_ring *ring, struct pfi_slot *slot)
{
    if (!slot)
        return NULL;
    slot->state = PFI_SLOT_FILLING;
    slot->assigned = 0;
    slot->done = 0;
    slot->meta.number = ring->next_fill++;
    slot->meta.bad_count = 0;
    return slot;
}

struct pfi_slot *pfi_ring_fill(struct pfi_ring *ring)
{
    return begin_fill(ring, first_in(ring, PFI_SLOT_FREE));
}

struct pfi_slot *pfi_ring_fill_or_returning(struct pfi_ring *ring)
{
    struct pfi_slot *const slot = first_in(ring, PFI_SLOT_FREE);

    return begin_fill(ring, slot ? slot : pfi_ring_returning(ring));
}

struct pfi_slot *pfi_ring_peek(const struct pfi_ring *ring)
{
    for (int32_t i = 0; i < ring->n_slots; i++) {
        struct pfi_slot *const slot = &ring->slots[i];

        if (slot->state == PFI_SLOT_READY &&
            slot->meta.number == ring->next_take)
            return slot;
    }
    return NULL;
}

void pfi_ring_take(struct pfi_ring *ring, struct pfi_slot *slot)
{
    slot->state = PFI_SLOT_LENT;
    ring->next_take++;
}

void pfi_ring_return(struct pfi_ring *ring, struct pfi_slot *slot)
{
    slot->state = PFI_SLOT_RETURNING;
    slot->returned = ring->n_returned++;
}

struct pfi_slot *pfi_ring_returning(const struct pfi_ring *ring)
{
    struct pfi_slot *oldest = NULL;

    for (int32_t i = 0; i < ring->n_slots; i++) {
        struct pfi_slot *const slot = &ring->slots[i];

        if (slot->state == PFI_SLOT_RETURNING &&
            (!oldest || slot->returned < oldest->returned))
            oldest = slot;
    }
    return oldest;
}

int32_t pfi_ring_count(const struct pfi_ring *ring, enum pfi_slot_state state)
{
    int32_t count = 0;

    for (int32_t i = 0; i < ring->n_slots; i++)
        count += ring->slots[i].state == state;
    return count;
}

void pfi_ring_reset(struct pfi_ring *ring)
{
    ring->next_fill = 0;
    ring->next_take = 0;
    for (int32_t i = 0; i < ring->n_slots; i++) {
        struct pfi_slot *const slot = &ring->slots[i];

        if (slot->state == PFI_SLOT_FILLING || slot->state == PFI_SLOT_READY)
            slot->state = PFI_SLOT_FREE;
    }
}
