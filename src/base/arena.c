/* SPDX-License-Identifier: Apache-2.0
 * Arenas.  Apart from the door that their memory comes through, so that tests
 * which stand at the door see it. */
#include "src/base/memory.h"

#define PFI_ARENA_ALIGN 64u
/* Bytes from which a block has pages of its own: what lives as long as a
 * worker, not as long as a call. */
#define PFI_ARENA_PAGES ((size_t)1 << 20)

struct pfi_arena_extra {
    struct pfi_arena_extra *next;
    _Alignas(PFI_ARENA_ALIGN) unsigned char bytes[];
};

bool pfi_arena_init(struct pfi_arena *arena, size_t size)
{
    *arena = (struct pfi_arena){.size = size};
    arena->block = size < PFI_ARENA_PAGES
                       ? pfi_aligned_alloc(PFI_ARENA_ALIGN, size)
                       : pfi_pages_alloc(size);
    return arena->block != NULL;
}

static void *alloc_extra(struct pfi_arena *arena, size_t size)
{
    struct pfi_arena_extra *extra;
    size_t total;

    if (!pfi_add(sizeof(*extra), size, &total))
        return NULL;
    extra = pfi_aligned_alloc(PFI_ARENA_ALIGN, total);
    if (!extra)
        return NULL;
    extra->next = arena->extra;
    arena->extra = extra;
    return extra->bytes;
}

void *pfi_arena_alloc(struct pfi_arena *arena, size_t size)
{
    size_t rounded;

    if (!pfi_add(size ? size : 1, PFI_ARENA_ALIGN - 1, &rounded))
        return NULL;
    rounded -= rounded % PFI_ARENA_ALIGN;
    if (rounded > arena->size - arena->used)
        return alloc_extra(arena, rounded);
    void *const ptr = arena->block + arena->used;
    arena->used += rounded;
    return ptr;
}

void *pfi_arena_array(struct pfi_arena *arena, size_t count, size_t size)
{
    size_t total;

    return pfi_mul(count, size, &total) ? pfi_arena_alloc(arena, total) : NULL;
}

void *pfi_arena_keep(struct pfi_arena *arena, size_t size, bool *fresh)
{
    *fresh = !arena->kept;
    if (*fresh)
        arena->kept = pfi_aligned_alloc(PFI_ARENA_ALIGN, size);
    return arena->kept;
}

void pfi_arena_reset(struct pfi_arena *arena)
{
    while (arena->extra) {
        struct pfi_arena_extra *const next = arena->extra->next;

        pfi_free(arena->extra);
        arena->extra = next;
    }
    arena->used = 0;
}

void pfi_arena_end(struct pfi_arena *arena)
{
    pfi_arena_reset(arena);
    pfi_free(arena->kept);
    if (arena->size < PFI_ARENA_PAGES)
        pfi_free(arena->block);
    else
        pfi_pages_free(arena->block, arena->size);
    *arena = (struct pfi_arena){0};
}
