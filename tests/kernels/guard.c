/* SPDX-License-Identifier: Apache-2.0
 * Buffers between two pages that cannot be touched. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include "tests/kernels/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATTERN 0xA5

struct guarded guard_make(size_t room)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (room + page - 1) / page * page;
    unsigned char *const all =
        mmap(NULL, whole + 2 * page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || mprotect(all, page, PROT_NONE) ||
        mprotect(all + page + whole, page, PROT_NONE)) {
        perror("mmap");
        exit(1);
    }
    return (struct guarded){.pages = all + page, .room = whole};
}

void guard_take(struct guarded *guarded, size_t size, bool at_end)
{
    if (size > guarded->room) {
        (void)fprintf(stderr, "%zu bytes of %zu\n", size, guarded->room);
        exit(1);
    }
    memset(guarded->pages, PATTERN, guarded->room);
    guarded->at = guarded->pages + (at_end ? guarded->room - size : 0);
    guarded->size = size;
}

bool guard_intact(const struct guarded *guarded)
{
    const unsigned char *const end = guarded->pages + guarded->room;

    for (const unsigned char *p = guarded->pages; p < end; p++) {
        if (p == guarded->at)
            p += guarded->size;
        if (p < end && *p != PATTERN)
            return false;
    }
    return true;
}
