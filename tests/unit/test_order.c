/* SPDX-License-Identifier: Apache-2.0
 * Orders and what is refused of them; those that PyTorch gave are compared by
 * pinfold verify --orders (tests/golden/orders.tsv). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/generator.h"
#include "datasets/order.h"

static pinfold_loader_options options;
static pinfold_order order;
static pinfold_error err;

static void setup(void)
{
    options = pinfold_loader_options_default();
    options.batch_size = 8;
    options.order = &order;
    memset(&order, 0, sizeof(order));
    order.struct_size = sizeof(order);
}

TestSuite(order, .init = setup);

static int64_t indices_of(int64_t n, int64_t epoch, int64_t *dst, int64_t room)
{
    int64_t count = -1;

    cr_assert_eq(
        pinfold_order_indices(&options, n, epoch, dst, room, &count, &err),
        PINFOLD_OK, "%s", err.message);
    return count;
}

static void refused(int64_t n, pinfold_status status, const char *words)
{
    int64_t count, dst[4];

    cr_assert_eq(pinfold_order_indices(&options, n, 0, dst, 4, &count, &err),
                 status);
    cr_assert_str_eq(err.message, words);
}

Test(order, epochs_may_come_in_any_order)
{
    const struct pfi_order_source source = {
        .n = 100, .seed = 42, .batch_size = 8, .shuffle = true};
    struct pfi_epoch made;
    struct pfi_order a;
    int64_t expected[5][100];

    options.shuffle = 1;
    options.seed = 42;
    for (int epoch = 0; epoch < 5; epoch++)
        cr_assert_eq(indices_of(100, epoch, expected[epoch], 100), 100);
    cr_assert_eq(pfi_order_init(&a, &source, &err), PINFOLD_OK);
    cr_assert_eq(pfi_epoch_init(&made, &a, &err), PINFOLD_OK);
    for (int i = 0; i < 20; i++) {
        const int epoch = i * 7 % 5;

        pfi_order_epoch(&a, epoch, NULL, &made);
        cr_assert_arr_eq(made.indices, expected[epoch], sizeof(expected[0]));
    }
    pfi_epoch_end(&made);
    pfi_order_end(&a);
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

Test(order, a_list_comes_as_it_is)
{
    static const int64_t list[] = {4, 4, 0, 9, 2};
    int64_t got[5];

    order.sampler = PINFOLD_SAMPLER_LIST;
    order.indices = list;
    order.n_indices = 5;
    for (int epoch = 0; epoch < 2; epoch++) {
        cr_assert_eq(indices_of(10, epoch, got, 5), 5);
        cr_assert_arr_eq(got, list, sizeof(list));
    }
    options.batch_size = 2;
    options.drop_last = 1;
    cr_assert_eq(indices_of(10, 0, got, 5), 4);
}

Test(order, batches_are_dealt_whole)
{
    static const int64_t list[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int32_t sizes[] = {1, 3, 2, 4};
    static const int64_t second[] = {1, 2, 3, 6, 7, 8, 9};
    int64_t got[10];

    order.sampler = PINFOLD_SAMPLER_BATCHES;
    order.indices = list;
    order.n_indices = 10;
    order.batch_sizes = sizes;
    order.n_batches = 4;
    cr_assert_eq(indices_of(10, 0, got, 10), 10);
    cr_assert_arr_eq(got, list, sizeof(list));
    order.world = 2;
    order.rank = 1;
    cr_assert_eq(indices_of(10, 0, got, 10), 7);
    cr_assert_arr_eq(got, second, sizeof(second));
    order.shard = PINFOLD_SHARD_CONTIGUOUS;
    cr_assert_eq(indices_of(10, 0, got, 10), 6);
    cr_assert_arr_eq(got, list + 4, 6 * sizeof(*list));
}

Test(order, a_generators_state_replaces_the_seed)
{
    unsigned char state[PINFOLD_GENERATOR_SIZE];
    struct pfi_generator generator;
    int64_t by_seed[50], by_state[50];

    options.shuffle = 1;
    options.seed = 11;
    (void)indices_of(50, 2, by_seed, 50);
    pfi_generator_seed(&generator, 11);
    pfi_generator_get(&generator, state);
    options.seed = 12;
    order.generator = state;
    order.generator_size = sizeof(state);
    (void)indices_of(50, 2, by_state, 50);
    cr_assert_arr_eq(by_seed, by_state, sizeof(by_seed));
    /* Two epochs of a base seed and two permutations on, as torch's would be. */
    pfi_mt19937_skip(&generator.rng, 2 * (2 + 2 * 49));
    pfi_generator_get(&generator, state);
    (void)indices_of(50, 0, by_state, 50);
    cr_assert_arr_eq(by_seed, by_state, sizeof(by_seed));
}

Test(order, shards_of_every_sampler_make_the_whole)
{
    static const int64_t list[] = {5, 5, 1, 0, 7, 30, 2};
    static const double weights[31] = {1, 2, 3, [30] = 5};
    int64_t whole[200], part[200];

    for (int s = PINFOLD_SAMPLER_DEFAULT; s < PINFOLD_SAMPLER_BATCHES; s++) {
        const bool lists = s == PINFOLD_SAMPLER_SUBSET || s == PINFOLD_SAMPLER_LIST;
        int64_t n, total = 0;

        setup();
        options.shuffle = s == PINFOLD_SAMPLER_DEFAULT;
        order.sampler = (pinfold_sampler)s;
        order.indices = lists ? list : NULL;
        order.n_indices = lists ? 7 : 0;
        order.weights = s == PINFOLD_SAMPLER_WEIGHTED ? weights : NULL;
        order.n_weights = s == PINFOLD_SAMPLER_WEIGHTED ? 31 : 0;
        order.num_samples = lists || !s ? 0 : 77;
        n = indices_of(31, 1, whole, 200);
        for (order.world = 3; order.rank < 3; order.rank++) {
            const int64_t count = indices_of(31, 1, part, 200);

            for (int64_t i = 0; i < count; i++)
                cr_assert_eq(part[i], whole[order.rank + 3 * i]);
            total += count;
        }
        cr_assert_eq(total, n);
    }
}

Test(order, refuses_ranks_outside_the_world)
{
    order.rank = 3;
    refused(10, PINFOLD_E_ARGUMENT, "rank 3 without a world");
    order.world = 3;
    refused(10, PINFOLD_E_ARGUMENT, "rank 3 of a world of 3");
    order.rank = -1;
    refused(10, PINFOLD_E_ARGUMENT, "rank is -1, not 0 to 2147483647");
    order.rank = 0;
    order.reserved = 1;
    refused(10, PINFOLD_E_ARGUMENT, "reserved is 1, not 0 to 0");
    order.reserved = 0;
}

Test(order, refuses_indices_and_weights_that_do_not_fit)
{
    static const int64_t list[] = {0, 10};
    static const double weights[] = {1, -0.5};

    order.sampler = PINFOLD_SAMPLER_SUBSET;
    order.indices = list;
    order.n_indices = 2;
    refused(10, PINFOLD_E_ARGUMENT,
            "index 10 at place 1: the data set has 10 samples");
    setup();
    order.sampler = PINFOLD_SAMPLER_WEIGHTED;
    order.weights = weights;
    order.n_weights = 2;
    refused(3, PINFOLD_E_ARGUMENT, "2 weights for 3 samples");
    refused(2, PINFOLD_E_ARGUMENT, "weight 1 is -0.5: negative or no number");
    order.num_samples = 1;
    refused(2, PINFOLD_E_UNSUPPORTED,
            "torch draws one sample by weight from a generator of its own: "
            "num_samples must be 2 or more");
}

Test(order, refuses_more_samples_than_memory_holds)
{
    order.sampler = PINFOLD_SAMPLER_RANDOM;
    order.num_samples = INT64_MAX;
    refused(3, PINFOLD_E_LIMIT,
            "an order of 9223372036854775807 samples does not fit in memory");
    order.num_samples = 5;
    refused(0, PINFOLD_E_ARGUMENT, "num_samples is 5, and the data set has none");
    order.sampler = PINFOLD_SAMPLER_WEIGHTED;
    refused(0, PINFOLD_E_ARGUMENT, "num_samples is 5, and the data set has none");
}

Test(order, refuses_batches_that_do_not_fit)
{
    static const int64_t list[] = {0, 1, 2};
    static const int32_t big[] = {9}, none[] = {0, 3}, more[] = {2, 2};

    order.sampler = PINFOLD_SAMPLER_BATCHES;
    order.indices = list;
    order.n_indices = 3;
    order.batch_sizes = big;
    order.n_batches = 1;
    refused(3, PINFOLD_E_ARGUMENT,
            "batch 0 has 9 samples, not 1 to batch_size, 8");
    order.batch_sizes = none;
    refused(3, PINFOLD_E_ARGUMENT,
            "batch 0 has 0 samples, not 1 to batch_size, 8");
    order.batch_sizes = more;
    order.n_batches = 2;
    refused(3, PINFOLD_E_ARGUMENT, "batch_sizes do not add up to n_indices");
    options.drop_last = 1;
    refused(3, PINFOLD_E_ARGUMENT,
            "drop_last and a batch sampler exclude each other");
}

Test(order, refuses_what_a_sampler_would_not_look_at)
{
    static const int64_t list[] = {0};

    order.indices = list;
    order.n_indices = 1;
    refused(3, PINFOLD_E_ARGUMENT, "indices, but the sampler takes none");
    setup();
    order.num_samples = 4;
    refused(3, PINFOLD_E_ARGUMENT, "num_samples, but the sampler takes none");
    setup();
    order.persistent_workers = 1;
    refused(3, PINFOLD_E_ARGUMENT, "persistent_workers is of shuffle only");
    setup();
    order.sampler = PINFOLD_SAMPLER_RANDOM;
    options.shuffle = 1;
    refused(3, PINFOLD_E_ARGUMENT, "shuffle and a sampler exclude each other");
    setup();
    order.sampler = PINFOLD_SAMPLER_RANDOM;
    order.shard = PINFOLD_SHARD_TORCH;
    refused(3, PINFOLD_E_ARGUMENT, "torch's shards take no other sampler");
    setup();
    order.shard_drop_last = 1;
    refused(3, PINFOLD_E_ARGUMENT, "shard_drop_last is of torch's shards only");
    setup();
    order.sampler = (pinfold_sampler)6;
    refused(3, PINFOLD_E_ARGUMENT, "sampler is 6, not 0 to 5");
}

Test(order, refuses_lists_that_a_sampler_would_not_read)
{
    static const double weights[] = {1};
    static const int32_t sizes[] = {1};
    unsigned char generator[PINFOLD_GENERATOR_SIZE];
    struct pfi_generator seeded;

    order.weights = weights;
    order.n_weights = 1;
    refused(1, PINFOLD_E_ARGUMENT, "weights, but the sampler takes none");
    setup();
    order.batch_sizes = sizes;
    order.n_batches = 1;
    refused(1, PINFOLD_E_ARGUMENT, "batch_sizes, but the sampler takes none");
    setup();
    order.replacement = 1;
    refused(3, PINFOLD_E_ARGUMENT, "replacement is of the random sampler only");
    setup();
    order.sampler = PINFOLD_SAMPLER_SUBSET;
    order.n_indices = 3;
    refused(3, PINFOLD_E_ARGUMENT, "a list is NULL");
    setup();
    pfi_generator_seed(&seeded, 1);
    pfi_generator_get(&seeded, generator);
    order.shard = PINFOLD_SHARD_TORCH;
    order.generator = generator;
    order.generator_size = sizeof(generator);
    options.shuffle = 1;
    refused(3, PINFOLD_E_ARGUMENT,
            "torch's shards are shuffled by seed and epoch, not by a generator");
}

Test(order, refuses_numbers_below_0_and_no_place_for_the_answer)
{
    int64_t count = 7, dst[2];

    cr_assert_eq(pinfold_order_indices(&options, -1, 0, dst, 2, &count, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "n is -1");
    cr_assert_eq(pinfold_order_indices(&options, 2, -3, dst, 2, &count, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "epoch is -3");
    cr_assert_eq(pinfold_order_indices(&options, 2, 0, NULL, 2, &count, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "dst or count is NULL");
    cr_assert_eq(pinfold_order_indices(&options, 2, 0, dst, 2, NULL, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(count, 7);
    /* Without a place it is only counted. */
    cr_assert_eq(indices_of(2, 0, NULL, 0), 2);
}

/* A plan is refused as the order would be. */
Test(order, plans_no_more_samples_than_memory_holds)
{
    struct pfi_order_source source = {
        .order = &order, .n = 3, .batch_size = 8};
    struct pfi_order_plan plan, twice;

    order.sampler = PINFOLD_SAMPLER_RANDOM;
    order.num_samples = 3000;
    cr_assert_eq(pfi_order_plan(&plan, &source, &err), PINFOLD_OK);
    order.num_samples = 6000;
    cr_assert_eq(pfi_order_plan(&twice, &source, &err), PINFOLD_OK);
    cr_assert_eq(twice.bytes - plan.bytes, 3000 * sizeof(int64_t));
    order.num_samples = INT64_MAX;
    pfi_error_clear(&err);
    cr_assert_eq(pfi_order_plan(&plan, &source, &err), PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "an order of 9223372036854775807 samples does "
                                  "not fit in memory");
}
