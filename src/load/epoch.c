/* SPDX-License-Identifier: Apache-2.0
 * The order of a loader's samples: which epoch is made, and how long it is. */
#include <string.h>

#include "src/load/internal.h"

struct pfi_order_source pfi_order_source_of(const pinfold_loader_options *options,
                                            int64_t n)
{
    return (struct pfi_order_source){.order = options->order,
                                     .n = n,
                                     .seed = options->seed,
                                     .batch_size = options->batch_size,
                                     .shuffle = options->shuffle,
                                     .drop_last = options->drop_last};
}

void pfi_epoch_begin(pinfold_loader *loader, int64_t epoch,
                     const struct pfi_resume *resume)
{
    struct pfi_epoch *const now = &loader->now;

    loader->rest = resume && resume->deal ? resume->rest : (struct pfi_rest){0};
    pfi_order_epoch(&loader->order, epoch, &loader->rest, now);
    loader->first_batch = resume ? resume->batch : 0;
    if (loader->first_batch > now->end)
        loader->first_batch = now->end;
    loader->first_position = pfi_epoch_batch_at(
        now, loader->options.batch_size, loader->first_batch);
}

int64_t pinfold_loader_epoch(const pinfold_loader *loader)
{
    return loader->epoch;
}

int64_t pinfold_loader_batch_count(const pinfold_loader *loader)
{
    return loader->now.end - loader->first_batch;
}

int64_t pinfold_loader_sample_count(const pinfold_loader *loader)
{
    return loader->now.count - loader->first_position;
}

void pinfold_loader_generator(const pinfold_loader *loader, void *dst)
{
    pfi_generator_get(&loader->order.now, dst);
}

static pinfold_status give_indices(struct pfi_order *order, int64_t epoch,
                                   int64_t *dst, int64_t room, int64_t *count,
                                   pinfold_error *err)
{
    struct pfi_epoch made;
    const pinfold_status status = pfi_epoch_init(&made, order, err);
    int64_t n;

    if (!status) {
        pfi_order_epoch(order, epoch, NULL, &made);
        n = made.count < room ? made.count : room;
        if (n > 0)
            memcpy(dst, made.indices, (size_t)n * sizeof(*dst));
        *count = made.count;
    }
    pfi_epoch_end(&made);
    return status;
}

pinfold_status pinfold_order_indices(const pinfold_loader_options *options,
                                     int64_t n, int64_t epoch, int64_t *dst,
                                     int64_t room, int64_t *count,
                                     pinfold_error *err)
{
    pinfold_loader_options o;
    struct pfi_order order = {0};
    pinfold_status status;

    pfi_error_clear(err);
    if (n < 0 || epoch < 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        n < 0 ? "n is %lld" : "epoch is %lld",
                        (long long)(n < 0 ? n : epoch));
    if ((!dst && room > 0) || !count)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "dst or count is NULL");
    status = pfi_options_take(&o, options, err);
    if (!status) {
        const struct pfi_order_source source = pfi_order_source_of(&o, n);

        status = pfi_order_init(&order, &source, err);
    }
    if (!status)
        status = give_indices(&order, epoch, dst, room, count, err);
    pfi_order_end(&order);
    return status;
}
