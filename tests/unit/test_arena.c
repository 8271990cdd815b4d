/* SPDX-License-Identifier: Apache-2.0
 * Arenas give aligned memory and go back to their block. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "src/base/cpu.h"
#include "src/base/memory.h"

Test(arena, memory_is_aligned_and_apart)
{
    struct pfi_arena arena;
    unsigned char *last = NULL;

    cr_assert(pfi_arena_init(&arena, 1024));
    for (size_t i = 0; i < 40; i++) {
        unsigned char *const p = pfi_arena_alloc(&arena, 100);

        cr_assert_not_null(p);
        cr_assert_eq((uintptr_t)p % 64, 0);
        memset(p, (int)i, 100);
        if (last)
            cr_assert_eq(last[99], i - 1);
        last = p;
    }
    cr_assert_not_null(arena.extra);
    pfi_arena_reset(&arena);
    cr_assert_null(arena.extra);
    cr_assert_eq(arena.used, 0);
    pfi_arena_end(&arena);
}

Test(arena, sizes_that_do_not_fit_give_nothing)
{
    struct pfi_arena arena;

    cr_assert(pfi_arena_init(&arena, 128));
    cr_assert_null(pfi_arena_alloc(&arena, SIZE_MAX));
    cr_assert_null(pfi_arena_array(&arena, SIZE_MAX / 2, 3));
    pfi_arena_end(&arena);
}

Test(arena, kept_memory_outlives_resets)
{
    struct pfi_arena arena;
    unsigned char *kept;
    bool fresh = false;

    cr_assert(pfi_arena_init(&arena, 128));
    kept = pfi_arena_keep(&arena, 1000, &fresh);
    cr_assert_not_null(kept);
    cr_assert(fresh);
    cr_assert_eq((uintptr_t)kept % 64, 0);
    memset(kept, 7, 1000);
    cr_assert_not_null(pfi_arena_alloc(&arena, 500));
    pfi_arena_reset(&arena);
    cr_assert_eq(pfi_arena_keep(&arena, 1000, &fresh), kept);
    cr_assert_not(fresh);
    cr_assert_eq(kept[999], 7);
    pfi_arena_end(&arena);
    cr_assert_null(arena.kept);
}

Test(sizes, products_and_sums_are_checked)
{
    size_t out = 1;

    cr_assert(pfi_mul(0, SIZE_MAX, &out));
    cr_assert_eq(out, 0);
    cr_assert_not(pfi_mul(SIZE_MAX / 2 + 1, 2, &out));
    cr_assert_not(pfi_add(SIZE_MAX, 1, &out));
    cr_assert(pfi_add(SIZE_MAX, 0, &out));
}

Test(cpu, there_is_at_least_one)
{
    cr_assert_geq(pfi_cpu_count(), 1);
}
