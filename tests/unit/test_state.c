/* SPDX-License-Identifier: Apache-2.0
 * A loader that goes on from a state gives what the one before would have. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/generator.h"
#include "src/base/bytes.h"
#include "src/base/hash.h"
#include "src/load/state.h"
#include "tests/support/fakeset.h"
#include "tests/support/pngmake.h"

#define N 65
#define EPOCHS 3
#define BATCHES 40 /* most in an epoch */

static struct fake_set set;
static pinfold_recipe recipe;
static pinfold_loader_options options;
static pinfold_order order;
static pinfold_error err;
static int64_t indices[N], thirds[N / 3 + 1], twice[2 * N];
static int32_t sizes[N];
static double weights[N];
static unsigned char generator_bytes[PINFOLD_GENERATOR_SIZE];

static void setup(void)
{
    struct pfi_generator generator;

    fake_set_open(&set, N);
    recipe = fake_recipe();
    options = pinfold_loader_options_default();
    options.recipe = &recipe;
    options.batch_size = 8;
    options.seed = 5;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    options.order = &order;
    order = (pinfold_order){.struct_size = sizeof(order)};
    for (int i = 0; i < N; i++) {
        indices[i] = i * 7 % N;
        thirds[i / 3] = i / 3 * 3;
        twice[i] = twice[2 * N - 1 - i] = i;
        sizes[i] = 1 + i % 8;
        weights[i] = 1 + i % 5;
    }
    pfi_generator_seed(&generator, 77);
    pfi_mt19937_skip(&generator.rng, 1000);
    pfi_generator_get(&generator, generator_bytes);
}

static void teardown(void)
{
    fake_set_close(&set);
}

TestSuite(state, .init = setup, .fini = teardown, .timeout = 120);

/* Samplers in parts of a world, and a generator that was given. */
static bool choose_combined(int which)
{
    switch (which) {
    case 15:
        order.sampler = PINFOLD_SAMPLER_RANDOM;
        order.replacement = 1;
        order.num_samples = 3 * N;
        break;
    case 16:
        order.sampler = PINFOLD_SAMPLER_WEIGHTED;
        order.weights = weights;
        order.n_weights = N;
        order.num_samples = 2 * N + 1;
        order.shard = PINFOLD_SHARD_CONTIGUOUS;
        break;
    case 17:
        order.sampler = PINFOLD_SAMPLER_SUBSET;
        order.indices = thirds;
        order.n_indices = N / 3 + 1;
        break;
    case 18:
        options.shuffle = 1;
        order.generator = generator_bytes;
        order.generator_size = sizeof(generator_bytes);
        return true;
    default: return false;
    }
    order.rank = 1;
    order.world = 2;
    return true;
}

/* Every sampler and shard, by number; false behind the last. */
static bool choose(int which)
{
    static const int32_t parts[][3] = {/* shard, rank, world */
                                       {PINFOLD_SHARD_TORCH, 1, 3},
                                       {PINFOLD_SHARD_CONTIGUOUS, 1, 3},
                                       {PINFOLD_SHARD_EXACT, 2, 4}};

    order = (pinfold_order){.struct_size = sizeof(order)};
    options.shuffle = options.drop_last = 0;
    switch (which) {
    case 0: break;
    case 1: options.shuffle = 1; break;
    case 2: options.shuffle = options.drop_last = 1; break;
    case 3: options.shuffle = order.persistent_workers = 1; break;
    case 4: order.replacement = 1; /* fall through */
    case 5:
        order.sampler = PINFOLD_SAMPLER_RANDOM;
        order.num_samples = N + 7;
        break;
    case 6:
        order.sampler = PINFOLD_SAMPLER_SUBSET;
        order.indices = thirds;
        order.n_indices = N / 3 + 1;
        break;
    case 7:
        order.sampler = PINFOLD_SAMPLER_WEIGHTED;
        order.weights = weights;
        order.n_weights = N;
        break;
    case 8:
        order.sampler = PINFOLD_SAMPLER_LIST;
        order.indices = indices;
        order.n_indices = N;
        break;
    case 9:
    case 10: /* 28 batches of 1 to 8 */
        order.sampler = PINFOLD_SAMPLER_BATCHES;
        order.indices = twice;
        order.batch_sizes = sizes;
        order.n_batches = 28;
        for (int i = 0; i < 28; i++)
            order.n_indices += sizes[i];
        order.rank = which - 9;
        order.world = 2 * order.rank;
        break;
    case 11:
    case 12:
    case 13:
    case 14:
        options.shuffle = 1;
        order.shard = (pinfold_shard)parts[which < 14 ? which - 11 : 0][0];
        order.rank = parts[which < 14 ? which - 11 : 0][1];
        order.world = parts[which < 14 ? which - 11 : 0][2];
        order.shard_drop_last = which == 14;
        break;
    default: return choose_combined(which);
    }
    return true;
}
static pinfold_loader *open_loader(int workers, const void *state, size_t size)
{
    pinfold_loader *loader;

    options.workers = workers;
    options.io_threads = workers == 2 ? 2 : 0;
    options.state = state;
    options.state_size = size;
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, NULL,
                                 &set.reader, &err),
                 PINFOLD_OK, "%s", err.message);
    return loader;
}

/* Pictures in which no pixel is like another, so that a crop or flip shows. */
static pinfold_status read_uneven(void *cookie, int root_fd, const char *path,
                                  struct pfi_arena *arena, const void **data,
                                  size_t *size, pinfold_error *error)
{
    const int i = atoi(strchr(path, '/') + 1);
    unsigned char rows[12][1 + 3 * 16];
    struct bytes png = {0};
    void *copy;

    (void)cookie;
    (void)root_fd;
    for (int y = 0; y < 12; y++) {
        rows[y][0] = 0; /* no filter */
        for (int k = 0; k < 3 * 16; k++)
            rows[y][1 + k] = (unsigned char)(3 * i + 5 * k + 17 * y);
    }
    put_signature(&png);
    put_header(&png, 16, 12, 8, 2, 0);
    put_packed(&png, "IDAT", NULL, 0, rows, sizeof(rows));
    put_chunk(&png, "IEND", NULL, 0);
    copy = pfi_arena_alloc(arena, png.size);
    if (copy)
        memcpy(copy, png.data, png.size);
    *data = copy;
    *size = png.size;
    free(png.data);
    return copy ? PINFOLD_OK
                : pfi_fail(error, PINFOLD_E_MEMORY, 0, "no memory");
}

/* What a batch holds, as one number. */
static uint64_t hash_batch(const pinfold_batch *batch)
{
    const int64_t numbers[] = {batch->epoch, batch->number, batch->count};
    const size_t n = (size_t)batch->count;
    uint64_t hash = pfi_hash(numbers, sizeof(numbers), 0);

    cr_assert(set.reader.read == read_uneven ||
              fake_batch_right(&set, batch, batch->data));
    hash = pfi_hash(batch->indices, n * sizeof(int64_t), hash);
    hash = pfi_hash(batch->labels, n * sizeof(int64_t), hash);
    return pfi_hash(batch->data, batch->size, hash);
}

/* The rest of the epochs; returns how many batches there were. */
static int run(pinfold_loader *loader, uint64_t *hashes)
{
    int n = 0;

    for (;;) {
        const pinfold_batch *batch;
        const pinfold_status status =
            pinfold_loader_next(loader, -1, &batch, &err);

        if (status == PINFOLD_END &&
            pinfold_loader_epoch(loader) == EPOCHS - 1)
            return n;
        if (status == PINFOLD_END) {
            cr_assert_eq(
                pinfold_loader_start(loader, pinfold_loader_epoch(loader) + 1,
                                     &err),
                PINFOLD_OK);
            continue;
        }
        cr_assert_eq(status, PINFOLD_OK, "%s", err.message);
        hashes[n++] = hash_batch(batch);
        pinfold_batch_release(batch);
    }
}

static int run_whole(uint64_t *hashes)
{
    pinfold_loader *const loader = open_loader(2, NULL, 0);
    int total;

    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    total = run(loader, hashes);
    pinfold_loader_close(loader);
    cr_assert_geq(total, EPOCHS);
    return total;
}

/* Takes a state at each batch of the run and goes on from it. */
static void resume_everywhere(const uint64_t *expected, int total)
{
    static const int workers[] = {PINFOLD_OFF, 1, 2, 5};
    pinfold_loader *const loader = open_loader(3, NULL, 0);
    unsigned char state[PINFOLD_STATE_MAX];
    uint64_t hashes[EPOCHS * BATCHES];
    const pinfold_batch *batch;
    pinfold_status status;
    size_t size;
    int done = 0;

    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        cr_assert_eq(pinfold_loader_start(loader, epoch, &err), PINFOLD_OK);
        do {
            cr_assert_eq(pinfold_loader_state(loader, state, sizeof(state),
                                              &size, &err),
                         PINFOLD_OK, "%s", err.message);
            pinfold_loader *const other =
                open_loader(workers[done % 4], state, size);

            cr_assert_eq(pinfold_loader_epoch(other), epoch);
            cr_assert_eq(run(other, hashes), total - done);
            cr_assert_arr_eq(hashes, expected + done,
                             (size_t)(total - done) * sizeof(*hashes));
            pinfold_loader_close(other);
            status = pinfold_loader_next(loader, -1, &batch, &err);
            if (!status) {
                pinfold_batch_release(batch);
                done++;
            }
        } while (!status);
        cr_assert_eq(status, PINFOLD_END);
    }
    cr_assert_eq(done, total);
    pinfold_loader_close(loader);
}

Test(state, every_sampler_goes_on_at_every_batch)
{
    for (int which = 0; choose(which); which++) {
        uint64_t expected[EPOCHS * BATCHES];

        resume_everywhere(expected, run_whole(expected));
    }
}

Test(state, random_crops_and_flips_go_on_too)
{
    uint64_t plain[EPOCHS * BATCHES], cropped[EPOCHS * BATCHES],
        flipped[EPOCHS * BATCHES];
    int total;

    set.reader.read = read_uneven;
    total = run_whole(plain);
    recipe.random_crop = 1;
    recipe.resize_short = 0;
    cr_assert_eq(run_whole(cropped), total);
    recipe.flip = 0.5;
    cr_assert_eq(run_whole(flipped), total);
    for (int i = 0; i < total; i++) {
        cr_assert_neq(cropped[i], plain[i]);
        /* An epoch's last batch is one sample, which may be left as it is. */
        cr_assert(flipped[i] != cropped[i] || i % 9 == 8);
    }
    resume_everywhere(flipped, total);
    options.shuffle = 1;
    resume_everywhere(flipped, run_whole(flipped));
}

/* Each rank of `world` takes `most` batches (all where that is -1); their
 * indices are counted.  Returns the size of rank 0's state. */
static size_t take_part(int32_t world, int most, const void *from,
                        size_t from_size, unsigned char *state, int seen[N])
{
    size_t size = 0;

    for (order.world = world, order.rank = 0; order.rank < world;
         order.rank++) {
        const pinfold_batch *batch;
        pinfold_loader *const loader = open_loader(1, from, from_size);

        if (!from)
            cr_assert_eq(pinfold_loader_start(loader, 1, &err), PINFOLD_OK);
        for (int i = 0; i != most; i++) {
            const pinfold_status status =
                pinfold_loader_next(loader, -1, &batch, &err);

            if (status == PINFOLD_END && most < 0)
                break;
            cr_assert_eq(status, PINFOLD_OK, "%s", err.message);
            for (int32_t k = 0; k < batch->count; k++)
                seen[batch->indices[k]]++;
            pinfold_batch_release(batch);
        }
        if (order.rank == 0 && state)
            cr_assert_eq(pinfold_loader_state(loader, state, PINFOLD_STATE_MAX,
                                              &size, &err),
                         PINFOLD_OK);
        pinfold_loader_close(loader);
    }
    return size;
}

Test(state, what_is_left_is_dealt_anew_to_another_world)
{
    options.shuffle = 1;
    options.batch_size = 3;
    for (int first = 0; first <= 5; first++) {
        for (int32_t second = 1; second <= 5; second++) {
            unsigned char state[PINFOLD_STATE_MAX], later[PINFOLD_STATE_MAX];
            int seen[N] = {0};
            size_t size = take_part(4, first, NULL, 0, state, seen);
            const int left = N - 4 * 3 * first;
            /* A step that all ranks of the second world can take. */
            const int step = left / (3 * second) ? 1 : 0;

            size = take_part(second, step, state, size, later, seen);
            (void)take_part(2, -1, later, size, NULL, seen);
            for (int i = 0; i < N; i++)
                cr_assert_eq(seen[i], 1, "%d, then world %d: sample %d", first,
                             second, i);
        }
    }
}

Test(state, whole_batches_are_dealt_anew)
{
    unsigned char state[PINFOLD_STATE_MAX];
    int seen[N] = {0};
    size_t size;

    (void)choose(8);
    order.sampler = PINFOLD_SAMPLER_BATCHES;
    for (order.n_batches = 0; order.n_indices > 0; order.n_batches++)
        order.n_indices -= sizes[order.n_batches];
    sizes[order.n_batches - 1] += (int32_t)order.n_indices;
    order.n_indices = N;
    order.batch_sizes = sizes;
    size = take_part(4, 2, NULL, 0, state, seen);
    (void)take_part(3, -1, state, size, NULL, seen);
    for (int i = 0; i < N; i++)
        cr_assert_eq(seen[i], 1, "sample %d", i);
}

/* torch.Generator().manual_seed(5) that went through two epochs of
 * DataLoader(65 samples, shuffle=True) stands behind 2 * (2 + 64 + 64) words
 * (compared with get_state() of torch 2.15.0). */
Test(state, a_generator_is_given_as_torchs_would_be)
{
    unsigned char got[PINFOLD_GENERATOR_SIZE], wanted[PINFOLD_GENERATOR_SIZE];
    uint64_t whole[EPOCHS * BATCHES];
    struct pfi_generator generator;

    options.shuffle = 1;
    pinfold_loader *loader = open_loader(2, NULL, 0);

    pfi_generator_seed(&generator, 5);
    pfi_generator_get(&generator, wanted);
    pinfold_loader_generator(loader, got);
    cr_assert_arr_eq(got, wanted, sizeof(got));
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    (void)run(loader, whole);
    cr_assert_eq(pinfold_loader_start(loader, 1, &err), PINFOLD_OK);
    pfi_mt19937_skip(&generator.rng, 260);
    pfi_generator_get(&generator, wanted);
    pinfold_loader_generator(loader, got);
    cr_assert_arr_eq(got, wanted, sizeof(got));
    pinfold_loader_close(loader);
}

static unsigned char kept[PINFOLD_STATE_MAX];
static size_t kept_size;

static void keep_state(void)
{
    pinfold_loader *const loader = open_loader(1, NULL, 0);

    cr_assert_eq(pinfold_loader_state(loader, kept, sizeof(kept), &kept_size,
                                      &err),
                 PINFOLD_E_STATE);
    cr_assert_eq(pinfold_loader_epoch(loader), -1);
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_state(loader, kept, 100, &kept_size, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_eq(pinfold_loader_state(loader, kept, sizeof(kept), &kept_size,
                                      &err),
                 PINFOLD_OK);
    pinfold_loader_close(loader);
}

static void refused(pinfold_status status, const char *words)
{
    pinfold_loader *loader;

    options.state = kept;
    options.state_size = kept_size;
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, NULL,
                                 &set.reader, &err),
                 status, "%s", err.message);
    cr_assert_str_eq(err.message, words);
    cr_assert_null(loader);
}

Test(state, refuses_another_recipe)
{
    keep_state();
    recipe.crop_height = 5;
    refused(PINFOLD_E_ARGUMENT,
            "the recipe changed: the state's crop_height is 4, not 5");
    recipe = fake_recipe();
    recipe.mean[1] = 0.25f;
    recipe.stddev[0] = recipe.stddev[1] = recipe.stddev[2] = 1;
    refused(PINFOLD_E_ARGUMENT,
            "the recipe changed: the state's mean[0] is 0.485000014, not 0");
    recipe = fake_recipe();
    recipe.max_pixels = 1000;
    refused(PINFOLD_E_ARGUMENT,
            "the recipe changed: the state's max_pixels is 178956970, not 1000");
    recipe = fake_recipe();
    recipe.max_file = 1000;
    refused(PINFOLD_E_ARGUMENT,
            "the recipe changed: the state's max_file is 2147483648, not 1000");
}

Test(state, takes_what_never_changes_a_sample)
{
    keep_state();
    recipe.full_decode = 1;
    recipe.cpu_level = 1;
    pinfold_loader_close(open_loader(4, kept, kept_size));
}

Test(state, refuses_another_data_set)
{
    struct fake_set mine = set;

    keep_state();
    fake_set_open(&set, N + 1);
    refused(PINFOLD_E_ARGUMENT,
            "the state is of another data set: of 65 samples, not 66");
    fake_set_close(&set);
    set = mine;
}

Test(state, refuses_renamed_files)
{
    char from[128], to[128];

    keep_state();
    (void)snprintf(from, sizeof(from), "%s/c0/0000.png", set.root);
    (void)snprintf(to, sizeof(to), "%s/c0/0000.jpg", set.root);
    cr_assert_eq(rename(from, to), 0);
    pinfold_dataset_close(set.dataset);
    cr_assert_eq(pinfold_dataset_open(&set.dataset, set.root, NULL, &err),
                 PINFOLD_OK);
    refused(PINFOLD_E_ARGUMENT, "the state is of another data set: its classes "
                                "or files have other names");
    cr_assert_eq(rename(to, from), 0);
}

Test(state, refuses_another_order)
{
    options.shuffle = 1;
    keep_state();
    options.seed = 6;
    refused(PINFOLD_E_ARGUMENT, "the state was taken with seed 5, not 6");
    options.seed = 5;
    options.batch_size = 4;
    refused(PINFOLD_E_ARGUMENT, "the state was taken with batch_size 8, not 4");
    options.batch_size = 8;
    options.shuffle = 0;
    refused(PINFOLD_E_ARGUMENT, "the state was taken with shuffle 1, not 0");
    choose(8);
    keep_state();
    indices[0] = 64;
    refused(PINFOLD_E_ARGUMENT,
            "the state was taken with other indices, batches or weights");
    choose(11);
    keep_state();
    order.world = 4;
    refused(PINFOLD_E_ARGUMENT, "the state was taken with world 3, not 4");
    order.world = 3;
    order.rank = 2;
    refused(PINFOLD_E_ARGUMENT, "the state was taken with rank 1, not 2");
}

Test(state, refuses_damaged_bytes)
{
    keep_state();
    kept_size--;
    refused(PINFOLD_E_CORRUPT, "the state has 2951 bytes, not 2952");
    kept_size++;
    kept[100] ^= 1;
    refused(PINFOLD_E_CORRUPT, "the state is damaged: its checksum differs");
    kept[8] = 2;
    refused(PINFOLD_E_UNSUPPORTED,
            "the state is of version 2, this library's is 1");
    kept[0] = 'p';
    refused(PINFOLD_E_FORMAT, "not a loader's state");
    kept_size = 3;
    refused(PINFOLD_E_FORMAT, "not a loader's state");
}

/* A field of the kept state, whose checksum is made right again. */
static void forge(int field, uint64_t value)
{
    pfi_put64(kept + 16 + 8 * field, value);
    pfi_put64(kept + kept_size - 8, pfi_hash(kept, kept_size - 8, 0));
}

Test(state, refuses_numbers_that_no_loader_wrote)
{
    keep_state();
    forge(PFI_STATE_GENERATOR + 1, 625);
    refused(PINFOLD_E_CORRUPT, "the state is damaged: its generator");
    forge(PFI_STATE_BATCH, (uint64_t)INT64_MAX / 2 + 1);
    refused(PINFOLD_E_CORRUPT, "the state is damaged: a number is too large");
}

Test(state, behind_the_last_batch_is_the_end)
{
    const pinfold_batch *batch;

    order.shard = PINFOLD_SHARD_TORCH;
    order.world = 1;
    keep_state();
    forge(PFI_STATE_BATCH, 1000);
    pinfold_loader *const loader = open_loader(1, kept, kept_size);

    cr_assert_eq(pinfold_loader_batch_count(loader), 0);
    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_END);
    pinfold_loader_close(loader);
}

Test(state, refuses_another_generator)
{
    struct pfi_generator another;

    order.sampler = PINFOLD_SAMPLER_RANDOM;
    order.generator = generator_bytes;
    order.generator_size = sizeof(generator_bytes);
    keep_state();
    pfi_generator_seed(&another, 78);
    pfi_generator_get(&another, generator_bytes);
    refused(PINFOLD_E_ARGUMENT, "the state was taken with another generator");
}
