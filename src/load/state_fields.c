/* SPDX-License-Identifier: Apache-2.0
 * The fields of a state that say which data set, recipe and order it is of. */
#include <string.h>

#include "datasets/dataset.h"
#include "src/base/hash.h"
#include "src/load/state.h"

/* Numbers as they are, or as the bits of a double. */
static const struct {
    const char *name;
    bool real;
} recipe_fields[] = {
    {"resize", false},         {"resize_short", false},
    {"max_size", false},       {"resize_height", false},
    {"resize_width", false},   {"crop", false},
    {"crop_height", false},    {"crop_width", false},
    {"filter", false},         {"pillow", false},
    {"dtype", false},          {"layout", false},
    {"scale", false},          {"mean[0]", true},
    {"mean[1]", true},         {"mean[2]", true},
    {"stddev[0]", true},       {"stddev[1]", true},
    {"stddev[2]", true},       {"exif", false},
    {"random_crop", false},    {"flip", true},
    {"random_area[0]", true},  {"random_area[1]", true},
    {"random_aspect[0]", true}, {"random_aspect[1]", true},
    {"max_pixels", false},     {"max_scratch", false},
    {"max_ancillary", false},  {"max_scans", false},
    {"max_side", false},       {"max_file", false},
    {"plane_alignment's gap", false},
};

_Static_assert(sizeof(recipe_fields) / sizeof(recipe_fields[0]) ==
                   PFI_STATE_SEED - PFI_STATE_RECIPE,
               "a name for each of the recipe's fields");

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* In the order of the names above.  What never changes a sample is left out:
 * cpu_level, full_decode. */
static void fill_recipe(const struct pfi_recipe *r, uint64_t *f)
{
    const uint64_t fields[] = {
        r->resize,
        (uint64_t)r->resize_short,
        (uint64_t)r->max_size,
        (uint64_t)r->resize_height,
        (uint64_t)r->resize_width,
        r->crop,
        (uint64_t)r->height,
        (uint64_t)r->width,
        r->filter,
        r->pillow,
        r->dtype,
        r->layout,
        r->scale,
        bits_of(r->mean[0]),
        bits_of(r->mean[1]),
        bits_of(r->mean[2]),
        bits_of(r->stddev[0]),
        bits_of(r->stddev[1]),
        bits_of(r->stddev[2]),
        r->exif,
        r->random_crop,
        bits_of(r->flip),
        bits_of(r->area[0]),
        bits_of(r->area[1]),
        bits_of(r->aspect[0]),
        bits_of(r->aspect[1]),
        r->limits.pixels,
        r->limits.scratch,
        r->limits.ancillary,
        (uint64_t)r->limits.scans,
        (uint64_t)r->limits.side,
        r->limits.file,
        r->plane,
    };

    memcpy(f, fields, sizeof(fields));
}

static uint64_t hash_lists(const pinfold_order *o)
{
    uint64_t hash =
        pfi_hash(o->indices, (size_t)o->n_indices * sizeof(int64_t), 0);

    hash = pfi_hash(o->batch_sizes, (size_t)o->n_batches * sizeof(int32_t),
                    hash);
    return pfi_hash(o->weights, (size_t)o->n_weights * sizeof(double), hash);
}

void pfi_state_fill(const pinfold_loader *loader, uint64_t *f)
{
    const struct pfi_order *const order = &loader->order;
    const pinfold_order *const o = &order->o;
    unsigned char initial[PINFOLD_GENERATOR_SIZE];

    pfi_generator_get(&order->initial, initial);
    f[PFI_STATE_N] = (uint64_t)order->source.n;
    f[PFI_STATE_FINGERPRINT] = loader->fingerprint;
    fill_recipe(&loader->task.recipe, f + PFI_STATE_RECIPE);
    f[PFI_STATE_SEED] = order->source.seed;
    f[PFI_STATE_BATCH_SIZE] = (uint64_t)order->source.batch_size;
    f[PFI_STATE_SHUFFLE] = order->source.shuffle;
    f[PFI_STATE_DROP_LAST] = order->source.drop_last;
    f[PFI_STATE_SAMPLER] = o->sampler;
    f[PFI_STATE_SHARD] = o->shard;
    f[PFI_STATE_REPLACEMENT] = (uint64_t)o->replacement;
    f[PFI_STATE_PERSISTENT] = (uint64_t)o->persistent_workers;
    f[PFI_STATE_NUM_SAMPLES] = (uint64_t)pfi_order_length(&order->source, o);
    f[PFI_STATE_SHARD_DROP_LAST] = (uint64_t)o->shard_drop_last;
    f[PFI_STATE_LISTS] = hash_lists(o);
    f[PFI_STATE_INITIAL] = pfi_hash(initial, sizeof(initial), 0);
    f[PFI_STATE_WORLD] = (uint64_t)order->shard.world;
    f[PFI_STATE_RANK] = (uint64_t)order->shard.rank;
}

static pinfold_status refuse(pinfold_error *err, const char *what)
{
    return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "%s", what);
}

static pinfold_status refuse_number(pinfold_error *err, const char *what,
                                    uint64_t given, uint64_t own)
{
    return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                    "the state was taken with %s %lld, not %lld", what,
                    (long long)given, (long long)own);
}

static pinfold_status compare_recipe(const uint64_t *own, const uint64_t *given,
                                     pinfold_error *err)
{
    for (int i = 0; i < PFI_STATE_SEED - PFI_STATE_RECIPE; i++) {
        if (own[i] == given[i])
            continue;
        if (recipe_fields[i].real)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "the recipe changed: the state's %s is %.9g, not "
                            "%.9g",
                            recipe_fields[i].name, double_of(given[i]),
                            double_of(own[i]));
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the recipe changed: the state's %s is %lld, not %lld",
                        recipe_fields[i].name, (long long)given[i],
                        (long long)own[i]);
    }
    return PINFOLD_OK;
}

static pinfold_status compare_order(const uint64_t *own, const uint64_t *given,
                                    pinfold_error *err)
{
    static const char *const names[] = {
        "seed",        "batch_size",         "shuffle",     "drop_last",
        "sampler",     "shard",              "replacement", "persistent_workers",
        "num_samples", "shard_drop_last"};

    for (int i = PFI_STATE_SEED; i < PFI_STATE_LISTS; i++)
        if (own[i] != given[i])
            return refuse_number(err, names[i - PFI_STATE_SEED], given[i],
                                 own[i]);
    if (own[PFI_STATE_LISTS] != given[PFI_STATE_LISTS])
        return refuse(err, "the state was taken with other indices, batches or "
                           "weights");
    if (own[PFI_STATE_INITIAL] != given[PFI_STATE_INITIAL])
        return refuse(err, "the state was taken with another generator");
    return PINFOLD_OK;
}

pinfold_status pfi_state_compare(const uint64_t *own, const uint64_t *given,
                                 pinfold_error *err)
{
    pinfold_status status;

    if (own[PFI_STATE_N] != given[PFI_STATE_N])
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the state is of another data set: of %lld samples, "
                        "not %lld",
                        (long long)given[PFI_STATE_N],
                        (long long)own[PFI_STATE_N]);
    if (own[PFI_STATE_FINGERPRINT] != given[PFI_STATE_FINGERPRINT])
        return refuse(err, "the state is of another data set: its classes or "
                           "files have other names");
    status = compare_recipe(own + PFI_STATE_RECIPE, given + PFI_STATE_RECIPE,
                            err);
    if (!status)
        status = compare_order(own, given, err);
    if (status || own[PFI_STATE_SHARD] == PINFOLD_SHARD_EXACT)
        return status;
    if (own[PFI_STATE_WORLD] != given[PFI_STATE_WORLD])
        return refuse_number(err, "world", given[PFI_STATE_WORLD],
                             own[PFI_STATE_WORLD]);
    if (own[PFI_STATE_RANK] != given[PFI_STATE_RANK])
        return refuse_number(err, "rank", given[PFI_STATE_RANK],
                             own[PFI_STATE_RANK]);
    return PINFOLD_OK;
}
