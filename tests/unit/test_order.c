/* SPDX-License-Identifier: Apache-2.0
 * The orders that PyTorch gave (tests/golden/orders.tsv), each to its last
 * index. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include <sha256.h>

#include "datasets/order.h"

static void hash_of(const int64_t *order, int64_t n, char hex[65])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, (const unsigned char *)order,
                 (size_t)n * sizeof(*order));
    SHA256Final(digest, &context);
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

static void check_row(char *line)
{
    long long n, epoch, count, batch;
    unsigned long long seed;
    char parameters[64], hex[65];
    int drop;
    struct pfi_shuffle shuffle;
    /* The field of the first eight indices may be empty. */
    char *const hash = strrchr(line, '\t') + 1;

    cr_assert_eq(sscanf(line, "shuffle\t%lld\t%llu\t%63[^\t]\t%lld\t%lld", &n,
                        &seed, parameters, &epoch, &count),
                 5, "%s", line);
    hash[strcspn(hash, "\n")] = '\0';
    cr_assert_eq(sscanf(parameters, "batch=%lld drop_last=%d", &batch, &drop), 2);
    int64_t *const order = malloc((size_t)n * sizeof(*order));

    cr_assert_eq(count, drop ? n / batch * batch : n);
    pfi_shuffle_init(&shuffle, seed, n,
                     strstr(parameters, "persistent_workers=1") != NULL);
    pfi_shuffle_epoch(&shuffle, epoch, order);
    hash_of(order, count, hex);
    cr_assert_str_eq(hex, hash, "%s", line);
    free(order);
}

Test(order, equals_torch_in_all_rows)
{
    FILE *const file = fopen(PFI_GOLDEN_DIR "/orders.tsv", "r");
    char line[512];
    int rows = 0;

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (line[0] != '#') {
            check_row(line);
            rows++;
        }
    }
    (void)fclose(file);
    cr_assert_eq(rows, 390);
}

Test(order, epochs_may_come_in_any_order)
{
    struct pfi_shuffle a, b;
    int64_t x[100], y[100];

    pfi_shuffle_init(&a, 42, 100, false);
    pfi_shuffle_init(&b, 42, 100, false);
    for (int64_t epoch = 0; epoch < 4; epoch++)
        pfi_shuffle_epoch(&a, epoch, x);
    pfi_shuffle_epoch(&b, 3, y);
    cr_assert_arr_eq(x, y, sizeof(x));
    pfi_shuffle_epoch(&a, 1, x);
    pfi_shuffle_init(&b, 42, 100, false);
    pfi_shuffle_epoch(&b, 1, y);
    cr_assert_arr_eq(x, y, sizeof(x));
}

Test(order, skipping_equals_drawing)
{
    struct pfi_mt19937 a, b;

    pfi_mt19937_seed(&a, 5);
    pfi_mt19937_seed(&b, 5 + (UINT64_C(1) << 32));
    for (int i = 0; i < 1500; i++)
        (void)pfi_mt19937_next(&a);
    pfi_mt19937_skip(&b, 1500);
    cr_assert_eq(pfi_mt19937_next64(&a), pfi_mt19937_next64(&b));
}
