/* SPDX-License-Identifier: Apache-2.0
 * Shards hold each thing once, and differ in size by at most one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/shard.h"
#include "src/base/mt19937.h"

#define MOST 3000

/* How often each thing is in any shard; sizes in *least and *most. */
static void count_things(pinfold_shard kind, int32_t world, int64_t n,
                         bool drop_last, int *seen, int64_t *least,
                         int64_t *most)
{
    int64_t things[MOST + 1];

    memset(seen, 0, MOST * sizeof(*seen));
    *least = INT64_MAX;
    *most = 0;
    for (int32_t rank = 0; rank < world; rank++) {
        const struct pfi_shard shard = {kind, rank, world, drop_last};
        const int64_t count = pfi_shard_count(&shard, n);

        cr_assert_leq(count, n ? n : 0);
        for (int64_t i = 0; i < n; i++)
            things[i] = i;
        pfi_shard_pick(&shard, n, things);
        for (int64_t i = 0; i < count; i++) {
            cr_assert(things[i] >= 0 && things[i] < n);
            cr_assert_eq(things[i], pfi_shard_at(&shard, n, i));
            seen[things[i]]++;
        }
        *least = count < *least ? count : *least;
        *most = count > *most ? count : *most;
    }
}

Test(shard, exact_and_contiguous_ones_hold_each_thing_once)
{
    static int seen[MOST];
    struct pfi_mt19937 rng;
    int64_t least, most;

    pfi_mt19937_seed(&rng, 7);
    for (int draw = 0; draw < 400; draw++) {
        const int32_t world = 1 + (int32_t)(pfi_mt19937_next(&rng) % 1000);
        const int64_t n = pfi_mt19937_next(&rng) % (MOST + 1);

        for (int kind = PINFOLD_SHARD_EXACT; kind <= PINFOLD_SHARD_CONTIGUOUS;
             kind++) {
            count_things((pinfold_shard)kind, world, n, false, seen, &least,
                         &most);
            cr_assert_leq(most - least, 1);
            for (int64_t i = 0; i < n; i++)
                cr_assert_eq(seen[i], 1, "%d of world %d, n %d", (int)i, world,
                             (int)n);
        }
    }
}

Test(shard, torchs_are_equally_long_and_hold_each_thing_or_drop_it)
{
    static int seen[MOST];
    struct pfi_mt19937 rng;
    int64_t least, most;

    pfi_mt19937_seed(&rng, 8);
    for (int draw = 0; draw < 200; draw++) {
        const int32_t world = 1 + (int32_t)(pfi_mt19937_next(&rng) % 1000);
        const int64_t n = 1 + pfi_mt19937_next(&rng) % MOST;
        const bool drop = draw % 2;

        count_things(PINFOLD_SHARD_TORCH, world, n, drop, seen, &least, &most);
        cr_assert_eq(least, most);
        for (int64_t i = 0; i < n; i++)
            cr_assert(drop ? seen[i] == (i < n / world * world) : seen[i] > 0);
    }
}

Test(shard, exact_ones_take_turns_and_contiguous_ones_pieces)
{
    int64_t things[7] = {10, 11, 12, 13, 14, 15, 16};
    const struct pfi_shard exact = {PINFOLD_SHARD_EXACT, 1, 3, false};
    const struct pfi_shard piece = {PINFOLD_SHARD_CONTIGUOUS, 1, 3, false};

    cr_assert_eq(pfi_shard_count(&piece, 7), 2);
    cr_assert_eq(pfi_shard_at(&piece, 7, 0), 3);
    cr_assert_eq(pfi_shard_count(&exact, 7), 2);
    pfi_shard_pick(&exact, 7, things);
    cr_assert_eq(things[0], 11);
    cr_assert_eq(things[1], 14);
}
