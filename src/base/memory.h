/* SPDX-License-Identifier: Apache-2.0
 * The one door to the heap, and the arena that a sample's scratch comes from. */
#ifndef PFI_BASE_MEMORY_H
#define PFI_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* a * b or a + b in *out; false where it does not fit. */
bool pfi_mul(size_t a, size_t b, size_t *out);
bool pfi_add(size_t a, size_t b, size_t *out);

void *pfi_malloc(size_t size);
void *pfi_calloc(size_t count, size_t size);
/* realloc(); on NULL `ptr` is still valid. */
void *pfi_realloc(void *ptr, size_t size);
/* `size` bytes at a multiple of `alignment`, a power of two. */
void *pfi_aligned_alloc(size_t alignment, size_t size);
/* Frees what any of the above returned; NULL is allowed. */
void pfi_free(void *ptr);

/* `size` bytes of pages of their own, huge ones where the system has them:
 * fewer faults when they are first written.  They go back to the system when
 * they are freed, which the heap does not do with what lies below newer
 * blocks.  NULL when out of memory; at the free NULL is allowed. */
void *pfi_pages_alloc(size_t size);
void pfi_pages_free(void *ptr, size_t size);

/* Memory that lives until pfi_arena_reset().  What does not fit into the block
 * that was allocated at the init is taken from the heap and given back at the
 * reset, so that an arena never holds more than its block between samples.
 * One thread at a time. */
struct pfi_arena {
    unsigned char *block;
    size_t size, used;
    struct pfi_arena_extra *extra; /* newest first */
    void *kept; /* beyond the resets */
};

/* Makes an arena whose block has `size` bytes; false when out of memory. */
bool pfi_arena_init(struct pfi_arena *arena, size_t size);
/* `size` bytes, aligned to 64, or NULL when out of memory. */
void *pfi_arena_alloc(struct pfi_arena *arena, size_t size);
/* pfi_arena_alloc() of count * size, NULL also where that does not fit. */
void *pfi_arena_array(struct pfi_arena *arena, size_t count, size_t size);
/* The `size` bytes that outlive the resets; *fresh where they are asked for the
 * first time and hold nothing yet.  NULL when out of memory.  An arena has one
 * such block, of one user. */
void *pfi_arena_keep(struct pfi_arena *arena, size_t size, bool *fresh);
void pfi_arena_reset(struct pfi_arena *arena);
void pfi_arena_end(struct pfi_arena *arena);

#endif
