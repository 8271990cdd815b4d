/* SPDX-License-Identifier: Apache-2.0
 * Each public function in a life that ends as it should whatever fails. */
#include "tests/fault/scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/hash.h"
#include "tests/fault/gate.h"
#include "tests/fault/outputs.h"
#include "tests/support/fakegpu.h"
#include "tests/support/tree.h"

#define SIDE 8
#define SAMPLE (3 * SIDE * SIDE)

/* The linker sends the library's question for its device here. */
const struct pfi_gpu *__wrap_pfi_gpu_default(void);

static struct fake_gpu *fake;

const struct pfi_gpu *__wrap_pfi_gpu_default(void)
{
    return fake_gpu_table(fake);
}

/* -------------------------------------------------------------------- notes --- */

/* Whether the call failed, or came to an end. */
static bool stops(struct life *life, pinfold_status status,
                  const pinfold_error *err)
{
    if (status < 0 && !life->error.status)
        life->error = *err;
    if (status < 0 && (int)err->status != (int)status)
        life->wrong = "the error has another status than the result";
    return status != PINFOLD_OK;
}

static void add(uint64_t *digest, const void *data, size_t size)
{
    *digest = pfi_hash(data, size, *digest);
}

static pinfold_recipe small_recipe(void)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = SIDE + 1;
    recipe.crop_height = SIDE;
    recipe.dtype = PINFOLD_U8;
    return recipe;
}

/* ----------------------------------------------------------------- pictures --- */

enum { PLAIN, EXIF, RANDOM, CROP, FLOAT, LIBJPEG };

static pinfold_recipe recipe_of(int way)
{
    pinfold_recipe recipe = small_recipe();

    recipe.exif = way == EXIF;
    recipe.jpeg = way == LIBJPEG ? PINFOLD_JPEG_LIBJPEG : PINFOLD_JPEG_AUTO;
    if (way == FLOAT)
        recipe.dtype = PINFOLD_F32;
    if (way == CROP)
        recipe.resize_short = PINFOLD_OFF;
    if (way == RANDOM) {
        recipe.resize_short = 0;
        recipe.random_crop = 1;
        recipe.flip = 0.5f;
    }
    return recipe;
}

static void live_picture(const struct scenario *s, struct life *life)
{
    const pinfold_recipe recipe = recipe_of(s->number);
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    static unsigned char out[4 * SAMPLE];
    const size_t bytes = (s->number == FLOAT ? 4u : 1u) * (size_t)SAMPLE;
    static char *file, path[256];
    static size_t size;
    pinfold_error err;

    gate_hold(true);
    (void)snprintf(path, sizeof(path), "%s/%s",
                   strncmp(s->file, "pictures", 8) ? PFI_GOLDEN_DIR : ".",
                   s->file);
    file = outputs_read(path, &size);
    gate_hold(false);
    if (!stops(life,
               pinfold_plan_picture(&recipe, file, size, &plan, &err), &err))
        add(&life->digest, &plan.width, 2 * sizeof(plan.width));
    if (!stops(life,
               pinfold_preprocess(&recipe, file, size, out, bytes, &err), &err))
        add(&life->digest, out, bytes);
    free(file);
}

/* ----------------------------------------------------------------- data set --- */

static void add_dataset(struct life *life, const pinfold_dataset *dataset)
{
    for (int64_t i = 0; i < pinfold_dataset_class_count(dataset); i++) {
        const char *const name = pinfold_dataset_class_name(dataset, i);

        add(&life->digest, name, strlen(name));
    }
    for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++) {
        const char *const path = pinfold_dataset_path(dataset, i);
        const int64_t label = pinfold_dataset_label(dataset, i);

        add(&life->digest, path, strlen(path));
        add(&life->digest, &label, sizeof(label));
    }
}

enum {
    WALK,
    CLASSES,
    LIST,
    LIST_CLASSES,
    INDEX_NEW,
    INDEX_USED,
    INDEX_TRUSTED,
    LINKS,
    INSIDE
};

static void live_dataset(const struct scenario *s, struct life *life)
{
    const int n = s->number;
    const pinfold_dataset_options options = {
        .struct_size = sizeof(options),
        .list = n == LIST || n == LIST_CLASSES ? "list.txt" : NULL,
        .class_list = n == CLASSES || n == LIST_CLASSES ? "classes.txt" : NULL,
        .index = n == INDEX_NEW ? SCENARIO_OUT "/new.index"
                 : n == INDEX_USED || n == INDEX_TRUSTED ? "tree.index"
                                                         : NULL,
        .trust_index = n == INDEX_TRUSTED,
        .no_follow_outside = n == INSIDE,
    };
    pinfold_dataset *dataset;
    pinfold_error err;

    if (stops(life, pinfold_dataset_open(&dataset,
                                   n == LINKS ? "linked" : "tree", &options,
                                   &err),
              &err)) {
        if (dataset)
            life->wrong = "the handle of a failed open is not NULL";
        return;
    }
    add_dataset(life, dataset);
    if (pinfold_dataset_remark(dataset))
        (void)snprintf(life->remark, sizeof(life->remark), "%s",
                       pinfold_dataset_remark(dataset));
    pinfold_dataset_close(dataset);
}

static void live_save(const struct scenario *s, struct life *life)
{
    pinfold_dataset *dataset;
    pinfold_error err;

    (void)s;
    if (stops(life, pinfold_dataset_open(&dataset, "tree", NULL, &err), &err))
        return;
    (void)stops(life,
                pinfold_dataset_save(dataset, SCENARIO_OUT "/tree.index", &err),
                &err);
    pinfold_dataset_close(dataset);
}

/* ------------------------------------------------------------------- loader --- */

enum {
    KEEP = 1,
    FAIL = 2,
    INTO = 4,
    TRACE = 8,
    ORDER = 16,
    SHARD = 32,
    UPLOAD = 64,
    NORMALIZE = 128,
    AHEAD = 256,
    OWN_MEMORY = 512,
    FLOATS = 1024,
    WORKERS_1 = 1 << 16,
    WORKERS_3 = 3 << 16
};

static void on_event(void *cookie, const pinfold_trace_event *event)
{
    (void)cookie;
    (void)event;
}

static void *own_alloc(void *cookie, size_t size, size_t alignment)
{
    void *memory;

    (void)cookie;
    return posix_memalign(&memory, alignment, size) ? NULL : memory;
}

static void own_free(void *cookie, void *memory, size_t size)
{
    (void)cookie;
    (void)size;
    free(memory);
}

static const pinfold_trace trace = {sizeof(trace), NULL, on_event};
static const pinfold_allocator allocator = {sizeof(allocator), NULL,
                                            own_alloc, own_free};
static const int64_t some[] = {3, 0, 2, 2, 1};
static const int32_t sizes[] = {2, 1, 2};
static const pinfold_order batches = {.struct_size = sizeof(batches),
                                      .sampler = PINFOLD_SAMPLER_BATCHES,
                                      .indices = some,
                                      .n_indices = 5,
                                      .batch_sizes = sizes,
                                      .n_batches = 3};
static const pinfold_order shard = {
    .struct_size = sizeof(shard), .rank = 1, .world = 2};

static pinfold_loader_options options_of(int way, const pinfold_recipe *recipe)
{
    pinfold_loader_options o = pinfold_loader_options_default();

    o.recipe = recipe;
    o.workers = way >> 16 ? way >> 16 : PINFOLD_OFF;
    o.io_threads = way & AHEAD ? 2 : 0;
    o.batch_size = 2;
    o.slots = 2;
    o.shuffle = !(way & ORDER);
    o.memory = way & (UPLOAD | NORMALIZE) ? PINFOLD_MEMORY_AUTO
                                          : PINFOLD_MEMORY_PAGEABLE;
    o.upload = way & (UPLOAD | NORMALIZE) ? PINFOLD_UPLOAD_REQUIRE
                                          : PINFOLD_UPLOAD_OFF;
    o.device_normalize = (way & NORMALIZE) != 0;
    o.bad_sample = way & FAIL ? PINFOLD_BAD_FAIL : PINFOLD_BAD_KEEP;
    o.trace = way & TRACE ? &trace : NULL;
    o.allocator = way & OWN_MEMORY ? &allocator : NULL;
    o.order = way & ORDER ? &batches : way & SHARD ? &shard : NULL;
    return o;
}

/* Where the batch lies on the device, its copy is waited for. */
static void add_tensor(const pinfold_batch *batch, uint64_t *digest)
{
    /* The fake's device memory is the host's. */
    if (!batch->data)
        fake_gpu_run_all(fake);
    add(digest, batch->data ? batch->data : batch->device_data, batch->size);
}

static void take_batch(struct life *life, const pinfold_batch *batch,
                       uint64_t *digest)
{
    pinfold_error err;

    add_tensor(batch, digest);
    add(digest, batch->labels, (size_t)batch->count * sizeof(*batch->labels));
    add(digest, batch->indices, (size_t)batch->count * sizeof(*batch->indices));
    for (int32_t i = 0; i < batch->count; i++) {
        if (!batch->statuses[i])
            continue;
        pinfold_batch_error(batch, i, &err);
        if (err.sample != batch->indices[i])
            life->wrong = "the error is of another sample";
        (void)stops(life, batch->statuses[i], &err);
    }
}

/* Up to `most` batches; returns the status that ended it. */
static pinfold_status take_batches(struct life *life, pinfold_loader *loader,
                                   int way, int most, uint64_t *digest)
{
    static unsigned char room[4 * 2 * SAMPLE];
    const pinfold_batch *batch;
    pinfold_status status;
    pinfold_error err;

    for (int i = 0; i < most; i++) {
        status = way & INTO
                     ? pinfold_loader_next_into(loader, -1, room, sizeof(room),
                                                &batch, &err)
                     : pinfold_loader_next(loader, -1, &batch, &err);
        if (stops(life, status, &err))
            return status;
        take_batch(life, batch, digest);
        pinfold_batch_release(batch);
    }
    return PINFOLD_OK;
}

static void run_epoch(struct life *life, pinfold_loader *loader, int way,
                      int64_t epoch, uint64_t *digest)
{
    pinfold_error err;

    if (!stops(life, pinfold_loader_start(loader, epoch, &err), &err) &&
        take_batches(life, loader, way, 100, digest) == PINFOLD_OK)
        life->wrong = "an epoch without an end";
}

static void begin_device(bool wanted)
{
    gate_hold(true);
    fake = fake_gpu_start(wanted ? 2 : 0);
    if (!fake)
        abort();
    gate_hold(false);
}

static void end_device(struct life *life)
{
    gate_hold(true);
    if (fake_gpu_misuse(fake) || fake_gpu_live(fake).pins ||
        fake_gpu_live(fake).allocs)
        life->wrong = "misuse of the device, or something is left there";
    fake_gpu_end(fake);
    fake = NULL;
    gate_hold(false);
}

/* One epoch in which calls may fail; the next has to be whole. */
static void run_loader(struct life *life, pinfold_loader *loader, int way)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    struct life after = {.error = {.status = PINFOLD_OK}};

    run_epoch(life, loader, way, 0, &life->digest);
    gate_close();
    run_epoch(&after, loader, way, 1, &life->healed);
    if (after.error.status || after.wrong)
        life->wrong = "the next epoch is not whole";
    pinfold_loader_stats(loader, &stats);
    pinfold_loader_close(loader);
}

static void live_loader(const struct scenario *s, struct life *life)
{
    pinfold_recipe recipe = small_recipe();
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    pinfold_loader_options options;
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;

    if (s->number & (FLOATS | NORMALIZE))
        recipe.dtype = PINFOLD_F32;
    options = options_of(s->number, &recipe);
    begin_device(s->number & (UPLOAD | NORMALIZE));
    if (!stops(life, pinfold_dataset_open(&dataset, "tree", NULL, &err), &err)) {
        (void)stops(life, pinfold_loader_plan(dataset, &options, &plan, &err),
                    &err);
        if (!stops(life, pinfold_loader_open(&loader, dataset, &options, &err),
                   &err))
            run_loader(life, loader, s->number);
        else if (loader)
            life->wrong = "the handle of a failed open is not NULL";
    }
    pinfold_dataset_close(dataset);
    end_device(life);
}

/* A loader stands behind its first batch; another goes on. */
static void live_state(const struct scenario *s, struct life *life)
{
    const pinfold_recipe recipe = small_recipe();
    pinfold_loader_options options = options_of(s->number, &recipe);
    unsigned char state[PINFOLD_STATE_MAX];
    pinfold_dataset *dataset;
    pinfold_loader *loader = NULL;
    pinfold_error err;
    size_t size = 0;

    begin_device(false);
    if (!stops(life, pinfold_dataset_open(&dataset, "tree", NULL, &err), &err) &&
        !stops(life, pinfold_loader_open(&loader, dataset, &options, &err),
               &err) &&
        !stops(life, pinfold_loader_start(loader, 2, &err), &err) &&
        !take_batches(life, loader, 0, 1, &life->digest))
        (void)stops(life,
                    pinfold_loader_state(loader, state, sizeof(state), &size,
                                         &err),
                    &err);
    pinfold_loader_close(loader);
    options.state = state;
    options.state_size = size;
    if (size && !stops(life, pinfold_loader_open(&loader, dataset, &options, &err),
                       &err)) {
        (void)take_batches(life, loader, 0, 100, &life->digest);
        pinfold_loader_close(loader);
    }
    pinfold_dataset_close(dataset);
    end_device(life);
}

/* ------------------------------------------------------------------- access --- */

static void live_read(const struct scenario *s, struct life *life)
{
    const pinfold_recipe recipe = small_recipe();
    pinfold_read_options options = {.struct_size = sizeof(options)};
    static unsigned char out[5 * SAMPLE];
    pinfold_dataset *dataset;
    pinfold_pool *pool = NULL;
    int64_t labels[5];
    pinfold_error err;

    if (stops(life, pinfold_dataset_open(&dataset, "tree", NULL, &err), &err))
        return;
    if (!s->number ||
        !stops(life, pinfold_pool_open(&pool, s->number, &err), &err)) {
        options.pool = pool;
        options.labels = labels;
        if (!stops(life,
                   pinfold_read(dataset, &recipe, some, 5, out, sizeof(out),
                                &options, &err),
                   &err)) {
            add(&life->digest, out, sizeof(out));
            add(&life->digest, labels, sizeof(labels));
        }
        gate_close();
        if (pinfold_read(dataset, &recipe, some, 5, out, sizeof(out), &options,
                         &err))
            life->wrong = "the next read fails";
        add(&life->healed, out, sizeof(out));
        pinfold_pool_close(pool);
    }
    pinfold_dataset_close(dataset);
}

static void live_order(const struct scenario *s, struct life *life)
{
    static const double weights[] = {1, 2, 3, 4};
    const pinfold_order order = {.struct_size = sizeof(order),
                                 .sampler = s->number ? PINFOLD_SAMPLER_WEIGHTED
                                                      : PINFOLD_SAMPLER_DEFAULT,
                                 .weights = s->number ? weights : NULL,
                                 .n_weights = s->number ? 4 : 0,
                                 .num_samples = s->number ? 9 : 0};
    pinfold_loader_options options = pinfold_loader_options_default();
    int64_t indices[16], count;
    pinfold_error err;

    options.order = &order;
    options.shuffle = !s->number;
    if (!stops(life,
               pinfold_order_indices(&options, 4, 1, indices, 16, &count, &err),
               &err))
        add(&life->digest, indices, (size_t)count * sizeof(*indices));
}

/* Those that neither allocate nor ask the system. */
static void live_plain(const struct scenario *s, struct life *life)
{
    pinfold_info info = {.struct_size = sizeof(info)};
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_error err;
    size_t bytes = 0;

    (void)s;
    begin_device(false);
    pinfold_info_get(&info);
    add(&life->digest, info.simd, strlen(info.simd));
    if (!stops(life, pinfold_recipe_preset(&recipe, "resnet50", &err), &err) &&
        !stops(life, pinfold_recipe_size(&recipe, 3, &bytes, NULL, &err), &err))
        add(&life->digest, &bytes, sizeof(bytes));
    end_device(life);
}

/* ---------------------------------------------------------------- furniture --- */

/* 24 bits a pixel, 5 x 3. */
static void write_bmp(const char *path)
{
    static const unsigned char head[54] = {
        'B', 'M', 102, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0,
        5,   0,   0,   0, 3, 0, 0, 0, 1, 0, 24, 0, 0, 0, 0,  0, 48};
    FILE *const out = fopen(path, "wb");

    if (!out || fwrite(head, 1, sizeof(head), out) != sizeof(head))
        abort();
    for (int i = 0; i < 48; i++)
        (void)fputc(i * 5, out);
    (void)fclose(out);
}

void furnish_scenarios(void)
{
    static const char *const of_tree[][2] = {
        {"codec/jpeg_plain_420.jpg", "tree/a/1.jpg"},
        {"codec/png_plain_8_2_0.png", "tree/a/2.png"},
        {"codec/jpeg_plain_progressive.jpg", "tree/b/1.jpg"},
        {"codec/png_plain_8_3_1.png", "tree/b/c/2.png"}};
    char from[256];
    pinfold_dataset *dataset;

    for (size_t i = 0; i < sizeof(of_tree) / sizeof(of_tree[0]); i++) {
        (void)snprintf(from, sizeof(from), "%s/%s", PFI_GOLDEN_DIR,
                       of_tree[i][0]);
        outputs_copy(from, tree_path(".", of_tree[i][1]));
    }
    tree_settle("tree");
    (void)tree_path(".", "linked/a/x");
    if (symlink("../tree/b", "linked/b") || symlink("../../tree/a", "linked/a/l"))
        abort();
    tree_file(".", "list.txt", "a/1.jpg 0\nb/c/2.png 1\na/2.png 0\n");
    tree_file(".", "classes.txt", "b\na\n");
    tree_file(".", "pictures/1.ppm", "P6 3 2 255 abcdefghijklmnopqr");
    tree_file(".", "pictures/2.pgm", "P2 3 2 9 1 2 3 4 5 6\n");
    write_bmp("pictures/1.bmp");
    if (pinfold_dataset_open(&dataset, "tree", NULL, NULL) ||
        pinfold_dataset_save(dataset, "tree.index", NULL))
        abort();
    pinfold_dataset_close(dataset);
}

const struct scenario scenarios[] = {
    {"plain", live_plain, NULL, 0},
    {"dataset walk", live_dataset, NULL, WALK},
    {"dataset links", live_dataset, NULL, LINKS},
    {"dataset inside", live_dataset, NULL, INSIDE},
    {"dataset class list", live_dataset, NULL, CLASSES},
    {"dataset list", live_dataset, NULL, LIST},
    {"dataset list with classes", live_dataset, NULL, LIST_CLASSES},
    {"dataset index, new", live_dataset, NULL, INDEX_NEW},
    {"dataset index, used", live_dataset, NULL, INDEX_USED},
    {"dataset index, trusted", live_dataset, NULL, INDEX_TRUSTED},
    {"dataset save", live_save, NULL, 0},
    {"order shuffle", live_order, NULL, 0},
    {"order weights", live_order, NULL, 1},
    {"jpeg baseline", live_picture, "codec/jpeg_plain_420.jpg", PLAIN},
    {"jpeg floats", live_picture, "codec/jpeg_plain_444.jpg", FLOAT},
    {"jpeg libjpeg", live_picture, "codec/jpeg_plain_420.jpg", LIBJPEG},
    {"jpeg window", live_picture, "codec/jpeg_plain_420.jpg", CROP},
    {"jpeg random crop", live_picture, "codec/jpeg_plain_422.jpg", RANDOM},
    {"jpeg progressive", live_picture, "codec/jpeg_plain_progressive.jpg", PLAIN},
    {"jpeg cmyk", live_picture, "codec/jpeg_plain_cmyk.jpg", PLAIN},
    {"jpeg arithmetic", live_picture, "codec/jpeg_plain_arithmetic.jpg", PLAIN},
    {"jpeg exif", live_picture, "formats/exif6.jpg", EXIF},
    {"jpeg exif in two", live_picture, "formats/exif-two-segments.jpg", EXIF},
    {"png", live_picture, "codec/png_plain_8_2_0.png", PLAIN},
    {"png interlaced", live_picture, "codec/png_plain_16_6_1.png", PLAIN},
    {"png palette", live_picture, "codec/png_trns_some.png", PLAIN},
    {"png text", live_picture, "codec/png_text_zTXt_1048576.png", PLAIN},
    {"png exif", live_picture, "formats/exif-ztxt.png", EXIF},
    {"gif", live_picture, "formats/interlaced.gif", PLAIN},
    {"gif transparent", live_picture, "formats/transparent.gif", PLAIN},
    {"bmp", live_picture, "pictures/1.bmp", PLAIN},
    {"pnm", live_picture, "pictures/1.ppm", PLAIN},
    {"pnm text", live_picture, "pictures/2.pgm", PLAIN},
    {"webp", live_picture, "formats/RGB-33x20-lossy.webp", PLAIN},
    {"webp lossless", live_picture, "formats/RGBA-33x20-lossless.webp", PLAIN},
    {"png exif, packed", live_picture, "formats/exif-xmp-packed.png", EXIF},
    {"webp exif", live_picture, "formats/exif6.webp", EXIF},
    {"tiff raw", live_picture, "formats/strips-1.tif", PLAIN},
    {"tiff deflate", live_picture, "formats/strips-8.tif", PLAIN},
    {"tiff tiles", live_picture, "formats/tiles-8.tif", PLAIN},
    {"tiff lzw", live_picture, "formats/tiff_lzw.tif", PLAIN},
    {"tiff jpeg", live_picture, "formats/jpeg-YCbCr.tif", PLAIN},
    {"tiff fax", live_picture, "formats/group4.tif", PLAIN},
    {"tiff planes", live_picture, "formats/planar-rgba-8.tif", PLAIN},
    {"tiff turned", live_picture, "formats/orientation6-8.tif", PLAIN},
    {"read", live_read, NULL, 0},
    {"read by a pool", live_read, NULL, 2},
    {"loader, no worker", live_loader, NULL, KEEP},
    {"loader, no worker, fail", live_loader, NULL, FAIL | FLOATS},
    {"loader, 1 worker", live_loader, NULL, KEEP | WORKERS_1},
    {"loader, 1 worker, fail, into", live_loader, NULL, FAIL | INTO | WORKERS_1},
    {"loader, 3 workers, trace", live_loader, NULL, KEEP | TRACE | WORKERS_3},
    {"loader, read ahead", live_loader, NULL, KEEP | AHEAD | WORKERS_1},
    {"loader, own memory", live_loader, NULL, KEEP | OWN_MEMORY | WORKERS_1},
    {"loader, batches", live_loader, NULL, KEEP | ORDER | WORKERS_1},
    {"loader, shard", live_loader, NULL, KEEP | SHARD},
    {"loader, upload", live_loader, NULL, KEEP | UPLOAD | WORKERS_1},
    {"loader, normalize", live_loader, NULL, FAIL | NORMALIZE | WORKERS_1},
    {"state", live_state, NULL, FAIL},
    {"state, 1 worker", live_state, NULL, FAIL | WORKERS_1},
    {0},
};
