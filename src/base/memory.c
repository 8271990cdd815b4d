/* SPDX-License-Identifier: Apache-2.0
 * The door to the heap, and checked sizes. */
#include "src/base/memory.h"

#include <stdint.h>
#include <stdlib.h>

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

void pfi_free(void *ptr)
{
    free(ptr);
}
