/* SPDX-License-Identifier: Apache-2.0
 * Bytes uploaded and normalised on the device: the embedded PTX, run on the
 * host, gives the CPU's bits for every code, channel and recipe. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/support/fakegpu.h"
#include "tests/support/fakeptx.h"
#include "tests/support/fakeset.h"

#define SAMPLES 11
#define BAD 6
#define BATCH 4

static struct fake_set set;
static struct fake_gpu *fake;
static const struct pfi_gpu *gpu;
static pinfold_recipe recipe;
static pinfold_loader_options options;
static struct pfi_reader reader;

/* 16 x 16 pixels: in each channel every code once, otherwise in each sample. */
static pinfold_status read_codes(void *cookie, int root_fd, const char *path,
                                 struct pfi_arena *arena, const void **data,
                                 size_t *size, pinfold_error *err)
{
    static const char header[] = "P6 16 16 255\n";
    const size_t n = sizeof(header) - 1;
    const int sample = atoi(strchr(path, '/') + 1);
    unsigned char *const ppm = pfi_arena_alloc(arena, n + 768);

    (void)cookie;
    (void)root_fd;
    (void)err;
    memcpy(ppm, header, n);
    for (int i = 0; i < 256; i++) {
        ppm[n + 3 * (size_t)i] = (unsigned char)(i + sample);
        ppm[n + 3 * (size_t)i + 1] = (unsigned char)(i * 5 + sample);
        ppm[n + 3 * (size_t)i + 2] = (unsigned char)(255 - i);
    }
    *data = ppm;
    *size = sample == BAD ? n + 100 : n + 768;
    return PINFOLD_OK;
}

static void setup(void)
{
    fake_set_open(&set, SAMPLES);
    fake = fake_gpu_start(1);
    cr_assert_not_null(fake);
    gpu = fake_gpu_table(fake);
    cr_assert_eq(gpu->use_device(gpu->cookie, 0), 0);
    reader = (struct pfi_reader){NULL, read_codes};
    recipe = pinfold_recipe_default();
    recipe.resize_short = PINFOLD_OFF;
    recipe.crop_height = 16;
    options = pinfold_loader_options_default();
    options.recipe = &recipe;
    options.batch_size = BATCH;
    options.workers = 2;
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    options.device_normalize = 1;
}

static void teardown(void)
{
    const struct fake_live live = fake_gpu_live(fake);

    cr_assert_eq(live.pins + live.allocs + live.streams + live.events +
                     live.libraries,
                 0);
    cr_assert_null(fake_gpu_misuse(fake), "%s", fake_gpu_misuse(fake));
    fake_gpu_end(fake);
    fake_set_close(&set);
}

TestSuite(upload_bytes, .init = setup, .fini = teardown, .timeout = 60);

static pinfold_loader *open_loader(const struct pfi_gpu *with)
{
    pinfold_loader *loader;
    pinfold_error err;

    cr_assert_eq(
        pfi_loader_open(&loader, set.dataset, &options, with, &reader, &err),
        PINFOLD_OK, "%s", err.message);
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    return loader;
}

static pinfold_loader *open_host_loader(void)
{
    pinfold_loader *loader;

    options.upload = PINFOLD_UPLOAD_OFF;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    options.device_normalize = 0;
    loader = open_loader(gpu);
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    options.memory = PINFOLD_MEMORY_AUTO;
    options.device_normalize = 1;
    return loader;
}

/* Takes both loaders' epochs side by side; returns the samples. */
static int compare(pinfold_loader *device, pinfold_loader *host)
{
    const pinfold_batch *there, *here;
    int seen = 0;

    while (!pinfold_loader_next(device, -1, &there, NULL)) {
        cr_assert_eq(pinfold_loader_next(host, -1, &here, NULL), PINFOLD_OK);
        cr_assert_null(there->data);
        cr_assert_eq(gpu->event_wait(gpu->cookie, there->ready_event), 0);
        cr_assert_eq(there->size, here->size);
        cr_assert_arr_eq(there->shape, here->shape, sizeof(here->shape));
        cr_assert_arr_eq(there->statuses, here->statuses,
                         (size_t)here->count * sizeof(*here->statuses));
        cr_assert_eq(memcmp(there->device_data, here->data, here->size), 0);
        cr_assert_eq(here->bad_count, here->number == BAD / BATCH);
        seen += here->count;
        pinfold_batch_release(there);
        pinfold_batch_release(here);
    }
    return seen;
}

static void check_recipe(void)
{
    pinfold_loader *const device = open_loader(gpu);
    pinfold_loader *const host = open_host_loader();

    cr_assert_eq(compare(device, host), SAMPLES);
    pinfold_loader_close(device);
    pinfold_loader_close(host);
}

static void set_channels(float out[3], float a, float b, float c)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
}

/* 20 recipes: 3 types x 2 layouts x 2 scales, 4 of odd statistics (results that
 * are subnormal, infinite in 16 bits, negative), 4 with gaps and padding. */
Test(upload_bytes, every_code_is_the_cpus_in_20_recipes)
{
    static const pinfold_dtype types[] = {PINFOLD_F32, PINFOLD_F16,
                                          PINFOLD_BF16};
    int n = 0;

    for (int i = 0; i < 12; i++, n++) {
        recipe.dtype = types[i % 3];
        recipe.layout = (pinfold_layout)(i / 3 % 2);
        recipe.scale = (pinfold_scale)(i / 6);
        check_recipe();
    }
    for (int i = 0; i < 4; i++, n++) {
        recipe.dtype = types[i % 3];
        recipe.layout = (pinfold_layout)(i % 2);
        set_channels(recipe.mean, 0, -7, 0.5f);
        set_channels(recipe.stddev, i % 2 ? 0x1p-20f : 0x1p125f, -0.3f,
                     i < 2 ? 0x1p120f : 1e-6f);
        check_recipe();
    }
    for (int i = 0; i < 4; i++, n++) {
        recipe.dtype = types[i % 3];
        recipe.layout = PINFOLD_NCHW;
        recipe.crop_height = 15 + 4 * (i % 2);
        recipe.crop_width = 17;
        recipe.plane_alignment = i < 2 ? 64 : 256;
        check_recipe();
    }
    cr_assert_eq(n, 20);
    cr_assert_eq(fake_gpu_kernels(fake), 20 * 3);
}

/* A quarter of f32's bytes, besides 3072 of tables and a byte a sample. */
Test(upload_bytes, memory_is_a_quarter)
{
    const size_t pixels = BATCH * 3 * 16 * 16, header = 3072 + 256;
    const size_t host_slot = header + pixels + 128;
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    pinfold_loader *loader;

    options.slots = 2;
    loader = open_loader(gpu);
    pinfold_loader_stats(loader, &stats);
    cr_assert_eq(stats.pinned_bytes, 2 * host_slot);
    cr_assert_eq(stats.device_bytes, 2 * (4 * pixels + 128) + host_slot);
    cr_assert_eq(fake_gpu_live(fake).allocs, 3);
    pinfold_loader_close(loader);
}

static void check_refused(const struct pfi_gpu *with, pinfold_status status,
                          const char *words)
{
    pinfold_loader *loader;
    pinfold_error err;

    cr_assert_eq(
        pfi_loader_open(&loader, set.dataset, &options, with, &reader, &err),
        status, "%s", err.message);
    cr_assert_null(loader);
    cr_assert_not_null(strstr(err.message, words), "%s", err.message);
}

Test(upload_bytes, what_cannot_be_done_is_refused_in_words)
{
    struct pfi_gpu old = *gpu;

    old.launch = NULL;
    fake_gpu_script(fake, 0, 12060, 13000);
    check_refused(&old, PINFOLD_E_UNSUPPORTED,
                  "runtime, 12.6, loads no kernel");
    recipe.dtype = PINFOLD_U8;
    check_refused(gpu, PINFOLD_E_ARGUMENT, "u8 batches are not normalised");
    recipe.dtype = PINFOLD_F32;
    options.upload = PINFOLD_UPLOAD_OFF;
    check_refused(gpu, PINFOLD_E_ARGUMENT, "without an upload");
    options.device_normalize = 2;
    check_refused(gpu, PINFOLD_E_ARGUMENT, "device_normalize is 2");
}

/* A driver that refuses the kernel. */
Test(upload_bytes, a_kernel_that_cannot_be_loaded_names_the_call)
{
    fake_gpu_refuse(fake, "cudaLibraryLoadData", 218);
    check_refused(gpu, PINFOLD_E_CUDA,
                  "cudaLibraryLoadData: cudaErrorInvalidPtx (218)");
    fake_gpu_refuse(fake, "cudaLibraryGetKernel", 500);
    check_refused(gpu, PINFOLD_E_CUDA, "cudaLibraryGetKernel: ");
}

Test(upload_bytes, without_a_device_the_cpu_normalises)
{
    const pinfold_batch *there, *here;
    pinfold_loader *auto_loader, *host;
    int seen = 0;

    options.upload = PINFOLD_UPLOAD_AUTO;
    fake_gpu_script(fake, 100, 13000, 13000);
    auto_loader = open_loader(gpu);
    host = open_host_loader();
    for (; !pinfold_loader_next(auto_loader, -1, &there, NULL);
         seen += there->count) {
        cr_assert_eq(pinfold_loader_next(host, -1, &here, NULL), PINFOLD_OK);
        cr_assert_eq(there->size, here->size);
        cr_assert_eq(memcmp(there->data, here->data, here->size), 0);
        pinfold_batch_release(there);
        pinfold_batch_release(here);
    }
    cr_assert_eq(seen, SAMPLES);
    pinfold_loader_close(auto_loader);
    pinfold_loader_close(host);
}

/* ------------------------------------------------------------ the kernel ---
 */

static struct {
    uint64_t good, pixels;
    uint32_t count, n_pixels, plane, channel_step, pixel_step;
    size_t bytes; /* of an element */
    unsigned char staged[6000];
    _Alignas(8) unsigned char dst[40000], expected[40000];
} job;

static bool may_touch(void *cookie, uintptr_t address, size_t size, bool write)
{
    const unsigned char *const start = write ? job.dst : job.staged;
    const size_t room = write ? 3 * job.bytes * job.count * job.plane
                              : job.pixels + 3 * job.count * job.n_pixels;

    (void)cookie;
    return address >= (uintptr_t)start &&
           address + size <= (uintptr_t)start + room;
}

static const char *run_kernel(const struct fake_ptx *ptx,
                              const struct pfi_gpu_grid *grid)
{
    void *dst = job.dst, *staged = job.staged;
    void *arguments[] = {&dst,        &staged,           &job.good,
                         &job.pixels, &job.count,        &job.n_pixels,
                         &job.plane,  &job.channel_step, &job.pixel_step};
    uint64_t values[FAKE_PTX_PARAMETERS];

    cr_assert_eq(fake_ptx_take(ptx, arguments, values), 9);
    memset(job.dst, 0xCD, sizeof(job.dst));
    return fake_ptx_run(ptx, grid, values, may_touch, NULL);
}

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* What the kernel has to make, by its description. */
static void expect(void)
{
    memset(job.expected, 0xCD, sizeof(job.expected));
    for (uint32_t n = 0; n < job.count; n++)
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t i = 0; i < job.plane; i++) {
                const size_t at = (size_t)3 * n * job.plane +
                                  (size_t)c * job.channel_step +
                                  (size_t)i * job.pixel_step;
                const size_t code =
                    job.staged[job.pixels + 3 * (n * job.n_pixels + i) + c];
                unsigned char *const to = job.expected + at * job.bytes;

                memset(to, 0, job.bytes);
                if (i < job.n_pixels && job.staged[job.good + n])
                    memcpy(to, job.staged + 1024 * c + job.bytes * code,
                           job.bytes);
            }
}

static void draw_job(uint32_t *state)
{
    const bool nchw = draw(state, 2);

    job.count = 1 + draw(state, 6);
    job.n_pixels = 1 + draw(state, 100);
    job.plane = job.n_pixels + (nchw ? draw(state, 40) : 0);
    job.channel_step = nchw ? job.plane : 1;
    job.pixel_step = nchw ? 1 : 3;
    job.good = 3072 + draw(state, 30);
    job.pixels = job.good + job.count + draw(state, 30);
    for (size_t i = 0; i < sizeof(job.staged); i++)
        job.staged[i] = (unsigned char)draw(state, 256);
    for (uint32_t n = 0; n < job.count; n++)
        job.staged[job.good + n] = draw(state, 4) != 0;
}

/* Grids of too few threads go round, and of too many leave some idle. */
Test(upload_bytes, any_grid_makes_every_element_once)
{
    struct fake_ptx *const ptx[] = {fake_ptx_load(pfi_normalize_ptx_2),
                                    fake_ptx_load(pfi_normalize_ptx_4)};
    uint32_t state = 1;

    for (int i = 0; i < 400; i++) {
        const struct pfi_gpu_grid grid = {
            1 + draw(&state, 4), 1 + draw(&state, 7), 1 + draw(&state, 40)};

        cr_assert_not_null(ptx[i % 2]);
        job.bytes = i % 2 ? 4 : 2;
        draw_job(&state);
        expect();
        cr_assert_null(run_kernel(ptx[i % 2], &grid));
        cr_assert_eq(memcmp(job.dst, job.expected, sizeof(job.dst)), 0);
    }
    fake_ptx_free(ptx[0]);
    fake_ptx_free(ptx[1]);
}

Test(upload_bytes, the_interpreter_sees_what_is_wrong)
{
    static const struct pfi_gpu_grid grid = {1, 1, 32};
    struct fake_ptx *const ptx = fake_ptx_load(pfi_normalize_ptx_4);
    uint32_t state = 2;

    job.bytes = 4;
    draw_job(&state);
    job.pixel_step = 1000;
    cr_assert_str_eq(run_kernel(ptx, &grid),
                     "a kernel writes outside its memory");
    draw_job(&state);
    job.good = 1 << 20;
    cr_assert_str_eq(run_kernel(ptx, &grid),
                     "a kernel reads outside its memory");
    fake_ptx_free(ptx);
    cr_assert_null(fake_ptx_load("frobnicate.u32 %r1, %r2;\n"));
    cr_assert_null(fake_ptx_load("bra $nowhere;\nret;\n"));
}

Test(upload_bytes, a_full_device_names_the_bytes_that_it_lacks)
{
    const size_t slots = 3 * (BATCH * (size_t)3072 + 128);
    const size_t staging = 3072 + 256 + BATCH * (size_t)768 + 128;
    pinfold_loader *loader;
    pinfold_error err;
    char words[128];

    fake_gpu_room(fake, slots + staging - 1);
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &options, gpu, &reader,
                                 &err),
                 PINFOLD_E_CUDA);
    (void)snprintf(words, sizeof(words),
                   "cudaMalloc: cudaErrorMemoryAllocation (2): %zu bytes asked "
                   "for a batch's bytes, %zu of device 0's %zu are free",
                   staging, staging - 1, slots + staging - 1);
    cr_assert_str_eq(err.message, words);
    fake_gpu_room(fake, slots + staging);
    pinfold_loader_close(open_loader(gpu));
}
