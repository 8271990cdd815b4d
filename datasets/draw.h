/* SPDX-License-Identifier: Apache-2.0
 * What torch's samplers draw from a generator (torch 2.15.0; ATen's
 * TensorFactories.cpp, MultinomialKernel.cpp, DistributionsHelper.h). */
#ifndef PFI_DATASETS_DRAW_H
#define PFI_DATASETS_DRAW_H

#include "src/base/error.h"
#include "src/base/mt19937.h"

/* torch.randperm(n), and the words that it takes. */
void pfi_draw_permutation(struct pfi_mt19937 *rng, int64_t n, int64_t *out);
uint64_t pfi_permutation_words(int64_t n);

/* `count` times torch.randint(n), and the words of each. */
void pfi_draw_replacement(struct pfi_mt19937 *rng, int64_t n, int64_t count,
                          int64_t *out);
uint64_t pfi_replacement_words(int64_t n);

/* Most weights that torch.multinomial() takes. */
#define PFI_WEIGHTS_MAX (INT64_C(1) << 24)

/* Refuses the weights that torch refuses. */
pinfold_status pfi_weights_check(const double *weights, int64_t n,
                                 pinfold_error *err);
/* The running sum of n checked weights over their total, the last 1. */
void pfi_weights_sum(const double *weights, int64_t n, double *sums);

/* `count` times torch.multinomial(weights, 1) by those sums; 2 words each. */
void pfi_draw_weighted(struct pfi_mt19937 *rng, const double *sums, int64_t n,
                       int64_t count, int64_t *out);

#endif
