/* SPDX-License-Identifier: Apache-2.0
 * How long each kernel of each level takes, at the sizes of a photograph. */
#include "tests/kernels/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transforms/kernels.h"
#include "transforms/normalize.h"
#include "transforms/resample.h"

#define REPEATS 2000
#define PIXELS 224
#define BYTES (3 * PIXELS)

static unsigned char in[4096 * 3 + 64], rows_memory[64][BYTES], out[BYTES];
static float elements[BYTES];

struct subject {
    struct pfi_kernels kernels;
    struct pfi_pack pack;
    struct pfi_taps taps;
    struct pfi_norm norm;
    pinfold_dtype dtype;
    pinfold_layout layout;
    bool packed;
};

typedef void work(struct subject *s);

static void run_horizontal(struct subject *s)
{
    if (s->packed)
        s->kernels.horizontal(out, in, &s->pack);
    else
        pfi_resample_row(out, in, &s->taps);
}

static void run_vertical(struct subject *s)
{
    const unsigned char *rows[64];
    const int32_t middle = s->taps.n / 2;

    for (int i = 0; i < 64; i++)
        rows[i] = rows_memory[i];
    s->kernels.vertical(out, rows, s->taps.weights + middle * s->taps.stride,
                        s->taps.count[middle], BYTES);
}

static void run_store(struct subject *s)
{
    s->kernels.store[s->dtype][s->layout](elements, PIXELS, in, PIXELS,
                                          &s->norm);
}

static void run_flip(struct subject *s)
{
    s->kernels.flip(out, in, PIXELS);
}

/* Nanoseconds of the fastest of many runs. */
static double measure(work *function, struct subject *s)
{
    double best = 1e9;

    for (int i = 0; i < REPEATS; i++) {
        struct timespec start, end;

        (void)clock_gettime(CLOCK_MONOTONIC, &start);
        for (int k = 0; k < 8; k++)
            function(s);
        (void)clock_gettime(CLOCK_MONOTONIC, &end);
        const double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 +
                          (double)(end.tv_nsec - start.tv_nsec);

        best = ns / 8 < best ? ns / 8 : best;
    }
    return best;
}

/* Tables for a row of `width` pixels that is made 256 and cropped. */
static void take_width(struct subject *s, struct pfi_arena *arena,
                       int32_t width, pinfold_filter filter)
{
    pinfold_recipe r = pinfold_recipe_default();
    struct pfi_recipe recipe;
    struct pfi_plan plan;

    r.filter = filter;
    r.resize_height = r.resize_width = 256;
    pfi_arena_reset(arena);
    if (pfi_recipe_resolve(&recipe, &r, NULL) ||
        pfi_plan_make(
            &plan, &recipe,
            &(struct pfi_region){.width = width, .height = width}, NULL) ||
        !pfi_taps_make(&s->taps, arena, &plan.x, filter))
        exit(1);
    s->packed = !pfi_pack_make(&s->pack, arena, &plan.x, &s->taps,
                               s->kernels.format);
}

static void bench_level(enum pfi_cpu_level level)
{
    static const struct {
        const char *name;
        int32_t width;
        pinfold_filter filter;
    } sizes[] = {{"bilinear 375", 375, PINFOLD_BILINEAR},
                 {"bilinear 500", 500, PINFOLD_BILINEAR},
                 {"bicubic 500", 500, PINFOLD_BICUBIC},
                 {"lanczos 1000", 1000, PINFOLD_LANCZOS},
                 {"bilinear 4000", 4000, PINFOLD_BILINEAR}};
    static const char *const dtypes[] = {"f32", "f16", "u8", "bf16"};
    struct subject s = {0};
    struct pfi_recipe recipe;
    struct pfi_arena arena;

    pfi_kernels_init(&s.kernels, (2u << level) - 1);
    if (!pfi_arena_init(&arena, 1 << 20))
        exit(1);
    (void)printf("%s, ns a row of %d pixels:\n", pfi_cpu_level_name(level),
                 PIXELS);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        take_width(&s, &arena, sizes[i].width, sizes[i].filter);
        (void)printf("  %-14s horizontal %8.1f  vertical %8.1f\n", sizes[i].name,
                     measure(run_horizontal, &s), measure(run_vertical, &s));
    }
    for (int i = 0; i < 8; i++) {
        s.dtype = (pinfold_dtype)(i / 2);
        s.layout = (pinfold_layout)(i % 2);
        if (pfi_recipe_resolve(&recipe, NULL, NULL))
            exit(1);
        recipe.dtype = s.dtype;
        pfi_norm_make(&s.norm, &recipe);
        (void)printf("  store %-4s %-11s %8.1f\n", dtypes[i / 2],
                     i % 2 ? "interleaved" : "planes", measure(run_store, &s));
    }
    (void)printf("  flip %8.1f\n", measure(run_flip, &s));
    pfi_arena_end(&arena);
}

void bench_kernels(void)
{
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (unsigned char)(i * 2654435761u >> 24);
    for (int i = 0; i < 64; i++)
        memcpy(rows_memory[i], in + i, BYTES);
    for (int level = PFI_CPU_C; level <= PFI_CPU_NEON; level++)
        if (pfi_cpu_levels() & 1u << level)
            bench_level((enum pfi_cpu_level)level);
}
