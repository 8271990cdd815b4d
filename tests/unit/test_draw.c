/* SPDX-License-Identifier: Apache-2.0
 * Draws that no golden order shows: sizes beyond 2^28, weights that torch
 * refuses.  The rest is in tests/golden/orders.tsv. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/draw.h"

Test(draw, a_permutation_takes_as_many_words_as_it_says)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 700};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct pfi_mt19937 drawn, skipped;
        int64_t out[700];

        pfi_mt19937_seed(&drawn, 9);
        pfi_mt19937_seed(&skipped, 9);
        pfi_draw_permutation(&drawn, sizes[i], out);
        pfi_mt19937_skip(&skipped, pfi_permutation_words(sizes[i]));
        cr_assert_eq(pfi_mt19937_next(&drawn), pfi_mt19937_next(&skipped));
    }
    cr_assert_eq(pfi_permutation_words(214748363), 214748362);
    cr_assert_eq(pfi_permutation_words(214748364), 2 * 214748364u);
}

/* torch.randint(n, (3,)) behind manual_seed(42). */
Test(draw, whole_numbers_from_2_to_28_on_take_two_words)
{
    static const struct {
        int64_t n, drawn[3];
    } rows[] = {
/* scripts/make-randint-golden */
#include "tests/golden/randint.inc"
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pfi_mt19937 rng;
        int64_t out[3];

        pfi_mt19937_seed(&rng, 42);
        pfi_draw_replacement(&rng, rows[i].n, 3, out);
        cr_assert_arr_eq(out, rows[i].drawn, sizeof(out), "n %lld",
                         (long long)rows[i].n);
    }
}

static void refuses(const double *weights, int64_t n, const char *words)
{
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_weights_check(weights, n, &err), PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, words);
}

Test(draw, refuses_weights_that_torch_refuses)
{
    refuses((const double[]){1, -1}, 2,
            "weight 1 is -1: negative or no number");
    refuses((const double[]){(double)NAN, 1}, 2,
            "weight 0 is nan: negative or no number");
    refuses((const double[]){1, 2, (double)INFINITY}, 3,
            "weight 2 is inf: negative or no number");
    refuses((const double[]){0, 0}, 2, "all weights are zero");
    refuses((const double[]){1e308, 1e308}, 2,
            "the sum of the weights is no number");
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_weights_check(NULL, PFI_WEIGHTS_MAX + 1, &err),
                 PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "16777217 weights, limit 16777216");
}

Test(draw, weights_of_zero_are_never_drawn)
{
    static const double weights[] = {0, 3, 0, 1, 0};
    double sums[5];
    struct pfi_mt19937 rng;
    int64_t out[2000];
    int seen[5] = {0};

    cr_assert_eq(pfi_weights_check(weights, 5, NULL), PINFOLD_OK);
    pfi_weights_sum(weights, 5, sums);
    pfi_mt19937_seed(&rng, 1);
    pfi_draw_weighted(&rng, sums, 5, 2000, out);
    for (int i = 0; i < 2000; i++)
        seen[out[i]]++;
    cr_assert_eq(seen[1] + seen[3], 2000);
    cr_assert(seen[1] > 1400 && seen[1] < 1600, "%d", seen[1]);
}
