/* SPDX-License-Identifier: Apache-2.0
 * A generator's bytes equal torch's Generator.get_state(). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "datasets/generator.h"
#include "tests/support/sha256hex.h"

Test(generator, states_equal_torchs)
{
    FILE *const file = fopen(PFI_GOLDEN_DIR "/generator.tsv", "r");
    char line[256], wanted[65], hex[65];
    int rows = 0;

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file)) {
        unsigned char bytes[PINFOLD_GENERATOR_SIZE];
        struct pfi_generator generator;
        unsigned long long seed, words;

        if (line[0] == '#')
            continue;
        cr_assert_eq(sscanf(line, "%llu\t%llu\t%64s", &seed, &words, wanted), 3);
        pfi_generator_seed(&generator, seed);
        for (unsigned long long i = 0; i < words; i++)
            (void)pfi_mt19937_next(&generator.rng);
        pfi_generator_get(&generator, bytes);
        sha256_hex(bytes, sizeof(bytes), hex);
        cr_assert_str_eq(hex, wanted, "%s", line);
        rows++;
    }
    (void)fclose(file);
    cr_assert_eq(rows, 32);
}

Test(generator, goes_on_from_its_bytes)
{
    for (int words = 0; words < 1300; words += 13) {
        unsigned char bytes[PINFOLD_GENERATOR_SIZE];
        struct pfi_generator a, b;

        pfi_generator_seed(&a, 77);
        for (int i = 0; i < words; i++)
            (void)pfi_mt19937_next(&a.rng);
        pfi_generator_get(&a, bytes);
        cr_assert_eq(pfi_generator_set(&b, bytes, sizeof(bytes), NULL),
                     PINFOLD_OK);
        for (int i = 0; i < 1300; i++)
            cr_assert_eq(pfi_mt19937_next(&a.rng), pfi_mt19937_next(&b.rng));
        cr_assert_eq(b.seed, 77);
    }
}

Test(generator, refuses_other_bytes)
{
    unsigned char bytes[PINFOLD_GENERATOR_SIZE];
    struct pfi_generator generator;
    pinfold_error err;

    pfi_generator_seed(&generator, 1);
    pfi_generator_get(&generator, bytes);
    pfi_error_clear(&err);
    cr_assert_eq(pfi_generator_set(&generator, bytes, 16, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "the generator's state has 16 bytes, not 5056");
    bytes[16] = 1; /* a word used, but none of those left */
    pfi_error_clear(&err);
    cr_assert_eq(pfi_generator_set(&generator, bytes, sizeof(bytes), &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "the generator's state is none of torch's CPU");
}
