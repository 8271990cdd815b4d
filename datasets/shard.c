/* SPDX-License-Identifier: Apache-2.0
 * Shards: exact ones, and those of torch 2.15.0 utils/data/distributed.py. */
#include "datasets/shard.h"

/* DistributedSampler: every rank gets as many, of the samples or of the padded
 * row, which begins again behind its end. */
static int64_t torch_count(const struct pfi_shard *shard, int64_t n)
{
    const int64_t whole = n / shard->world;

    return whole + (!shard->drop_last && n % shard->world != 0);
}

int64_t pfi_shard_count(const struct pfi_shard *shard, int64_t n)
{
    if (shard->kind == PINFOLD_SHARD_TORCH)
        return torch_count(shard, n);
    /* The first n % world ranks get one more. */
    return n / shard->world + (shard->rank < n % shard->world);
}

int64_t pfi_shard_at(const struct pfi_shard *shard, int64_t n, int64_t i)
{
    const int64_t more = n % shard->world;

    if (shard->kind == PINFOLD_SHARD_CONTIGUOUS)
        return n / shard->world * shard->rank +
               (shard->rank < more ? shard->rank : more) + i;
    return (shard->rank + i * shard->world) % n;
}

void pfi_shard_pick(const struct pfi_shard *shard, int64_t n, int64_t *things)
{
    const int64_t count = pfi_shard_count(shard, n);
    int64_t last;

    if (!count)
        return;
    /* Only the last one may lie where another was moved to, from the row's
     * front: padding is shorter than `world`. */
    last = things[pfi_shard_at(shard, n, count - 1)];
    for (int64_t i = 0; i + 1 < count; i++)
        things[i] = things[pfi_shard_at(shard, n, i)];
    things[count - 1] = last;
}
