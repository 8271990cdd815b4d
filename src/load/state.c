/* SPDX-License-Identifier: Apache-2.0
 * A loader's state as bytes: magic, version, size, fields, checksum. */
#include "src/load/state.h"

#include <string.h>

#include "datasets/dataset.h"
#include "src/base/bytes.h"
#include "src/base/hash.h"

#define PFI_STATE_VERSION 1

enum {
    VERSION = 8,
    SIZE = 12,
    FIELDS = 16,
    CHECKSUM = FIELDS + 8 * PFI_STATE_FIELDS,
    STATE_SIZE = CHECKSUM + 8
};

_Static_assert((int)STATE_SIZE <= PINFOLD_STATE_MAX, "a state fits");

static const char magic[8] = {'P', 'F', 'S', 'T', 'A', 'T', 'E', '\n'};

static void put_generator(uint64_t *f, const struct pfi_generator *generator)
{
    f[0] = generator->seed;
    f[1] = (uint64_t)generator->rng.next;
    for (int i = 0; i < 312; i++)
        f[2 + i] = generator->rng.state[2 * i] |
                   (uint64_t)generator->rng.state[2 * i + 1] << 32;
}

static void get_generator(struct pfi_generator *generator, const uint64_t *f)
{
    generator->seed = f[0];
    generator->rng.next = (int32_t)f[1];
    for (int i = 0; i < 312; i++) {
        generator->rng.state[2 * i] = (uint32_t)f[2 + i];
        generator->rng.state[2 * i + 1] = (uint32_t)(f[2 + i] >> 32);
    }
}

/* Things of the epoch that all ranks have had when each had as many batches. */
static int64_t things_over(const pinfold_loader *loader, int64_t batch)
{
    const struct pfi_order *const order = &loader->order;
    const int64_t each = order->batch_at ? 1 : order->source.batch_size;
    const int64_t batches = batch - loader->now.first;
    const int64_t most = order->total - loader->rest.things;

    /* As a division: the product may not fit. */
    if (most <= 0 || batches > most / each / order->shard.world)
        return order->total;
    return loader->rest.things + batches * each * order->shard.world;
}

static void make_fields(pinfold_loader *loader, int64_t batch, uint64_t *f)
{
    if (!loader->fingerprint)
        loader->fingerprint = pfi_dataset_fingerprint(loader->dataset);
    pfi_state_fill(loader, f);
    f[PFI_STATE_EPOCH] = (uint64_t)loader->epoch;
    f[PFI_STATE_BATCH] = (uint64_t)batch;
    f[PFI_STATE_THINGS] = (uint64_t)things_over(loader, batch);
    put_generator(f + PFI_STATE_GENERATOR, &loader->order.before);
}

pinfold_status pinfold_loader_state(pinfold_loader *loader, void *dst,
                                    size_t dst_size, size_t *size,
                                    pinfold_error *err)
{
    uint64_t fields[PFI_STATE_FIELDS];
    unsigned char *const bytes = dst;
    int64_t batch;

    pfi_error_clear(err);
    if (pfi_loader_check(loader, err))
        return PINFOLD_E_FORK;
    if (loader->epoch < 0)
        return pfi_fail(err, PINFOLD_E_STATE, 0, "no epoch was started");
    if (!dst || !size || dst_size < STATE_SIZE)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "dst has %zu bytes, a state %d", dst ? dst_size : 0,
                        STATE_SIZE);
    pthread_mutex_lock(&loader->lock);
    batch = pfi_lending_ring(loader)->next_take;
    pthread_mutex_unlock(&loader->lock);
    make_fields(loader, batch, fields);
    memcpy(bytes, magic, sizeof(magic));
    pfi_put32(bytes + VERSION, PFI_STATE_VERSION);
    pfi_put32(bytes + SIZE, STATE_SIZE);
    for (int i = 0; i < PFI_STATE_FIELDS; i++)
        pfi_put64(bytes + FIELDS + 8 * i, fields[i]);
    pfi_put64(bytes + CHECKSUM, pfi_hash(bytes, CHECKSUM, 0));
    *size = STATE_SIZE;
    return PINFOLD_OK;
}

/* Whether the bytes are a whole state of this version. */
static pinfold_status open_bytes(const unsigned char *bytes, size_t size,
                                 uint64_t *fields, pinfold_error *err)
{
    if (size < FIELDS || memcmp(bytes, magic, sizeof(magic)) != 0)
        return pfi_fail(err, PINFOLD_E_FORMAT, 0, "not a loader's state");
    if (pfi_get32(bytes + VERSION) != PFI_STATE_VERSION)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "the state is of version %u, this library's is %d",
                        pfi_get32(bytes + VERSION), PFI_STATE_VERSION);
    if (size != STATE_SIZE || pfi_get32(bytes + SIZE) != STATE_SIZE)
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "the state has %zu bytes, not %d", size, STATE_SIZE);
    if (pfi_get64(bytes + CHECKSUM) != pfi_hash(bytes, CHECKSUM, 0))
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "the state is damaged: its checksum differs");
    for (int i = 0; i < PFI_STATE_FIELDS; i++)
        fields[i] = pfi_get64(bytes + FIELDS + 8 * i);
    for (int i = PFI_STATE_EPOCH; i <= PFI_STATE_THINGS; i++)
        if (fields[i] > INT64_MAX / 2)
            return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                            "the state is damaged: a number is too large");
    if (fields[PFI_STATE_GENERATOR + 1] > 624)
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "the state is damaged: its generator");
    return PINFOLD_OK;
}

pinfold_status pfi_state_take(pinfold_loader *loader, const void *state,
                              size_t size, struct pfi_resume *out,
                              pinfold_error *err)
{
    uint64_t own[PFI_STATE_FIELDS], given[PFI_STATE_FIELDS];
    pinfold_status status = open_bytes(state, size, given, err);

    if (status)
        return status;
    make_fields(loader, 0, own);
    status = pfi_state_compare(own, given, err);
    if (status)
        return status;
    out->epoch = (int64_t)given[PFI_STATE_EPOCH];
    out->batch = (int64_t)given[PFI_STATE_BATCH];
    out->deal = loader->order.shard.kind == PINFOLD_SHARD_EXACT;
    out->rest = (struct pfi_rest){(int64_t)given[PFI_STATE_THINGS], out->batch};
    get_generator(&loader->order.now, given + PFI_STATE_GENERATOR);
    loader->order.at = out->epoch;
    return PINFOLD_OK;
}
