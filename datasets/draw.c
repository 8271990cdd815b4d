/* SPDX-License-Identifier: Apache-2.0
 * Permutations, draws with replacement, draws by weight, as torch makes them. */
#include "datasets/draw.h"

#include <math.h>
#include <stdbool.h>

/* From here on randperm() works inside out with 64-bit words: UINT32_MAX / 20
 * (ATen TensorFactories.cpp). */
#define PFI_RANDPERM_LARGE 214748364

/* From here on a whole number is drawn from 64 bits (DistributionsHelper.h). */
#define PFI_RANDINT_LARGE (INT64_C(1) << 28)

uint64_t pfi_permutation_words(int64_t n)
{
    if (n >= PFI_RANDPERM_LARGE)
        return 2 * (uint64_t)n;
    return n > 1 ? (uint64_t)n - 1 : 0;
}

static void permute_inside_out(struct pfi_mt19937 *rng, int64_t n, int64_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t z =
            (int64_t)(pfi_mt19937_next64(rng) % (uint64_t)(i + 1));

        out[i] = i;
        out[i] = out[z];
        out[z] = i;
    }
}

void pfi_draw_permutation(struct pfi_mt19937 *rng, int64_t n, int64_t *out)
{
    if (n >= PFI_RANDPERM_LARGE) {
        permute_inside_out(rng, n, out);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    for (int64_t i = 0; i + 1 < n; i++) {
        const int64_t z = i + (int64_t)(pfi_mt19937_next(rng) % (n - i));
        const int64_t kept = out[i];

        out[i] = out[z];
        out[z] = kept;
    }
}

uint64_t pfi_replacement_words(int64_t n)
{
    return n >= PFI_RANDINT_LARGE ? 2 : 1;
}

void pfi_draw_replacement(struct pfi_mt19937 *rng, int64_t n, int64_t count,
                          int64_t *out)
{
    const uint64_t range = (uint64_t)n;
    const bool large = n >= PFI_RANDINT_LARGE;

    for (int64_t i = 0; i < count; i++)
        out[i] = (int64_t)((large ? pfi_mt19937_next64(rng)
                                  : pfi_mt19937_next(rng)) %
                           range);
}

pinfold_status pfi_weights_check(const double *weights, int64_t n,
                                 pinfold_error *err)
{
    double total = 0;

    if (n > PFI_WEIGHTS_MAX)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0, "%lld weights, limit %lld",
                        (long long)n, (long long)PFI_WEIGHTS_MAX);
    for (int64_t i = 0; i < n; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "weight %lld is %g: negative or no number",
                            (long long)i, weights[i]);
        total += weights[i];
    }
    if (!(total > 0) || isinf(total))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        total > 0 ? "the sum of the weights is no number"
                                  : "all weights are zero");
    return PINFOLD_OK;
}

void pfi_weights_sum(const double *weights, int64_t n, double *sums)
{
    double total = 0;

    for (int64_t i = 0; i < n; i++) {
        total += weights[i];
        sums[i] = total;
    }
    for (int64_t i = 0; i < n; i++)
        sums[i] /= total;
    sums[n - 1] = 1;
}

static int64_t first_from(const double *sums, int64_t n, double wanted)
{
    int64_t low = 0, high = n;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (sums[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void pfi_draw_weighted(struct pfi_mt19937 *rng, const double *sums, int64_t n,
                       int64_t count, int64_t *out)
{
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits =
            pfi_mt19937_next64(rng) & ((UINT64_C(1) << 53) - 1);

        out[i] = first_from(sums, n, (double)bits * 0x1p-53);
    }
}
