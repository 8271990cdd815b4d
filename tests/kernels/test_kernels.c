/* SPDX-License-Identifier: Apache-2.0
 * Every kernel of every level that the CPU has against the C one, on random
 * sizes, places and values, between pages that cannot be touched.
 * usage: test_kernels [--bench] [TRIALS [SEED]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/bench.h"
#include "tests/kernels/guard.h"
#include "tests/kernels/random.h"
#include "transforms/kernels.h"
#include "transforms/normalize.h"
#include "transforms/resample.h"

#define ROOM ((size_t)1 << 16)
#define ROWS 140

static struct guarded in, out, wanted, row_memory[ROWS];
static struct pfi_arena arena;
static long failures, runs;

static void check(const char *kernel, enum pfi_cpu_level level, long trial)
{
    runs++;
    if (guard_intact(&out) && !memcmp(out.at, wanted.at, out.size))
        return;
    if (failures++ < 20)
        (void)printf("FAILED: %s at %s, trial %ld: %s\n", kernel,
                     pfi_cpu_level_name(level), trial,
                     guard_intact(&out) ? "other bytes"
                                        : "written beyond the output");
}

static void take_outputs(size_t size)
{
    guard_take(&out, size, draw(2));
    guard_take(&wanted, size, true);
}

/* ------------------------------------------------------------- horizontal --- */

/* Rows that the format refuses are left to C by the caller, too. */
static bool horizontal(const struct pfi_kernels *k, const struct pfi_plan *plan,
                       long trial)
{
    struct pfi_pack pack;
    struct pfi_taps taps;
    bool packed;

    pfi_arena_reset(&arena);
    if (!pfi_taps_make(&taps, &arena, &plan->x, plan->filter))
        exit(1);
    packed = !pfi_pack_make(&pack, &arena, &plan->x, &taps, k->format);
    if (packed) {
        guard_take(&in, pack.in_bytes, draw(2));
        draw_bytes(in.at, in.size);
        take_outputs(pack.out_bytes);
        pfi_resample_row(wanted.at, in.at, &taps);
        k->horizontal(out.at, in.at, &pack);
        check("horizontal", k->level, trial);
    }
    return packed;
}

/* --------------------------------------------------------------- vertical --- */

static void vertical(const struct pfi_kernels *k, const int32_t *weights,
                     int32_t count, long trial)
{
    const unsigned char *rows[ROWS];
    const size_t bytes = 1 + draw(draw(2) ? 100 : 900);

    for (int32_t i = 0; i < count; i++) {
        guard_take(&row_memory[i], bytes, draw(2));
        draw_bytes(row_memory[i].at, bytes);
        rows[i] = row_memory[i].at;
    }
    take_outputs(bytes);
    pfi_vertical_c(wanted.at, rows, weights, count, bytes);
    k->vertical(out.at, rows, weights, count, bytes);
    check("vertical", k->level, trial);
}

static void vertical_filter(const struct pfi_kernels *k,
                            const struct pfi_plan *plan, long trial)
{
    struct pfi_taps taps;
    int32_t i;

    pfi_arena_reset(&arena);
    if (!pfi_taps_make(&taps, &arena, &plan->x, plan->filter))
        exit(1);
    i = (int32_t)draw((uint32_t)taps.n);
    if (taps.count[i] && taps.count[i] <= ROWS)
        vertical(k, taps.weights + (size_t)i * (size_t)taps.stride,
                 taps.count[i], trial);
}

/* Up to `most`; often one at which a half or a digit of it carries. */
static int32_t draw_weight(int32_t most)
{
    const uint32_t kind = draw(4);
    const int32_t size = kind == 0   ? (int32_t)(draw(256) << 15)
                         : kind == 1 ? (int32_t)(draw(1 << 16) << 7)
                                     : (int32_t)draw((uint32_t)most);

    return size < most ? size : most;
}

/* Any weights whose sums C's int32_t holds. */
static void vertical_any(const struct pfi_kernels *k, long trial)
{
    const int32_t count = 1 + (int32_t)draw(draw(4) ? 8 : ROWS);
    int32_t weights[ROWS], left = 8412000;

    for (int32_t i = 0; i < count; i++) {
        const int32_t size =
            i == count - 1 && draw(2) ? left : draw_weight(left);

        left -= size;
        weights[i] = draw(2) ? size : -size;
    }
    vertical(k, weights, count, trial);
}

/* Where three signed digits end, and where the high halves of a pair, 65 and
 * 64, times 255 exceed 16 bits. */
static void vertical_edges(const struct pfi_kernels *k)
{
    static const struct {
        int32_t weights[2], count;
    } edges[] = {{{0x7F7F7F, 0}, 1},         {{0x7F7F80, 0}, 1},
                 {{0x7FFFFF, 0}, 1},         {{-0x808080, 0}, 1},
                 {{0x408000, 0x3F8000}, 2},  {{-0x408000, -0x3F8000}, 2},
                 {{0x400000, 0x400000}, 2},  {{-0x400000, -0x400000}, 2},
                 {{0x7E8000, -0x008000}, 2}, {{0x7F8000, 0}, 2}};

    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
        for (long trial = 0; trial < 20; trial++)
            vertical(k, edges[i].weights, edges[i].count, trial);
}

/* ------------------------------------------------------------------ store --- */

static void store(struct pfi_kernels k, pinfold_dtype dtype,
                  pinfold_layout layout, long trial)
{
    const struct pfi_recipe recipe = draw_norm(dtype, layout);
    const int32_t n = (int32_t)draw(draw(2) ? 40 : 700);
    const size_t plane = (size_t)n + draw(9);
    const size_t size = pfi_dtype_size(dtype);
    const size_t elements = layout == PINFOLD_NCHW && n
                                ? 2 * plane + (size_t)n
                                : 3 * (size_t)n;
    struct pfi_norm norm;

    pfi_norm_make(&norm, &recipe);
    pfi_kernels_settle(&k, &norm);
    guard_take(&in, 3 * (size_t)n, draw(2));
    draw_bytes(in.at, in.size);
    take_outputs(elements * size);
    /* What lies between the planes must stay as it is. */
    memset(out.at, 0x5A, out.size);
    memset(wanted.at, 0x5A, wanted.size);
    pfi_store_c(dtype, layout)(wanted.at, plane, in.at, n, &norm);
    k.store[dtype][layout](out.at, plane, in.at, n, &norm);
    check("store", k.level, trial);
}

static void expect(bool good, enum pfi_cpu_level level, const char *what)
{
    if (good)
        return;
    failures++;
    (void)printf("FAILED: %s: %s\n", pfi_cpu_level_name(level), what);
}

/* A store that computes is kept for the usual recipe, and for one whose table
 * it does not give, in whichever code, it is not. */
static void check_settling(const struct pfi_kernels *kernels)
{
    pfi_store_function *const before =
        kernels->store[PINFOLD_F32][PINFOLD_NCHW];
    pfi_store_function *const c = pfi_store_c(PINFOLD_F32, PINFOLD_NCHW);
    struct pfi_recipe recipe;
    struct pfi_norm norm;

    if (pfi_recipe_resolve(&recipe, NULL, NULL))
        exit(1);
    pfi_norm_make(&norm, &recipe);
    for (int code = -1; code < 256; code++) {
        struct pfi_kernels k = *kernels;
        float *const value = &norm.channel[(code + 1) % 3].f32[code < 0 ? 0 : code];
        const float right = *value;

        *value = code < 0 ? right : right + 1;
        pfi_kernels_settle(&k, &norm);
        *value = right;
        expect(k.store[PINFOLD_F32][PINFOLD_NCHW] == (code < 0 ? before : c),
               k.level, code < 0 ? "computes not what ImageNet's table holds"
                                 : "was kept for another table");
    }
}

/* ------------------------------------------------------------------- flip --- */

static void flip(const struct pfi_kernels *k, long trial)
{
    const size_t n = draw(draw(2) ? 30 : 700);

    guard_take(&in, 3 * n, draw(2));
    draw_bytes(in.at, in.size);
    take_outputs(3 * n);
    pfi_flip_c(wanted.at, in.at, n);
    k->flip(out.at, in.at, n);
    check("flip", k->level, trial);
}

static void check_level(enum pfi_cpu_level level, long trials)
{
    struct pfi_kernels k;
    long packed = 0;

    pfi_kernels_init(&k, (2u << level) - 1);
    if (k.level != level) {
        failures++;
        (void)printf("FAILED: %s gives no kernels\n", pfi_cpu_level_name(level));
        return;
    }
    check_settling(&k);
    vertical_edges(&k);
    for (long trial = 0; trial < trials; trial++) {
        const struct pfi_plan plan = draw_plan();

        packed += horizontal(&k, &plan, trial);
        vertical_filter(&k, &plan, trial);
        vertical_any(&k, trial);
        store(k, (pinfold_dtype)(trial % 4), (pinfold_layout)(trial / 4 % 2),
              trial);
        flip(&k, trial);
    }
    (void)printf("%s: %ld trials, %ld of them with rows that it packs\n",
                 pfi_cpu_level_name(level), trials, packed);
    if (packed * 2 < trials) {
        failures++;
        (void)printf("FAILED: hardly a row was packed\n");
    }
}

int main(int argc, char **argv)
{
    const bool bench = argc > 1 && !strcmp(argv[1], "--bench");
    char **const rest = argv + bench;
    const long trials = argc - bench > 1 ? atol(rest[1]) : 3000;

    draw_seed(argc - bench > 2 ? (uint32_t)atol(rest[2]) : 1);
    in = guard_make(ROOM);
    out = guard_make(ROOM);
    wanted = guard_make(ROOM);
    for (int i = 0; i < ROWS; i++)
        row_memory[i] = guard_make(1024);
    if (!pfi_arena_init(&arena, ROOM))
        return 1;
    for (int level = PFI_CPU_C + 1; level <= PFI_CPU_NEON; level++)
        if (pfi_cpu_levels() & 1u << level)
            check_level((enum pfi_cpu_level)level, trials);
    pfi_arena_end(&arena);
    if (bench)
        bench_kernels();
    (void)printf("%ld runs, %ld failed\n", runs, failures);
    return failures != 0;
}
