/* SPDX-License-Identifier: Apache-2.0
 * Buffers between two pages that cannot be touched. */
#ifndef PFI_TESTS_KERNELS_GUARD_H
#define PFI_TESTS_KERNELS_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct guarded {
    unsigned char *pages; /* `room` bytes between the two */
    size_t room;
    unsigned char *at; /* the buffer: `size` bytes, at one end of the room */
    size_t size;
};

/* Makes room for `room` bytes and more; exits where there is none. */
struct guarded guard_make(size_t room);
/* Takes `size` bytes: right before the page at the end, or right behind the one
 * at the start.  All of the room is filled with a pattern. */
void guard_take(struct guarded *guarded, size_t size, bool at_end);
/* Whether what lies beside the buffer has its pattern. */
bool guard_intact(const struct guarded *guarded);

#endif
