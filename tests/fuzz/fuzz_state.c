/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes loaders' states: the bytes as they are, with a right checksum, and a
 * loader's own state in which the input replaces some fields. */
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/hash.h"
#include "src/load/state.h"
#include "tests/fuzz/fuzz.h"

#define SAMPLES 7
#define KINDS 6
#define FIELDS_AT 16

static pinfold_dataset *dataset;

struct setting {
    pinfold_recipe recipe;
    pinfold_order order;
    pinfold_loader_options options;
};

static void open_dataset(void)
{
    static const char line[] = "jpeg_plain_grey.jpg 0\n";
    pinfold_dataset_options options = {.struct_size = sizeof(options)};
    char text[SAMPLES * sizeof(line)];

    for (int i = 0; i < SAMPLES; i++)
        memcpy(text + (size_t)i * (sizeof(line) - 1), line, sizeof(line));
    options.list =
        fuzz_file(0, (const uint8_t *)text, SAMPLES * (sizeof(line) - 1));
    fuzz_require(!pinfold_dataset_open(&dataset, PFI_GOLDEN_DIR "/codec",
                                       &options, NULL),
                 "tests/golden/codec");
}

static void set(struct setting *s, uint32_t kind)
{
    static const int64_t indices[] = {3, 1, 4, 1, 5, 2, 6, 5};
    static const double weights[SAMPLES] = {1, 2, 0, 4, 1, 1, 3};
    static const int32_t sizes[] = {1, 2, 2, 1, 2};

    *s = (struct setting){
        .recipe = pinfold_recipe_default(),
        .order = {.struct_size = sizeof(s->order),
                  .sampler = (pinfold_sampler)kind,
                  .persistent_workers = kind == PINFOLD_SAMPLER_DEFAULT},
        .options = pinfold_loader_options_default()};
    s->recipe.resize_short = 4;
    s->recipe.crop_height = 2;
    s->options.recipe = &s->recipe;
    s->options.order = &s->order;
    s->options.batch_size = 2;
    s->options.workers = PINFOLD_OFF;
    s->options.shuffle = kind == PINFOLD_SAMPLER_DEFAULT;
    s->options.memory = PINFOLD_MEMORY_PAGEABLE;
    s->options.numa = PINFOLD_OFF;
    if (kind == PINFOLD_SAMPLER_SUBSET || kind >= PINFOLD_SAMPLER_LIST) {
        s->order.indices = indices;
        s->order.n_indices = 8;
    }
    if (kind == PINFOLD_SAMPLER_WEIGHTED) {
        s->order.weights = weights;
        s->order.n_weights = SAMPLES;
    }
    if (kind == PINFOLD_SAMPLER_BATCHES) {
        s->order.batch_sizes = sizes;
        s->order.n_batches = 5;
    }
}

struct state {
    unsigned char bytes[PINFOLD_STATE_MAX];
    size_t size;
};

/* The state of a loader that has just been started. */
static void own_state(const struct setting *s, struct state *out)
{
    pinfold_loader *loader;
    pinfold_error err;

    fuzz_require(!pinfold_loader_open(&loader, dataset, &s->options, &err) &&
                     !pinfold_loader_start(loader, 1, &err) &&
                     !pinfold_loader_state(loader, out->bytes,
                                           sizeof(out->bytes), &out->size,
                                           &err),
                 err.message);
    pinfold_loader_close(loader);
}

/* Goes on from a state, into the next epoch. */
static void go_on(struct setting *s, const void *state, size_t size)
{
    unsigned char again[PINFOLD_STATE_MAX];
    const pinfold_batch *batch;
    pinfold_loader *loader;
    pinfold_error err;
    size_t written;

    s->options.state = state;
    s->options.state_size = size;
    if (pinfold_loader_open(&loader, dataset, &s->options, &err))
        return;
    for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; i < 8 && !pinfold_loader_next(loader, -1, &batch, &err);
             i++) {
            for (int32_t k = 0; k < batch->count; k++)
                fuzz_require(batch->indices[k] >= 0 &&
                                 batch->indices[k] < SAMPLES,
                             "an index of the data set");
            pinfold_batch_release(batch);
        }
        fuzz_require(
            !pinfold_loader_state(loader, again, sizeof(again), &written, &err),
            "a state again");
        if (pinfold_loader_start(loader, pinfold_loader_epoch(loader) + 1,
                                 &err))
            break;
    }
    pinfold_loader_close(loader);
}

static void seal(unsigned char *state, size_t size)
{
    pfi_put64(state + size - 8, pfi_hash(state, size - 8, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    const uint32_t kind = fuzz_below(&input, KINDS);
    static struct state fresh[KINDS];
    struct setting s;
    struct state own;

    if (!dataset)
        open_dataset();
    set(&s, kind);
    go_on(&s, input.at, input.left);
    if (input.left > FIELDS_AT && input.left <= sizeof(own.bytes)) {
        memcpy(own.bytes, input.at, input.left);
        seal(own.bytes, input.left);
        go_on(&s, own.bytes, input.left);
    }
    set(&s, kind);
    if (!fresh[kind].size)
        own_state(&s, &fresh[kind]);
    own = fresh[kind];
    /* The world may be another one. */
    s.order.world = (int32_t)fuzz_below(&input, 4);
    s.order.rank = s.order.world
                       ? (int32_t)fuzz_below(&input, (uint64_t)s.order.world)
                       : 0;
    for (int i = 0; i < 8 && input.left; i++) {
        const uint32_t field =
            fuzz_below(&input, PFI_STATE_FIELDS - PFI_STATE_WORLD);

        pfi_put64(own.bytes + FIELDS_AT + 8 * (PFI_STATE_WORLD + field),
                  fuzz_u64(&input));
    }
    seal(own.bytes, own.size);
    go_on(&s, own.bytes, own.size);
    return 0;
}
