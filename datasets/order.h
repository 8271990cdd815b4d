/* SPDX-License-Identifier: Apache-2.0
 * The order in which a rank's samples come, epoch by epoch (torch 2.15.0
 * utils/data/sampler.py, dataloader.py, distributed.py). */
#ifndef PFI_DATASETS_ORDER_H
#define PFI_DATASETS_ORDER_H

#include <stdbool.h>

#include "datasets/generator.h"
#include "datasets/shard.h"

/* What an order is made from. */
struct pfi_order_source {
    const pinfold_order *order; /* NULL = defaults */
    int64_t n;                  /* samples of the data set */
    uint64_t seed;
    int32_t batch_size;
    bool shuffle, drop_last;
};

struct pfi_order {
    pinfold_order o; /* its lists are the order's own; generator NULL */
    struct pfi_order_source source; /* order NULL */
    struct pfi_shard shard;
    double *sums;       /* of the weights, or NULL */
    int64_t total;      /* things before they are dealt: samples or batches */
    int64_t *batch_at;  /* [o.n_batches] of batches, else NULL */
    int64_t room;       /* indices that an epoch takes while it is made */
    struct pfi_generator initial; /* before epoch 0 */
    struct pfi_generator before;  /* before the epoch made last */
    struct pfi_generator now;     /* before epoch `at` */
    int64_t at;
};

/* Some first things of an epoch are over: those that are left are dealt to the
 * ranks anew, and their batches count on from `batch`. */
struct pfi_rest {
    int64_t things, batch;
};

/* A rank's part of one epoch. */
struct pfi_epoch {
    int64_t *indices; /* [the order's room] */
    int64_t *starts;  /* of batches: where each begins, then the end */
    int64_t count;    /* of indices in the batches below */
    int64_t first, end; /* numbers of the first batch, and behind the last */
};

/* What an order is and takes, before anything is taken. */
struct pfi_order_plan {
    size_t bytes; /* that pfi_order_init() and pfi_epoch_init() allocate */
    int64_t samples, batches; /* of this rank's whole epoch */
};

/* Fails where init would before it allocates; allocates nothing. */
pinfold_status pfi_order_plan(struct pfi_order_plan *plan,
                              const struct pfi_order_source *source,
                              pinfold_error *err);

/* Checks all of it and copies the lists; end accepts what a failure left. */
pinfold_status pfi_order_init(struct pfi_order *order,
                              const struct pfi_order_source *source,
                              pinfold_error *err);
void pfi_order_end(struct pfi_order *order);

/* Counts and numbers are those of a whole epoch, which is not made. */
pinfold_status pfi_epoch_init(struct pfi_epoch *epoch,
                              const struct pfi_order *order,
                              pinfold_error *err);
void pfi_epoch_end(struct pfi_epoch *epoch);

/* Makes epoch `number` (from 0).  Going on from the last one costs one epoch's
 * draws, any other epoch those of all epochs before it.  `rest` may be NULL. */
void pfi_order_epoch(struct pfi_order *order, int64_t number,
                     const struct pfi_rest *rest, struct pfi_epoch *out);

/* Where batch `number` of the epoch begins in its indices; `number` may be the
 * end. */
int64_t pfi_epoch_batch_at(const struct pfi_epoch *epoch, int32_t batch_size,
                           int64_t number);

/* order_check.c: whether torch or we can make such an order at all. */
pinfold_status pfi_order_check(const struct pfi_order_source *source,
                               const pinfold_order *o, pinfold_error *err);
/* Samples or indices before they are dealt. */
int64_t pfi_order_length(const struct pfi_order_source *source,
                         const pinfold_order *o);

#endif
