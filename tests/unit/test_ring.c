/* SPDX-License-Identifier: Apache-2.0
 * Slots take and give batches in order, whichever of them are kept. */
#include <criterion/criterion.h>

#include "src/load/ring.h"

static struct pfi_slot slots[3];
static struct pfi_ring ring;

static void setup(void)
{
    memset(slots, 0, sizeof(slots));
    ring = (struct pfi_ring){.slots = slots, .n_slots = 3};
}

TestSuite(ring, .init = setup);

static struct pfi_slot *lend_next(void)
{
    struct pfi_slot *const slot = pfi_ring_fill(&ring);

    cr_assert_not_null(slot);
    slot->state = PFI_SLOT_READY;
    cr_assert_eq(pfi_ring_peek(&ring), slot);
    pfi_ring_take(&ring, slot);
    return slot;
}

Test(ring, batches_are_lent_in_order)
{
    struct pfi_slot *const first = pfi_ring_fill(&ring);
    struct pfi_slot *const second = pfi_ring_fill(&ring);

    second->state = PFI_SLOT_READY;
    cr_assert_null(pfi_ring_peek(&ring), "batch 0 is not ready");
    first->state = PFI_SLOT_READY;
    cr_assert_eq(pfi_ring_peek(&ring), first);
    pfi_ring_take(&ring, first);
    cr_assert_eq(pfi_ring_peek(&ring), second);
    cr_assert_eq(second->meta.number, 1);
}

Test(ring, a_kept_slot_does_not_stop_the_others)
{
    struct pfi_slot *const kept = lend_next();

    for (int64_t number = 1; number < 10; number++) {
        struct pfi_slot *const slot = lend_next();

        cr_assert_neq(slot, kept);
        cr_assert_eq(slot->meta.number, number);
        slot->state = PFI_SLOT_FREE;
    }
}

Test(ring, a_full_ring_gives_no_slot)
{
    for (int i = 0; i < 3; i++)
        lend_next();
    cr_assert_null(pfi_ring_fill(&ring));
    cr_assert_eq(pfi_ring_count(&ring, PFI_SLOT_LENT), 3);
}

Test(ring, returning_slots_are_taken_oldest_first)
{
    struct pfi_slot *const a = lend_next(), *const b = lend_next();

    lend_next();
    pfi_ring_return(&ring, b);
    pfi_ring_return(&ring, a);
    cr_assert_null(pfi_ring_fill(&ring));
    cr_assert_eq(pfi_ring_returning(&ring), b);
    cr_assert_eq(pfi_ring_fill_or_returning(&ring), b);
    cr_assert_eq(pfi_ring_fill_or_returning(&ring), a);
    cr_assert_null(pfi_ring_fill_or_returning(&ring));
}

Test(ring, reset_drops_what_nobody_took)
{
    struct pfi_slot *const lent = lend_next();

    pfi_ring_fill(&ring);
    pfi_ring_fill(&ring)->state = PFI_SLOT_READY;
    pfi_ring_reset(&ring);
    cr_assert_eq(lent->state, PFI_SLOT_LENT);
    cr_assert_eq(pfi_ring_count(&ring, PFI_SLOT_FREE), 2);
    cr_assert_eq(lend_next()->meta.number, 0);
}
