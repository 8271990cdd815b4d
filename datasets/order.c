/* SPDX-License-Identifier: Apache-2.0
 * Makes epochs: what a sampler draws, then the rank's part of it. */
#include "datasets/order.h"

#include <string.h>

#include "datasets/draw.h"
#include "src/base/memory.h"

static bool is_batches(const struct pfi_order *order)
{
    return order->o.sampler == PINFOLD_SAMPLER_BATCHES;
}

static bool is_shuffle(const struct pfi_order *order)
{
    return order->o.sampler == PINFOLD_SAMPLER_DEFAULT && order->source.shuffle;
}

/* ------------------------------------------------------------------- open --- */

/* A copy of `count` things of `size` bytes; of none, NULL. */
static pinfold_status copy(void **out, const void *from, int64_t count,
                           size_t size, pinfold_error *err)
{
    size_t bytes;

    *out = NULL;
    if (!count)
        return PINFOLD_OK;
    if (pfi_mul((size_t)count, size, &bytes))
        *out = pfi_malloc(bytes);
    if (!*out)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                        "no memory for the order's %lld entries",
                        (long long)count);
    memcpy(*out, from, bytes);
    return PINFOLD_OK;
}

/* From here on the lists are the order's own, or NULL. */
static pinfold_status copy_lists(struct pfi_order *order,
                                 const pinfold_order *from, pinfold_error *err)
{
    pinfold_order *const o = &order->o;
    void *indices, *sizes = NULL, *weights = NULL;
    pinfold_status status =
        copy(&indices, from->indices, from->n_indices, sizeof(int64_t), err);

    if (!status)
        status = copy(&sizes, from->batch_sizes, from->n_batches,
                      sizeof(int32_t), err);
    if (!status)
        status = copy(&weights, from->weights, from->n_weights, sizeof(double),
                      err);
    o->indices = indices;
    o->batch_sizes = sizes;
    o->weights = weights;
    return status;
}

static pinfold_status find_batches(struct pfi_order *order, pinfold_error *err)
{
    int64_t at = 0;

    if (!is_batches(order))
        return PINFOLD_OK;
    order->batch_at =
        pfi_calloc((size_t)order->total + 1, sizeof(*order->batch_at));
    if (!order->batch_at)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for %lld batches",
                        (long long)order->total);
    for (int64_t i = 0; i < order->total; i++) {
        order->batch_at[i] = at;
        at += order->o.batch_sizes[i];
    }
    return PINFOLD_OK;
}

static pinfold_status sum_weights(struct pfi_order *order, pinfold_error *err)
{
    const int64_t n = order->o.n_weights;

    if (order->o.sampler != PINFOLD_SAMPLER_WEIGHTED || !n)
        return PINFOLD_OK;
    order->sums = pfi_calloc((size_t)n, sizeof(*order->sums));
    if (!order->sums)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for %lld weights",
                        (long long)n);
    pfi_weights_sum(order->o.weights, n, order->sums);
    return PINFOLD_OK;
}

/* Whole permutations are drawn, of which the last may be used in part. */
static int64_t room_for(const struct pfi_order *order)
{
    const int64_t n = order->source.n;
    const int64_t length = pfi_order_length(&order->source, &order->o);

    if (order->o.sampler != PINFOLD_SAMPLER_RANDOM || order->o.replacement ||
        !n || length % n == 0)
        return length;
    return length + (n - length % n);
}

/* All of an order that takes no memory: the lists stay the giver's. */
static pinfold_status borrow(struct pfi_order *order,
                             const struct pfi_order_source *source,
                             pinfold_error *err)
{
    pinfold_order *const o = &order->o;
    pinfold_status status = PINFOLD_OK;

    *order = (struct pfi_order){.o = {.struct_size = sizeof(*o)},
                                .source = *source};
    order->source.order = NULL;
    if (source->order)
        status = pfi_struct_in(o, sizeof(*o),
                               PFI_SIZE_WITH(pinfold_order, reserved),
                               source->order, err);
    if (!status)
        status = pfi_order_check(&order->source, o, err);
    if (!status && o->generator)
        status = pfi_generator_set(&order->initial, o->generator,
                                   o->generator_size, err);
    if (status)
        return status;
    if (!o->generator)
        pfi_generator_seed(&order->initial, order->source.seed);
    order->before = order->now = order->initial;
    o->generator = NULL;
    order->shard = (struct pfi_shard){.kind = o->shard,
                                      .rank = o->rank,
                                      .world = o->world ? o->world : 1,
                                      .drop_last = o->shard_drop_last};
    order->total = is_batches(order) ? o->n_batches
                                     : pfi_order_length(&order->source, o);
    order->room = room_for(order);
    return PINFOLD_OK;
}

pinfold_status pfi_order_init(struct pfi_order *order,
                              const struct pfi_order_source *source,
                              pinfold_error *err)
{
    pinfold_order given;
    pinfold_status status = borrow(order, source, err);

    given = order->o;
    order->o.indices = NULL;
    order->o.batch_sizes = NULL;
    order->o.weights = NULL;
    if (!status)
        status = copy_lists(order, &given, err);
    if (!status)
        status = find_batches(order, err);
    return status ? status : sum_weights(order, err);
}

void pfi_order_end(struct pfi_order *order)
{
    pfi_free((void *)(uintptr_t)order->o.indices);
    pfi_free((void *)(uintptr_t)order->o.batch_sizes);
    pfi_free((void *)(uintptr_t)order->o.weights);
    pfi_free(order->sums);
    pfi_free(order->batch_at);
    *order = (struct pfi_order){0};
}

/* ------------------------------------------------------------------ draws --- */

/* The words of the iterator's base seed, which persistent workers draw once. */
static uint64_t base_seed_words(const struct pfi_order *order, int64_t epoch)
{
    return is_shuffle(order) && (!order->o.persistent_workers || epoch == 0)
               ? 2
               : 0;
}

/* All that the epoch takes from the generator.  RandomSampler draws one more
 * permutation at its end, also when nothing of it is used. */
static uint64_t words_of(const struct pfi_order *order, int64_t epoch)
{
    const int64_t n = order->source.n;
    const uint64_t length =
        (uint64_t)pfi_order_length(&order->source, &order->o);

    switch (order->o.sampler) {
    case PINFOLD_SAMPLER_RANDOM:
        if (order->o.replacement)
            return length * pfi_replacement_words(n);
        return n ? (length / (uint64_t)n + 1) * pfi_permutation_words(n) : 0;
    case PINFOLD_SAMPLER_SUBSET: return pfi_permutation_words((int64_t)length);
    case PINFOLD_SAMPLER_WEIGHTED: return 2 * length;
    case PINFOLD_SAMPLER_LIST:
    case PINFOLD_SAMPLER_BATCHES: return 0;
    case PINFOLD_SAMPLER_DEFAULT: break;
    }
    if (!is_shuffle(order) || order->shard.kind == PINFOLD_SHARD_TORCH)
        return 0;
    return base_seed_words(order, epoch) + 2 * pfi_permutation_words(n);
}

static void draw_shuffle(const struct pfi_order *order, struct pfi_mt19937 *rng,
                         int64_t epoch, int64_t *out)
{
    struct pfi_mt19937 own;

    if (order->shard.kind == PINFOLD_SHARD_TORCH) {
        pfi_mt19937_seed(&own, order->source.seed + (uint64_t)epoch);
        rng = &own;
    } else {
        pfi_mt19937_skip(rng, base_seed_words(order, epoch));
    }
    pfi_draw_permutation(rng, order->source.n, out);
}

/* Writes the epoch's indices; rng stands before the epoch. */
static void draw(const struct pfi_order *order, struct pfi_mt19937 *rng,
                 int64_t epoch, int64_t *out)
{
    const pinfold_order *const o = &order->o;
    const int64_t n = order->source.n;
    const int64_t length = pfi_order_length(&order->source, o);

    switch (o->sampler) {
    case PINFOLD_SAMPLER_RANDOM:
        if (o->replacement)
            pfi_draw_replacement(rng, n, length, out);
        for (int64_t i = 0; !o->replacement && i < length; i += n)
            pfi_draw_permutation(rng, n, out + i);
        return;
    case PINFOLD_SAMPLER_SUBSET:
        pfi_draw_permutation(rng, length, out);
        for (int64_t i = 0; i < length; i++)
            out[i] = o->indices[out[i]];
        return;
    case PINFOLD_SAMPLER_WEIGHTED:
        pfi_draw_weighted(rng, order->sums, n, length, out);
        return;
    case PINFOLD_SAMPLER_LIST:
    case PINFOLD_SAMPLER_BATCHES:
        if (length)
            memcpy(out, o->indices, (size_t)length * sizeof(*out));
        return;
    case PINFOLD_SAMPLER_DEFAULT: break;
    }
    if (is_shuffle(order))
        draw_shuffle(order, rng, epoch, out);
    for (int64_t i = 0; !is_shuffle(order) && i < n; i++)
        out[i] = i;
}

/* The generator before `epoch` in order->before, after it in order->now. */
static void move_to(struct pfi_order *order, int64_t epoch)
{
    if (epoch < order->at) {
        order->now = order->initial;
        order->at = 0;
    }
    for (; order->at < epoch; order->at++)
        pfi_mt19937_skip(&order->now.rng, words_of(order, order->at));
    order->before = order->now;
    pfi_mt19937_skip(&order->now.rng, words_of(order, epoch));
    order->at = epoch + 1;
}

/* ----------------------------------------------------------------- epochs --- */

static int64_t skipped(const struct pfi_order *order,
                       const struct pfi_rest *rest)
{
    const int64_t over = rest ? rest->things : 0;

    return over < order->total ? over : order->total;
}

/* How many indices the rank's batches hold of those behind `skip`. */
static int64_t count_in_batches(const struct pfi_order *order, int64_t skip)
{
    const int64_t left = order->total - skip;
    const int64_t n = pfi_shard_count(&order->shard, left);
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count +=
            order->o
                .batch_sizes[skip + pfi_shard_at(&order->shard, left, i)];
    return count;
}

/* Numbers and counts; no index. */
static void measure(const struct pfi_order *order, const struct pfi_rest *rest,
                    struct pfi_epoch *out)
{
    const int64_t skip = skipped(order, rest), size = order->source.batch_size;
    const int64_t n = pfi_shard_count(&order->shard, order->total - skip);

    out->first = rest ? rest->batch : 0;
    if (is_batches(order)) {
        out->count = count_in_batches(order, skip);
        out->end = out->first + n;
        return;
    }
    out->count = order->source.drop_last ? n / size * size : n;
    out->end = out->first + out->count / size + (out->count % size != 0);
}

pinfold_status pfi_epoch_init(struct pfi_epoch *epoch,
                              const struct pfi_order *order, pinfold_error *err)
{
    *epoch = (struct pfi_epoch){0};
    epoch->indices =
        pfi_calloc((size_t)order->room + 1, sizeof(*epoch->indices));
    if (order->batch_at)
        epoch->starts =
            pfi_calloc((size_t)order->total + 1, sizeof(*epoch->starts));
    if (!epoch->indices || (order->batch_at && !epoch->starts))
        return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                        "no memory for the order of %lld samples",
                        (long long)order->room);
    measure(order, NULL, epoch);
    return PINFOLD_OK;
}

static bool add(size_t *bytes, int64_t count, size_t size)
{
    size_t more;

    return pfi_mul((size_t)count, size, &more) && pfi_add(*bytes, more, bytes);
}

pinfold_status pfi_order_plan(struct pfi_order_plan *plan,
                              const struct pfi_order_source *source,
                              pinfold_error *err)
{
    struct pfi_order order;
    struct pfi_epoch epoch = {0};
    pinfold_status status = borrow(&order, source, err);
    const pinfold_order *const o = &order.o;
    const int64_t ends = is_batches(&order) ? order.total + 1 : 0;

    if (status)
        return status;
    measure(&order, NULL, &epoch);
    *plan = (struct pfi_order_plan){0, epoch.count, epoch.end - epoch.first};
    /* The lists; the weights' sums; where batches begin, in both. */
    if (!add(&plan->bytes, o->n_indices, sizeof(*o->indices)) ||
        !add(&plan->bytes, o->n_batches, sizeof(*o->batch_sizes)) ||
        !add(&plan->bytes, o->n_weights,
             sizeof(*o->weights) + sizeof(*order.sums)) ||
        !add(&plan->bytes, ends,
             sizeof(*order.batch_at) + sizeof(*epoch.starts)) ||
        !add(&plan->bytes, order.room + 1, sizeof(*epoch.indices)))
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "an order of %lld samples does not fit in memory",
                        (long long)order.room);
    return PINFOLD_OK;
}

void pfi_epoch_end(struct pfi_epoch *epoch)
{
    pfi_free(epoch->indices);
    pfi_free(epoch->starts);
    *epoch = (struct pfi_epoch){0};
}

/* Of all batches from `skip` on, moves those of this rank to the front. */
static void deal_batches(const struct pfi_order *order, int64_t skip,
                         struct pfi_epoch *out)
{
    const int64_t left = order->total - skip, count = out->end - out->first;
    int64_t used = 0;

    for (int64_t i = 0; i < count; i++) {
        const int64_t b = skip + pfi_shard_at(&order->shard, left, i);
        const int64_t size = order->o.batch_sizes[b];

        memmove(out->indices + used, out->indices + order->batch_at[b],
                (size_t)size * sizeof(*out->indices));
        out->starts[i] = used;
        used += size;
    }
    out->starts[count] = used;
}

static void deal_samples(const struct pfi_order *order, int64_t skip,
                         struct pfi_epoch *out)
{
    const int64_t left = order->total - skip;

    if (skip && left)
        memmove(out->indices, out->indices + skip,
                (size_t)left * sizeof(*out->indices));
    pfi_shard_pick(&order->shard, left, out->indices);
}

void pfi_order_epoch(struct pfi_order *order, int64_t number,
                     const struct pfi_rest *rest, struct pfi_epoch *out)
{
    struct pfi_mt19937 rng;

    move_to(order, number);
    rng = order->before.rng;
    draw(order, &rng, number, out->indices);
    measure(order, rest, out);
    if (out->starts)
        deal_batches(order, skipped(order, rest), out);
    else
        deal_samples(order, skipped(order, rest), out);
}

int64_t pfi_epoch_batch_at(const struct pfi_epoch *epoch, int32_t batch_size,
                           int64_t number)
{
    const int64_t i = number - epoch->first;

    if (epoch->starts)
        return epoch->starts[i];
    return number == epoch->end ? epoch->count : i * batch_size;
}
