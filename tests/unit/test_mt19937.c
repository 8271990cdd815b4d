/* SPDX-License-Identifier: Apache-2.0
 * The generator against the numbers of the C++ standard's mt19937. */
#include <criterion/criterion.h>

#include "src/base/mt19937.h"

static struct pfi_mt19937 rng;

Test(mt19937, gives_the_standard_numbers)
{
    pfi_mt19937_seed(&rng, 5489);
    cr_assert_eq(pfi_mt19937_next(&rng), 3499211612u);
    for (int i = 2; i < 10000; i++)
        (void)pfi_mt19937_next(&rng);
    /* [rand.predef] of the C++ standard: the 10000th of a default one. */
    cr_assert_eq(pfi_mt19937_next(&rng), 4123659995u);
}

Test(mt19937, takes_the_low_32_bits_of_a_seed)
{
    struct pfi_mt19937 other;

    pfi_mt19937_seed(&rng, 5);
    pfi_mt19937_seed(&other, 5 + (UINT64_C(7) << 32));
    for (int i = 0; i < 2000; i++)
        cr_assert_eq(pfi_mt19937_next(&rng), pfi_mt19937_next(&other));
}

Test(mt19937, puts_the_first_word_of_64_bits_above)
{
    struct pfi_mt19937 other;

    pfi_mt19937_seed(&rng, 1);
    pfi_mt19937_seed(&other, 1);
    const uint64_t high = pfi_mt19937_next(&other);
    const uint64_t low = pfi_mt19937_next(&other);

    cr_assert_eq(pfi_mt19937_next64(&rng), high << 32 | low);
}

Test(mt19937, skips_what_would_have_been_drawn)
{
    static const uint64_t starts[] = {0, 1, 623, 624, 625};
    static const uint64_t skips[] = {0,   1,    622,  623,  624,   625,
                                     626, 1247, 1248, 1249, 100000};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        for (size_t j = 0; j < sizeof(skips) / sizeof(skips[0]); j++) {
            struct pfi_mt19937 other;

            pfi_mt19937_seed(&rng, i);
            for (uint64_t k = 0; k < starts[i]; k++)
                (void)pfi_mt19937_next(&rng);
            other = rng;
            pfi_mt19937_skip(&rng, skips[j]);
            for (uint64_t k = 0; k < skips[j]; k++)
                (void)pfi_mt19937_next(&other);
            cr_assert_eq(pfi_mt19937_next(&rng), pfi_mt19937_next(&other),
                         "%zu %zu", i, j);
        }
}
