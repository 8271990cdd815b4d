/* SPDX-License-Identifier: Apache-2.0
 * Whole samples against Pillow's (scripts/make-transform-golden). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <zlib.h>

#include "transforms/kernels.h"

/* The script's noise: an LCG; only 0 and 255 where the seed is odd. */
static unsigned char *noise(int32_t width, int32_t height, uint32_t seed)
{
    const size_t n = (size_t)width * (size_t)height * 3;
    unsigned char *const out = malloc(n);
    uint32_t state = seed;

    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = (unsigned char)(state >> 24);
        if (seed % 2)
            out[i] = out[i] >= 128 ? 255 : 0;
    }
    return out;
}

/* Feeds the plan's window of `picture`, each row in memory of its own size, so
 * that a sanitizer sees a read beyond it. */
static void feed(struct pfi_stream *stream, const unsigned char *picture)
{
    const struct pfi_axis *const x = &stream->plan->x, *const y =
                                                           &stream->plan->y;
    const size_t bytes = 3 * (size_t)(x->window_end - x->window_first);

    for (int32_t i = y->window_first; i < y->window_end; i++) {
        const size_t at =
            (size_t)i * (size_t)x->source + (size_t)x->window_first;
        unsigned char *const row = malloc(bytes);

        memcpy(row, picture + 3 * at, bytes);
        pfi_stream_row(stream, row);
        free(row);
    }
}

/* Whose kernels are used; bits 1 << level. */
static unsigned levels = ~0u;

/* The sample of `picture`; the caller frees it. */
static unsigned char *sample_of(const struct pfi_recipe *recipe, int32_t width,
                                int32_t height, const unsigned char *picture)
{
    unsigned char *const sample = malloc(recipe->sample_bytes);
    struct pfi_kernels kernels;
    struct pfi_stream stream;
    struct pfi_arena arena;
    struct pfi_norm norm;
    struct pfi_plan plan;

    memset(sample, 0xA5, recipe->sample_bytes);
    pfi_norm_make(&norm, recipe);
    pfi_kernels_init(&kernels, levels);
    pfi_kernels_settle(&kernels, &norm);
    cr_assert_eq(pfi_plan_make(&plan, recipe,
                               &(struct pfi_region){.width = width,
                                                    .height = height},
                               NULL), PINFOLD_OK);
    cr_assert(pfi_arena_init(&arena, plan.scratch_bytes));
    cr_assert_eq(
        pfi_stream_init(&stream, &arena, recipe, &norm, &kernels, &plan, sample,
                        NULL),
        PINFOLD_OK);
    cr_assert_null(arena.extra, "more than the plan's scratch_bytes");
    feed(&stream, picture);
    pfi_arena_end(&arena);
    return sample;
}

static struct pfi_recipe resolved(const pinfold_recipe *recipe)
{
    struct pfi_recipe out;
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_recipe_resolve(&out, recipe, &err), PINFOLD_OK, "%s",
                 err.message);
    return out;
}

/* One line of the table: 11 numbers and the checksum of the codes. */
static void check_line(const char *line)
{
    pinfold_recipe r = pinfold_recipe_default();
    int width, height, filter, pillow;
    unsigned seed, crc;

    cr_assert_eq(sscanf(line, "%d %d %u %d %d %d %d %d %d %d %d %x", &width,
                        &height, &seed, &r.resize_short, &r.max_size,
                        &r.resize_height, &r.resize_width, &r.crop_height,
                        &r.crop_width, &filter, &pillow, &crc),
                 12, "%s", line);
    r.filter = (pinfold_filter)filter;
    r.pillow = (pinfold_pillow)pillow;
    r.dtype = PINFOLD_U8;
    r.layout = PINFOLD_NHWC;
    const struct pfi_recipe recipe = resolved(&r);
    unsigned char *const picture = noise(width, height, seed);
    unsigned char *const sample = sample_of(&recipe, width, height, picture);

    cr_assert_eq(crc32(0, sample, (uInt)recipe.sample_bytes), crc, "%s", line);
    free(sample);
    free(picture);
}

static void check_table(void)
{
    FILE *const table = fopen(PFI_GOLDEN_DIR "/transform.tsv", "r");
    char line[256];
    int lines = 0;

    cr_assert_not_null(table);
    while (fgets(line, sizeof(line), table)) {
        if (line[0] == '#')
            continue;
        check_line(line);
        lines++;
    }
    fclose(table);
    cr_assert_eq(lines, 150);
}

Test(stream, samples_are_pillows_at_every_level)
{
    for (int level = PFI_CPU_C; level <= PFI_CPU_NEON; level++) {
        levels = (2u << level) - 1;
        if (pfi_cpu_levels() & 1u << level)
            check_table();
    }
}

Test(stream, the_order_of_the_passes_shows)
{
    pinfold_recipe r = pinfold_recipe_default();
    unsigned char *const picture = noise(300, 700, 4);

    const struct pfi_recipe new_one = resolved(&r);
    unsigned char *const rows_first = sample_of(&new_one, 300, 700, picture);

    r.pillow = PINFOLD_PILLOW_12;
    const struct pfi_recipe old_one = resolved(&r);
    unsigned char *const columns_first = sample_of(&old_one, 300, 700, picture);

    cr_assert(memcmp(rows_first, columns_first, new_one.sample_bytes) != 0);
    free(rows_first);
    free(columns_first);
    free(picture);
}

/* One row in may be many rows out. */
Test(stream, one_pixel_fills_the_sample)
{
    static const unsigned char pixel[3] = {3, 200, 255};

    for (int filter = 0; filter <= PINFOLD_LANCZOS; filter++) {
        pinfold_recipe r = pinfold_recipe_default();

        r.filter = (pinfold_filter)filter;
        r.dtype = PINFOLD_U8;
        r.layout = PINFOLD_NHWC;
        const struct pfi_recipe recipe = resolved(&r);
        unsigned char *const sample = sample_of(&recipe, 1, 1, pixel);

        for (size_t i = 0; i < recipe.sample_bytes; i++)
            cr_assert_eq(sample[i], pixel[i % 3]);
        free(sample);
    }
}

Test(stream, padding_is_normalised_black)
{
    static const unsigned char white[3] = {255, 255, 255};
    pinfold_recipe r = pinfold_recipe_default();

    r.resize_short = PINFOLD_OFF;
    r.crop_height = 2; /* the pixel is at the left top */
    const struct pfi_recipe recipe = resolved(&r);
    struct pfi_norm norm;
    float sample[12];
    unsigned char *const made = sample_of(&recipe, 1, 1, white);

    pfi_norm_make(&norm, &recipe);
    cr_assert_eq(recipe.sample_bytes, sizeof(sample));
    memcpy(sample, made, sizeof(sample));
    for (int i = 0; i < 12; i++)
        cr_assert_eq(sample[i], norm.channel[i / 4].f32[i % 4 == 0 ? 255 : 0]);
    free(made);
}
