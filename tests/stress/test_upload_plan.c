/* SPDX-License-Identifier: Apache-2.0
 * What pinfold_loader_plan() says is what the open takes, to the byte, and what
 * is above the limit takes nothing; scratch stays below its bound. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/mt19937.h"
#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"
#include "tests/support/jpegmake.h"
#include "tests/support/pngmake.h"

/* The linker sends every call of x to __wrap_x (--wrap). */
#define WRAPPED(x) extern __typeof__(x) __real_##x, __wrap_##x
WRAPPED(pfi_malloc); WRAPPED(pfi_calloc); WRAPPED(pfi_realloc);
WRAPPED(pfi_aligned_alloc); WRAPPED(pfi_free); WRAPPED(pthread_create);
WRAPPED(pfi_pages_alloc); WRAPPED(pfi_pages_free);

#define BLOCKS 65536

/* What is alive, with the bytes that were asked for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void *ptr;
    size_t size;
} blocks[BLOCKS];
static int n_blocks;
static size_t live, peak;
static long calls, threads;

static void *note(void *ptr, size_t size)
{
    pthread_mutex_lock(&lock);
    calls++;
    if (ptr) {
        if (n_blocks == BLOCKS)
            abort();
        blocks[n_blocks].ptr = ptr;
        blocks[n_blocks++].size = size;
        live += size;
        peak = live > peak ? live : peak;
    }
    pthread_mutex_unlock(&lock);
    return ptr;
}

static void forget(const void *ptr)
{
    int i;

    if (!ptr)
        return;
    pthread_mutex_lock(&lock);
    for (i = n_blocks - 1; i >= 0 && blocks[i].ptr != ptr; i--) {
    }
    if (i < 0)
        abort();
    live -= blocks[i].size;
    blocks[i] = blocks[--n_blocks];
    pthread_mutex_unlock(&lock);
}

void *__wrap_pfi_malloc(size_t size)
{
    return note(__real_pfi_malloc(size), size);
}

void *__wrap_pfi_calloc(size_t n, size_t size)
{
    return note(__real_pfi_calloc(n, size), n * size);
}

void *__wrap_pfi_realloc(void *ptr, size_t size)
{
    forget(ptr);
    return note(__real_pfi_realloc(ptr, size), size);
}

void *__wrap_pfi_aligned_alloc(size_t alignment, size_t size)
{
    return note(__real_pfi_aligned_alloc(alignment, size), size);
}

void __wrap_pfi_free(void *ptr)
{
    forget(ptr);
    __real_pfi_free(ptr);
}

void *__wrap_pfi_pages_alloc(size_t size)
{
    return note(__real_pfi_pages_alloc(size), size);
}

void __wrap_pfi_pages_free(void *ptr, size_t size)
{
    forget(ptr);
    __real_pfi_pages_free(ptr, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    pthread_mutex_lock(&lock);
    threads++;
    pthread_mutex_unlock(&lock);
    return __real_pthread_create(thread, attributes, run, argument);
}

static size_t callers_bytes;

static void *callers_alloc(void *cookie, size_t size, size_t alignment)
{
    void *ptr = NULL;

    (void)cookie;
    if (posix_memalign(&ptr, alignment, size))
        return NULL;
    callers_bytes += size;
    return ptr;
}

static void callers_free(void *cookie, void *ptr, size_t size)
{
    (void)cookie;
    callers_bytes -= size;
    free(ptr);
}

static const pinfold_allocator allocator = {sizeof(allocator), NULL,
                                            callers_alloc, callers_free};

struct world {
    struct fake_set set;
    struct fake_gpu *fake;
    const struct pfi_gpu *gpu;
    int failed, staged, ahead; /* sets with device_normalize, io_threads */
};

static void expect(struct world *w, int row, const char *what, uint64_t got,
                   uint64_t wanted)
{
    if (got == wanted)
        return;
    (void)fprintf(stderr, "option set %d: %s is %llu, planned %llu\n", row,
                  what, (unsigned long long)got, (unsigned long long)wanted);
    w->failed = 1;
}

/* From low to high. */
static int32_t draw(struct pfi_mt19937 *r, int32_t low, int32_t high)
{
    return low + (int32_t)(pfi_mt19937_next(r) % (uint32_t)(high - low + 1));
}

#define SAMPLES 37
#define MOST_INDICES 300

/* What an option set refers to. */
struct drawn {
    pinfold_recipe recipe;
    pinfold_order order;
    pinfold_loader_options options;
    int64_t indices[MOST_INDICES];
    int32_t sizes[MOST_INDICES];
    double weights[SAMPLES];
};

static void draw_recipe(struct pfi_mt19937 *r, pinfold_recipe *recipe)
{
    *recipe = fake_recipe();
    recipe->crop_height = draw(r, 1, 40);
    recipe->crop_width = draw(r, 1, 40);
    recipe->dtype = (pinfold_dtype)draw(r, 0, 3);
    recipe->layout = (pinfold_layout)draw(r, 0, 1);
    recipe->plane_alignment =
        recipe->layout == PINFOLD_NCHW ? 1 << draw(r, 0, 8) : 0;
    recipe->jpeg = (pinfold_jpeg)!draw(r, 0, 4);
    recipe->full_decode = !draw(r, 0, 4);
}

/* Batches of any sizes that add up to the indices. */
static void draw_batches(struct pfi_mt19937 *r, struct drawn *d)
{
    pinfold_order *const o = &d->order;
    int32_t left = (int32_t)o->n_indices;

    d->options.batch_size = draw(r, 1, 20);
    while (left) {
        const int32_t size = draw(r, 1, d->options.batch_size);

        d->sizes[o->n_batches] = size < left ? size : left;
        left -= d->sizes[o->n_batches++];
    }
    o->batch_sizes = d->sizes;
    d->options.drop_last = 0;
}

static void draw_order(struct pfi_mt19937 *r, struct drawn *d, int row)
{
    pinfold_order *const o = &d->order;

    *o = (pinfold_order){.struct_size = sizeof(*o),
                         .sampler = (pinfold_sampler)(row % 6)};
    o->world = draw(r, 0, 3);
    o->rank = o->world ? draw(r, 0, o->world - 1) : 0;
    o->shard = (pinfold_shard)draw(r, 0, o->sampler ? 1 : 2);
    d->options.shuffle = o->sampler ? 0 : draw(r, 0, 1);
    if (o->sampler == PINFOLD_SAMPLER_RANDOM)
        o->replacement = draw(r, 0, 1);
    if (o->sampler == PINFOLD_SAMPLER_RANDOM ||
        o->sampler == PINFOLD_SAMPLER_WEIGHTED)
        o->num_samples = draw(r, 0, 1) ? draw(r, 2, 200) : 0;
    if (o->sampler == PINFOLD_SAMPLER_WEIGHTED) {
        for (int i = 0; i < SAMPLES; i++)
            d->weights[i] = draw(r, 1, 9);
        o->weights = d->weights;
        o->n_weights = SAMPLES;
    }
    if (o->sampler < PINFOLD_SAMPLER_SUBSET ||
        o->sampler == PINFOLD_SAMPLER_WEIGHTED)
        return;
    o->n_indices = draw(r, 0, MOST_INDICES);
    for (int64_t i = 0; i < o->n_indices; i++)
        d->indices[i] = draw(r, 0, SAMPLES - 1);
    o->indices = d->indices;
    if (o->sampler == PINFOLD_SAMPLER_BATCHES)
        draw_batches(r, d);
}

static void draw_options(struct pfi_mt19937 *r, struct drawn *d, int row)
{
    pinfold_loader_options *const o = &d->options;

    draw_recipe(r, &d->recipe);
    *o = pinfold_loader_options_default();
    o->recipe = &d->recipe;
    o->batch_size = draw(r, 0, 3) ? draw(r, 1, 300) : 0;
    o->workers = draw(r, -1, 9);
    o->slots = draw(r, 0, 7);
    o->drop_last = draw(r, 0, 1);
    o->device = draw(r, 0, 1);
    o->upload = (pinfold_upload)draw(r, 0, 2);
    o->memory = (pinfold_memory)draw(r, 0, 2);
    o->io_threads = draw(r, 0, 2) ? 0 : draw(r, 1, 5);
    if (o->upload && d->recipe.dtype != PINFOLD_U8)
        o->device_normalize = draw(r, 0, 1);
    if (o->memory != PINFOLD_MEMORY_PINNED && !draw(r, 0, 3))
        o->allocator = &allocator;
    draw_order(r, d, row);
    o->order = row ? &d->order : NULL;
}

static void check_parts(struct world *w, int row,
                        const pinfold_memory_plan *p)
{
    const int pinned = !strcmp(p->memory, "pinned");

    expect(w, row, "the sum of the parts",
           p->host_slot_bytes + p->order_bytes + p->label_bytes +
               p->worker_bytes + p->ahead_bytes + p->loader_bytes,
           p->host_bytes + p->pinned_bytes);
    expect(w, row, "the pinned part", pinned ? p->host_slot_bytes : 0,
           p->pinned_bytes);
    expect(w, row, "the device's part",
           p->device_slot_bytes + p->device_staging_bytes, p->device_bytes);
}

/* The loader is idle: everything that it holds, against the plan. */
static void check_held(struct world *w, int row, const pinfold_loader *loader,
                       const pinfold_memory_plan *p, size_t before)
{
    const struct fake_live on = fake_gpu_live(w->fake);
    pinfold_stats stats = {.struct_size = sizeof(stats)};

    expect(w, row, "ordinary memory", live - before + callers_bytes,
           p->host_bytes);
    expect(w, row, "pinned memory", on.pinned_bytes, p->pinned_bytes);
    expect(w, row, "device memory", on.device_bytes, p->device_bytes);
    expect(w, row, "threads", (uint64_t)threads,
           (uint64_t)(p->workers + p->io_threads + p->device_threads));
    expect(w, row, "batches", (uint64_t)pinfold_loader_batch_count(loader),
           (uint64_t)p->batches);
    expect(w, row, "samples", (uint64_t)pinfold_loader_sample_count(loader),
           (uint64_t)p->samples);
    pinfold_loader_stats(loader, &stats);
    expect(w, row, "stats.host_bytes", stats.host_bytes, p->host_bytes);
    expect(w, row, "stats.pinned_bytes", stats.pinned_bytes, p->pinned_bytes);
    expect(w, row, "stats.device_bytes", stats.device_bytes, p->device_bytes);
    if (strcmp(stats.memory, p->memory) || strcmp(stats.upload, p->upload)) {
        (void)fprintf(stderr, "option set %d: %s, %s\n", row, stats.memory,
                      stats.upload);
        w->failed = 1;
    }
}

/* Takes what is left of the epoch. */
static void drain(struct world *w, int row, pinfold_loader *loader,
                  const pinfold_memory_plan *p)
{
    const pinfold_batch *batch;
    pinfold_error err;
    uint64_t batches = 0, samples = 0;

    for (; !pinfold_loader_next(loader, -1, &batch, &err); batches++) {
        samples += (uint64_t)batch->count;
        pinfold_batch_release(batch);
    }
    expect(w, row, "the end", (uint64_t)err.status, PINFOLD_END);
    expect(w, row, "batches of an epoch", batches, (uint64_t)p->batches);
    expect(w, row, "samples of an epoch", samples, (uint64_t)p->samples);
}

/* One byte less than the plan is refused, and nothing is taken. */
static void check_refused(struct world *w, int row, pinfold_loader_options o,
                          const pinfold_memory_plan *p)
{
    const uint64_t sum = (uint64_t)p->pinned_bytes + p->host_bytes;
    const struct fake_live on = fake_gpu_live(w->fake);
    const long before = calls;
    pinfold_loader *loader;
    pinfold_error err;
    char words[64];

    o.max_memory = sum - 1;
    if (pfi_loader_open(&loader, w->set.dataset, &o, w->gpu, &w->set.reader,
                        &err) != PINFOLD_E_LIMIT) {
        (void)fprintf(stderr, "option set %d is not refused\n", row);
        w->failed = 1;
    }
    (void)snprintf(words, sizeof(words), "takes %llu bytes",
                   (unsigned long long)sum);
    if (!strstr(err.message, words)) {
        (void)fprintf(stderr, "option set %d: %s\n", row, err.message);
        w->failed = 1;
    }
    (void)snprintf(words, sizeof(words), "limit %llu",
                   (unsigned long long)o.max_memory);
    if (!strstr(err.message, words)) {
        (void)fprintf(stderr, "option set %d: %s\n", row, err.message);
        w->failed = 1;
    }
    expect(w, row, "allocations of what is refused", (uint64_t)(calls - before),
           0);
    expect(w, row, "pins of what is refused", on.pinned_bytes, 0);
}

static pinfold_loader *open_planned(struct world *w, int row,
                                    const pinfold_loader_options *o)
{
    pinfold_loader *loader;
    pinfold_error err;

    threads = 0;
    if (!pfi_loader_open(&loader, w->set.dataset, o, w->gpu, &w->set.reader,
                         &err))
        return loader;
    (void)fprintf(stderr, "option set %d: %s\n", row, err.message);
    w->failed = 1;
    return NULL;
}

/* As it is opened, behind an epoch, and where it goes on from a state. */
static void check_life(struct world *w, int row, pinfold_loader_options o,
                       const pinfold_memory_plan *p)
{
    const size_t before = live;
    unsigned char state[PINFOLD_STATE_MAX];
    pinfold_loader *loader = open_planned(w, row, &o);
    pinfold_error err;

    if (!loader)
        return;
    check_held(w, row, loader, p, before);
    if (pinfold_loader_start(loader, 0, &err) ||
        pinfold_loader_state(loader, state, sizeof(state), &o.state_size,
                             &err)) {
        (void)fprintf(stderr, "option set %d: %s\n", row, err.message);
        w->failed = 1;
    }
    drain(w, row, loader, p);
    check_held(w, row, loader, p, before);
    pinfold_loader_close(loader);
    expect(w, row, "memory after the close", live + callers_bytes, before);
    o.state = state;
    loader = open_planned(w, row, &o);
    if (!loader)
        return;
    drain(w, row, loader, p);
    check_held(w, row, loader, p, before);
    pinfold_loader_close(loader);
}

static void check_set(struct world *w, int row, struct pfi_mt19937 *r)
{
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    const long calls_before = calls;
    struct drawn d;
    pinfold_error err;

    draw_options(r, &d, row);
    if (pfi_loader_plan(w->set.dataset, &d.options, w->gpu, &plan, &err)) {
        (void)fprintf(stderr, "option set %d: %s\n", row, err.message);
        w->failed = 1;
        return;
    }
    expect(w, row, "allocations of the plan", (uint64_t)(calls - calls_before),
           0);
    w->staged += plan.device_staging_bytes != 0;
    w->ahead += plan.ahead_bytes != 0;
    check_parts(w, row, &plan);
    check_refused(w, row, d.options, &plan);
    d.options.max_memory = (uint64_t)plan.pinned_bytes + plan.host_bytes;
    check_life(w, row, d.options, &plan);
}

/* The largest file of the tree, and the largest scratch of a plan. */
static void find_largest(const pinfold_dataset *dataset,
                         const pinfold_recipe *recipe, size_t *file,
                         size_t *scratch)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    static unsigned char bytes[8 << 20];
    char path[4096];

    for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s",
                       pinfold_dataset_root(dataset),
                       pinfold_dataset_path(dataset, i));
        FILE *const f = fopen(path, "rb");
        const size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;

        if (f)
            (void)fclose(f);
        *file = n > *file ? n : *file;
        if (!pinfold_plan_picture(recipe, bytes, n, &plan, NULL) &&
            plan.scratch_bytes > *scratch)
            *scratch = (size_t)plan.scratch_bytes;
    }
}

static void write_file(const char *root, const char *name, const void *data,
                       size_t size)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/a/%s", root, name);
    FILE *const f = fopen(path, "wb");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        abort();
}

/* Pictures that do not fit into a worker's block: a large file, one whose
 * passes are all kept, one with a ring of many long rows, one that is refused. */
static void make_large(const char *root)
{
    const size_t row = 1 + 3 * 1500;
    struct bytes adam7 = {0}, tall = {0};
    unsigned char *const rows = calloc(row, 1600);
    char head[32];
    const int n = snprintf(head, sizeof(head), "P6 1000 1200 255\n");
    size_t size = 0;
    unsigned char *const jpeg =
        make_jpeg(&(struct jpeg_options){.width = 1600,
                                         .height = 1600,
                                         .components = 3,
                                         .scans = JPEG_PROGRESSIVE,
                                         .level = -1},
                  &size);

    if (!rows || !jpeg)
        abort();
    write_file(root, "3.jpg", jpeg, size);
    put_signature(&adam7);
    put_header(&adam7, 1000, 1200, 8, 2, 1);
    put_packed(&adam7, "IDAT", NULL, 0, rows, 1200 * 3000 + 4000);
    put_chunk(&adam7, "IEND", NULL, 0);
    write_file(root, "1.png", adam7.data, adam7.size);
    put_signature(&tall);
    put_header(&tall, 1500, 1600, 8, 2, 0);
    put_packed(&tall, "IDAT", NULL, 0, rows, row * 1600);
    put_chunk(&tall, "IEND", NULL, 0);
    write_file(root, "2.png", tall.data, tall.size);
    memcpy(rows, head, (size_t)n);
    write_file(root, "0.ppm", rows, (size_t)n + 3600000);
    free(rows);
    free(jpeg);
    free(adam7.data);
    free(tall.data);
}

static void remove_large(const char *root)
{
    static const char *const names[] = {"a/0.ppm", "a/1.png", "a/2.png",
                                        "a/3.jpg", "a",       ""};
    char path[256];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", root, names[i]);
        (void)remove(path);
    }
}

/* Over a tree: live bytes beyond the plan's are within their bound, with an
 * order of pictures that lets the largest meet. */
static int check_scratch(const char *root, bool large)
{
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    pinfold_loader_options o = pinfold_loader_options_default();
    pinfold_recipe recipe = pinfold_recipe_default();
    size_t file = 0, scratch = 0, used, bound;
    const pinfold_batch *batch;
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;
    long bad = 0;

    recipe.max_scratch = 6 << 20;
    o.recipe = &recipe;
    o.workers = 3;
    o.batch_size = 4;
    o.memory = PINFOLD_MEMORY_PAGEABLE;
    if (pinfold_dataset_open(&dataset, root, NULL, &err) ||
        pinfold_loader_plan(dataset, &o, &plan, &err))
        return 1;
    find_largest(dataset, &recipe, &file, &scratch);
    const size_t before = live;

    peak = live;
    if (pinfold_loader_open(&loader, dataset, &o, &err))
        return 1;
    for (int64_t epoch = 0; epoch < 5; epoch++) {
        if (pinfold_loader_start(loader, epoch, &err))
            return 1;
        while (!pinfold_loader_next(loader, -1, &batch, &err)) {
            bad += batch->bad_count;
            pinfold_batch_release(batch);
        }
    }
    const size_t held = live - before;

    pinfold_loader_close(loader);
    pinfold_dataset_close(dataset);
    used = peak - before - plan.host_bytes;
    bound = 3 * ((size_t)plan.scratch_limit + file + scratch);
    (void)printf("%lld pictures, %ld refused in 5 epochs: %zu bytes of scratch "
                 "at most, bound %zu (largest file %zu, plan %zu)\n",
                 (long long)plan.samples, bad, used, bound, file, scratch);
    return held != plan.host_bytes || used > bound || (large && (used < file || bad != 5));
}

static int check_large(void)
{
    char root[] = "/tmp/pinfold-large-XXXXXX", path[64];
    int failed;

    if (!mkdtemp(root))
        return 1;
    (void)snprintf(path, sizeof(path), "%s/a", root);
    if (mkdir(path, 0700))
        return 1;
    make_large(root);
    failed = check_scratch(root, true);
    remove_large(root);
    return failed;
}

int main(void)
{
    struct pfi_mt19937 random;
    struct world w = {0};

    pfi_mt19937_seed(&random, 6);
    fake_set_open(&w.set, SAMPLES);
    w.fake = fake_gpu_start(2);
    if (!w.fake)
        return 2;
    w.gpu = fake_gpu_table(w.fake);
    for (int row = 0; row < 30; row++)
        check_set(&w, row, &random);
    if (fake_gpu_misuse(w.fake)) {
        (void)fprintf(stderr, "%s\n", fake_gpu_misuse(w.fake));
        w.failed = 1;
    }
    (void)printf("%d option sets stage bytes, %d read ahead\n", w.staged,
                 w.ahead);
    w.failed |= w.staged < 3 || w.ahead < 3;
    fake_gpu_end(w.fake);
    fake_set_close(&w.set);
    w.failed |= check_scratch(PFI_GOLDEN_DIR "/tree", false);
    w.failed |= check_large();
    (void)printf("30 option sets, %ld allocations, %d blocks left\n", calls,
                 n_blocks);
    return w.failed || n_blocks != 0;
}
