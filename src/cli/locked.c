/* SPDX-License-Identifier: Apache-2.0
 * Page-locked slots through the loader's allocator callbacks. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "src/cli/locked.h"

#include <sys/mman.h>

/* Pages are aligned to more than a slot needs. */
static void *alloc_locked(void *cookie, size_t size, size_t alignment)
{
    void *const memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)cookie;
    if (memory == MAP_FAILED)
        return NULL;
    if (((size_t)memory & (alignment - 1)) || mlock(memory, size)) {
        (void)munmap(memory, size);
        return NULL;
    }
    return memory;
}

/* Unmapping unlocks. */
static void free_locked(void *cookie, void *memory, size_t size)
{
    (void)cookie;
    (void)munmap(memory, size);
}

const pinfold_allocator *pfi_cli_locked(void)
{
    static const pinfold_allocator allocator = {sizeof(allocator), NULL,
                                                alloc_locked, free_locked};

    return &allocator;
}
