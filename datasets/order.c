/* SPDX-License-Identifier: Apache-2.0
 * RandomSampler under DataLoader: what each epoch draws, and its permutation
 * (torch 2.15.0). */
#include "datasets/order.h"

/* From here on randperm() works inside out with 64-bit words: UINT32_MAX / 20
 * (ATen TensorFactories.cpp). */
#define PFI_RANDPERM_LARGE 214748364

static uint64_t permutation_words(int64_t n)
{
    if (n >= PFI_RANDPERM_LARGE)
        return 2 * (uint64_t)n;
    return n > 1 ? (uint64_t)n - 1 : 0;
}

static void permute(struct pfi_mt19937 *rng, int64_t n, int64_t *order)
{
    if (n >= PFI_RANDPERM_LARGE) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t z =
                (int64_t)(pfi_mt19937_next64(rng) % (uint64_t)(i + 1));

            order[i] = i;
            order[i] = order[z];
            order[z] = i;
        }
        return;
    }
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = 0; i + 1 < n; i++) {
        const int64_t z = i + (int64_t)(pfi_mt19937_next(rng) % (n - i));
        const int64_t kept = order[i];

        order[i] = order[z];
        order[z] = kept;
    }
}

static void rewind_shuffle(struct pfi_shuffle *shuffle)
{
    pfi_mt19937_seed(&shuffle->generator, shuffle->seed);
    shuffle->epoch = 0;
}

/* The iterator's base seed, which persistent workers draw once. */
static void draw_base_seed(struct pfi_shuffle *shuffle)
{
    if (!shuffle->persistent_workers || shuffle->epoch == 0)
        pfi_mt19937_skip(&shuffle->generator, 2);
}

/* At the end of its epoch the sampler draws a permutation that nobody sees. */
static void draw_rest(struct pfi_shuffle *shuffle)
{
    pfi_mt19937_skip(&shuffle->generator, permutation_words(shuffle->n));
    shuffle->epoch++;
}

void pfi_shuffle_init(struct pfi_shuffle *shuffle, uint64_t seed, int64_t n,
                      bool persistent_workers)
{
    shuffle->seed = seed;
    shuffle->n = n;
    shuffle->persistent_workers = persistent_workers;
    rewind_shuffle(shuffle);
}

void pfi_shuffle_epoch(struct pfi_shuffle *shuffle, int64_t epoch,
                       int64_t *order)
{
    if (epoch < shuffle->epoch)
        rewind_shuffle(shuffle);
    while (shuffle->epoch < epoch) {
        draw_base_seed(shuffle);
        pfi_mt19937_skip(&shuffle->generator, permutation_words(shuffle->n));
        draw_rest(shuffle);
    }
    draw_base_seed(shuffle);
    permute(&shuffle->generator, shuffle->n, order);
    draw_rest(shuffle);
}
