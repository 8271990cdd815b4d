/* SPDX-License-Identifier: Apache-2.0
 * The door to the heap, and checked sizes. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */
#endif
#include "src/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

bool pfi_mul(size_t a, size_t b, size_t *out)
{
    if (a && b > SIZE_MAX / a)
        return false;
    *out = a * b;
    return true;
}

bool pfi_add(size_t a, size_t b, size_t *out)
{
    if (b > SIZE_MAX - a)
        return false;
    *out = a + b;
    return true;
}

void *pfi_malloc(size_t size)
{
    return malloc(size ? size : 1);
}

void *pfi_calloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1);
}

void *pfi_realloc(void *ptr, size_t size)
{
    return realloc(ptr, size ? size : 1);
}

void *pfi_aligned_alloc(size_t alignment, size_t size)
{
    void *ptr = NULL;

    return posix_memalign(&ptr, alignment, size ? size : 1) ? NULL : ptr;
}

void *pfi_pages_alloc(size_t size)
{
    void *const ptr = mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (ptr == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(ptr, size, MADV_HUGEPAGE);
#endif
    return ptr;
}

void pfi_pages_free(void *ptr, size_t size)
{
    if (ptr)
        (void)munmap(ptr, size);
}

void pfi_free(void *ptr)
{
    free(ptr);
}
