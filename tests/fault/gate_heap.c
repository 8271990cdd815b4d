/* SPDX-License-Identifier: Apache-2.0
 * The heap's door.  With glibc the program's own malloc() stands before libc's,
 * so that the calls of shared libraries and of libc itself fail, too.  Under a
 * sanitizer, whose heap must stay, only our own calls come here, by --wrap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/gate.h"

#ifdef PFI_GATE_WRAPS_HEAP
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *ptr);
#define REAL(name) __real_##name
#define DOOR(name) __wrap_##name
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *ptr, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *ptr);
#define REAL(name) __libc_##name
#define DOOR(name) name
#endif

void *DOOR(malloc)(size_t size);
void *DOOR(calloc)(size_t n, size_t size);
void *DOOR(realloc)(void *ptr, size_t size);
int DOOR(posix_memalign)(void **out, size_t alignment, size_t size);
void DOOR(free)(void *ptr);
void *gate_spare_malloc(size_t size);
void *gate_spare_calloc(size_t n, size_t size);
int gate_spare_posix_memalign(void **out, size_t alignment, size_t size);

static void *counted(void *ptr)
{
    if (ptr)
        gate_count_block(1);
    return ptr;
}

void *DOOR(malloc)(size_t size)
{
    return gate_pass(GATE_HEAP, NULL) ? NULL : counted(REAL(malloc)(size));
}

void *DOOR(calloc)(size_t n, size_t size)
{
    return gate_pass(GATE_HEAP, NULL) ? NULL : counted(REAL(calloc)(n, size));
}

void *DOOR(realloc)(void *ptr, size_t size)
{
    void *out;

    if (gate_pass(GATE_HEAP, NULL))
        return NULL;
    out = REAL(realloc)(ptr, size);
    if (!ptr)
        return counted(out);
    if (!out && !size)
        gate_count_block(-1);
    return out;
}

int gate_spare_posix_memalign(void **out, size_t alignment, size_t size)
{
#ifdef PFI_GATE_WRAPS_HEAP
    if (REAL(posix_memalign)(out, alignment, size))
        return ENOMEM;
    (void)counted(*out);
#else
    void *const ptr = counted(REAL(memalign)(alignment, size));

    if (!ptr)
        return ENOMEM;
    *out = ptr;
#endif
    return 0;
}

int DOOR(posix_memalign)(void **out, size_t alignment, size_t size)
{
    return gate_pass(GATE_HEAP, NULL)
               ? ENOMEM
               : gate_spare_posix_memalign(out, alignment, size);
}

void DOOR(free)(void *ptr)
{
    if (ptr)
        gate_count_block(-1);
    REAL(free)(ptr);
}

#ifndef PFI_GATE_WRAPS_HEAP
void *aligned_alloc(size_t alignment, size_t size)
{
    void *ptr = NULL;

    return posix_memalign(&ptr, alignment, size) ? NULL : ptr;
}
#else
/* libc's would call its own malloc(). */
char *__wrap_strndup(const char *text, size_t most);
char *__wrap_strndup(const char *text, size_t most)
{
    const size_t size = strnlen(text, most);
    char *const copy = __wrap_malloc(size + 1);

    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, strlen(text));
}
#endif

/* For the fake device, as is the one above, which ends the program where memory ends. */
void *gate_spare_malloc(size_t size)
{
    return counted(REAL(malloc)(size));
}

void *gate_spare_calloc(size_t n, size_t size)
{
    return counted(REAL(calloc)(n, size));
}

/* ---------------------------------------------------------- the library's own --- */

void *__real_pfi_malloc(size_t size);
void *__real_pfi_calloc(size_t n, size_t size);
void *__real_pfi_realloc(void *ptr, size_t size);
void *__real_pfi_aligned_alloc(size_t alignment, size_t size);
void __real_pfi_free(void *ptr);
void *__wrap_pfi_malloc(size_t size);
void *__wrap_pfi_calloc(size_t n, size_t size);
void *__wrap_pfi_realloc(void *ptr, size_t size);
void *__wrap_pfi_aligned_alloc(size_t alignment, size_t size);
void __wrap_pfi_free(void *ptr);
void *__real_pfi_pages_alloc(size_t size);
void *__wrap_pfi_pages_alloc(size_t size);
void __real_pfi_pages_free(void *ptr, size_t size);
void __wrap_pfi_pages_free(void *ptr, size_t size);

static void *own(void *ptr)
{
    if (ptr)
        gate_count_own(1);
    return ptr;
}

void *__wrap_pfi_malloc(size_t size)
{
    return own(__real_pfi_malloc(size));
}

void *__wrap_pfi_calloc(size_t n, size_t size)
{
    return own(__real_pfi_calloc(n, size));
}

void *__wrap_pfi_realloc(void *ptr, size_t size)
{
    void *const out = __real_pfi_realloc(ptr, size);

    return ptr ? out : own(out);
}

void *__wrap_pfi_aligned_alloc(size_t alignment, size_t size)
{
    return own(__real_pfi_aligned_alloc(alignment, size));
}

void __wrap_pfi_free(void *ptr)
{
    if (ptr)
        gate_count_own(-1);
    __real_pfi_free(ptr);
}

void *__wrap_pfi_pages_alloc(size_t size)
{
    return own(__real_pfi_pages_alloc(size));
}

void __wrap_pfi_pages_free(void *ptr, size_t size)
{
    if (ptr)
        gate_count_own(-1);
    __real_pfi_pages_free(ptr, size);
}
