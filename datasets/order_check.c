/* SPDX-License-Identifier: Apache-2.0
 * What is refused of an order, before any work starts. */
#include "datasets/order.h"

#include "datasets/draw.h"
#include "src/base/memory.h"

static pinfold_status wrong(pinfold_error *err, const char *what)
{
    return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "%s", what);
}

static pinfold_status check_flags(const pinfold_order *o, pinfold_error *err)
{
    const struct {
        const char *name;
        int64_t value, high;
    } rows[] = {
        {"sampler", (int64_t)o->sampler, PINFOLD_SAMPLER_BATCHES},
        {"shard", (int64_t)o->shard, PINFOLD_SHARD_TORCH},
        {"replacement", o->replacement, 1},
        {"persistent_workers", o->persistent_workers, 1},
        {"shard_drop_last", o->shard_drop_last, 1},
        {"reserved", o->reserved, 0},
        {"rank", o->rank, INT32_MAX},
        {"world", o->world, INT32_MAX},
        {"n_indices", o->n_indices, INT64_MAX},
        {"n_weights", o->n_weights, INT64_MAX},
        {"n_batches", o->n_batches, INT64_MAX},
        {"num_samples", o->num_samples, INT64_MAX},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value < 0 || rows[i].value > rows[i].high)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "%s is %lld, not 0 to %lld", rows[i].name,
                            (long long)rows[i].value, (long long)rows[i].high);
    return PINFOLD_OK;
}

static pinfold_status check_shard(const struct pfi_order_source *source,
                                  const pinfold_order *o, pinfold_error *err)
{
    if (o->rank && !o->world)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "rank %d without a world",
                        o->rank);
    if (o->world && o->rank >= o->world)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "rank %d of a world of %d",
                        o->rank, o->world);
    if (o->shard_drop_last && o->shard != PINFOLD_SHARD_TORCH)
        return wrong(err, "shard_drop_last is of torch's shards only");
    if (o->shard != PINFOLD_SHARD_TORCH)
        return PINFOLD_OK;
    if (o->sampler != PINFOLD_SAMPLER_DEFAULT)
        return wrong(err, "torch's shards take no other sampler");
    if (o->generator && source->shuffle)
        return wrong(err, "torch's shards are shuffled by seed and epoch, not "
                          "by a generator");
    return PINFOLD_OK;
}

/* Settings that a sampler would not look at. */
static pinfold_status check_unused(const struct pfi_order_source *source,
                                   const pinfold_order *o, pinfold_error *err)
{
    const pinfold_sampler s = o->sampler;
    const bool lists = s == PINFOLD_SAMPLER_SUBSET ||
                       s == PINFOLD_SAMPLER_LIST || s == PINFOLD_SAMPLER_BATCHES;
    const bool draws = s == PINFOLD_SAMPLER_RANDOM || s == PINFOLD_SAMPLER_WEIGHTED;

    if (source->shuffle && s != PINFOLD_SAMPLER_DEFAULT)
        return wrong(err, "shuffle and a sampler exclude each other");
    if (!lists && (o->indices || o->n_indices))
        return wrong(err, "indices, but the sampler takes none");
    if (s != PINFOLD_SAMPLER_WEIGHTED && (o->weights || o->n_weights))
        return wrong(err, "weights, but the sampler takes none");
    if (s != PINFOLD_SAMPLER_BATCHES && (o->batch_sizes || o->n_batches))
        return wrong(err, "batch_sizes, but the sampler takes none");
    if (!draws && o->num_samples)
        return wrong(err, "num_samples, but the sampler takes none");
    if (s != PINFOLD_SAMPLER_RANDOM && o->replacement)
        return wrong(err, "replacement is of the random sampler only");
    if (o->persistent_workers &&
        (s != PINFOLD_SAMPLER_DEFAULT || !source->shuffle))
        return wrong(err, "persistent_workers is of shuffle only");
    return PINFOLD_OK;
}

static pinfold_status check_lists(const struct pfi_order_source *source,
                                  const pinfold_order *o, pinfold_error *err)
{
    if ((o->n_indices && !o->indices) || (o->n_weights && !o->weights) ||
        (o->n_batches && !o->batch_sizes) ||
        (o->generator_size && !o->generator))
        return wrong(err, "a list is NULL");
    for (int64_t i = 0; i < o->n_indices; i++)
        if (o->indices[i] < 0 || o->indices[i] >= source->n)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "index %lld at place %lld: the data set has %lld "
                            "samples",
                            (long long)o->indices[i], (long long)i,
                            (long long)source->n);
    if (o->sampler == PINFOLD_SAMPLER_WEIGHTED && o->n_weights != source->n)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "%lld weights for %lld samples",
                        (long long)o->n_weights, (long long)source->n);
    return PINFOLD_OK;
}

static pinfold_status check_batches(const struct pfi_order_source *source,
                                    const pinfold_order *o, pinfold_error *err)
{
    int64_t left = o->n_indices;

    if (o->sampler != PINFOLD_SAMPLER_BATCHES)
        return PINFOLD_OK;
    if (source->drop_last)
        return wrong(err, "drop_last and a batch sampler exclude each other");
    for (int64_t i = 0; i < o->n_batches; i++) {
        const int32_t size = o->batch_sizes[i];

        if (size < 1 || size > source->batch_size)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "batch %lld has %d samples, not 1 to batch_size, "
                            "%d",
                            (long long)i, size, source->batch_size);
        left = size > left ? -1 : left - size;
        if (left < 0)
            break;
    }
    return left ? wrong(err, "batch_sizes do not add up to n_indices")
                : PINFOLD_OK;
}

static pinfold_status check_length(const struct pfi_order_source *source,
                                   const pinfold_order *o, pinfold_error *err)
{
    const int64_t length = pfi_order_length(source, o);
    size_t bytes;

    /* Whole permutations are made, of which the last is used in part. */
    if (length > INT64_MAX - source->n || (uint64_t)length > SIZE_MAX ||
        !pfi_mul((size_t)length, sizeof(int64_t), &bytes))
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "an order of %lld samples does not fit in memory",
                        (long long)length);
    if ((o->sampler == PINFOLD_SAMPLER_RANDOM ||
         o->sampler == PINFOLD_SAMPLER_WEIGHTED) &&
        length && !source->n)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "num_samples is %lld, and the data set has none",
                        (long long)length);
    if (o->sampler == PINFOLD_SAMPLER_WEIGHTED && length == 1)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "torch draws one sample by weight from a generator of "
                        "its own: num_samples must be 2 or more");
    return PINFOLD_OK;
}

int64_t pfi_order_length(const struct pfi_order_source *source,
                         const pinfold_order *o)
{
    switch (o->sampler) {
    case PINFOLD_SAMPLER_RANDOM:
    case PINFOLD_SAMPLER_WEIGHTED:
        return o->num_samples ? o->num_samples : source->n;
    case PINFOLD_SAMPLER_SUBSET:
    case PINFOLD_SAMPLER_LIST:
    case PINFOLD_SAMPLER_BATCHES: return o->n_indices;
    case PINFOLD_SAMPLER_DEFAULT: break;
    }
    return source->n;
}

pinfold_status pfi_order_check(const struct pfi_order_source *source,
                               const pinfold_order *o, pinfold_error *err)
{
    pinfold_status status = check_flags(o, err);

    if (!status)
        status = check_shard(source, o, err);
    if (!status)
        status = check_unused(source, o, err);
    if (!status)
        status = check_lists(source, o, err);
    if (!status)
        status = check_batches(source, o, err);
    if (!status)
        status = check_length(source, o, err);
    if (!status && o->n_weights)
        status = pfi_weights_check(o->weights, o->n_weights, err);
    return status;
}
