/* SPDX-License-Identifier: Apache-2.0
 * The fast JPEG decoder at every CPU level against C: blocks at the bounds that
 * are reported, and whole files. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cpu.h"
#include "src/codec/fastjpeg/fast.h"
#include "tests/support/draw.h"

/* ----------------------------------------------------------------- table --- */

Test(fastlevels, table)
{
    int n = 0;

    while (pfi_fast_kernels_at(n))
        n++;
    cr_assert_eq(pfi_fast_kernels_at(n - 1), &pfi_fast_kernels_c);
    cr_assert_eq(pfi_fast_kernels_for(0), pfi_fast_kernels_at(0));
    cr_assert_eq(pfi_fast_kernels_for(PFI_CPU_C), &pfi_fast_kernels_c);
    if (pfi_cpu_levels() & 1u << PFI_CPU_NEON) {
        cr_assert_eq(n, 2);
        cr_assert_str_eq(pfi_fast_kernels_for(PFI_CPU_NEON)->name, "neon");
    }
}

/* ------------------------------------------------------------ transforms --- */

/* All levels; asking the CPU each time takes longer than a block. */
static const struct pfi_fast_kernels *levels[8];

static void find_levels(void)
{
    for (int i = 0; i < 7; i++)
        if (!(levels[i] = pfi_fast_kernels_at(i)))
            break;
}

/* Whether a block leaves the bounds; other levels must say and give the same. */
static bool doubted(const int16_t *block, const struct pfi_fast_quant *quant)
{
    unsigned char right[64], got[64];
    unsigned char *const to_right = right, *const to_got = got;
    const bool doubt = pfi_fast_idct_c(&block, &to_right, 1, 8, quant) != 0;

    for (int i = 0; levels[i]; i++) {
        cr_assert_eq(levels[i]->idct(&block, &to_got, 1, 8, quant) != 0, doubt,
                     "%s", levels[i]->name);
        cr_assert(doubt || !memcmp(got, right, sizeof(got)), "%s",
                  levels[i]->name);
    }
    return doubt;
}

static void set_factors(struct pfi_fast_quant *quant, int factor)
{
    for (int i = 0; i < 64; i++) {
        quant->factor[i] = (int16_t)factor;
        quant->largest[i] =
            (int16_t)(PFI_FAST_DEQUANTISED / (factor ? factor : 1));
    }
}

static bool scaled_doubted(const int *shape, int scale,
                           const struct pfi_fast_quant *quant)
{
    int16_t block[64];

    for (int i = 0; i < 64; i++)
        block[i] = (int16_t)(shape[i] * scale / 256);
    return doubted(block, quant);
}

/* Shapes of a few coefficients, each at the size where it begins to leave the
 * bounds and at sizes around it. */
Test(fastlevels, around_the_bounds)
{
    struct pfi_fast_quant quant;
    long inside = 0, outside = 0;

    find_levels();
    set_factors(&quant, 1);
    draw_seed(5);
    for (int round = 0; round < 3000; round++) {
        const uint32_t places = draw(2) ? 64 : 1 + draw(16);
        int shape[64] = {0}, low = 0, high = 32767;

        for (uint32_t n = 1 + draw(6); n; n--)
            shape[draw(places)] = (int)draw(513) - 256;
        while (high - low > 1) {
            const int middle = (low + high) / 2;

            *(scaled_doubted(shape, middle, &quant) ? &high : &low) = middle;
        }
        for (int scale = low - 20; scale <= low + 20; scale++)
            ++*(scaled_doubted(shape, scale, &quant) ? &outside : &inside);
    }
    cr_assert(inside > 40000 && outside > 40000, "%ld, %ld", inside, outside);
}

/* Values at which 16 bits wrap or saturate, and those beside them. */
Test(fastlevels, extreme_values)
{
    static const int16_t values[] = {-32768, -32767, -16384, -8193, -8192,
                                     -8191,  -4097,  -1,     0,     1,
                                     4096,   8191,   8192,   16384, 32767};
    static const int factors[] = {0, 1, 2, 3, 255, 4095, 8191};
    const uint32_t n_values = sizeof(values) / sizeof(values[0]);
    struct pfi_fast_quant quant;
    int doubts = 0;

    find_levels();
    draw_seed(6);
    for (int round = 0; round < 20000; round++) {
        const uint32_t most = 1 + draw(64), often = 1 + draw(20);
        int16_t block[64] = {0};

        set_factors(&quant, factors[draw(7)]);
        for (uint32_t i = 0; i < most; i++)
            if (draw(often) == 0)
                block[i] = draw(3) ? values[7 + draw(3)]
                                   : values[draw(n_values)];
        doubts += doubted(block, &quant);
    }
    cr_assert(doubts > 4000 && doubts < 16000, "%d", doubts);
}

/* ----------------------------------------------------------------- files --- */

static const struct pfi_limits limits = {.pixels = 1 << 20,
                                         .scratch = 1 << 28,
                                         .ancillary = 1 << 20,
                                         .scans = 256,
                                         .side = 1 << 20};

struct file {
    unsigned char data[1 << 16];
    size_t size;
    struct pfi_fast_header header;
    struct pfi_arena arena;
};

static bool read_file(struct file *file, const char *path)
{
    FILE *const from = fopen(path, "rb");

    cr_assert_not_null(from, "%s", path);
    file->size = fread(file->data, 1, sizeof(file->data), from);
    cr_assert(file->size < sizeof(file->data), "%s", path);
    (void)fclose(from);
    return !pfi_fast_header_read(&file->header, file->data, file->size);
}

/* NULL where the picture is refused. */
static struct pfi_fast *open_at(struct file *file,
                                const struct pfi_fast_kernels *kernels)
{
    const struct pfi_window all = {.right = file->header.width,
                                   .bottom = file->header.height};
    struct pfi_fast *fast = NULL;

    return pfi_fast_open(&fast, &file->arena, file->data, file->size, &all,
                         &limits, kernels)
               ? NULL
               : fast;
}

static void compare_scans(struct pfi_fast *got, struct pfi_fast *right,
                          const char *level)
{
    const char *const why = pfi_fast_progress_decode(right);

    cr_assert(pfi_fast_progress_decode(got) == why, "%s", level);
    for (int c = 0; !why && c < right->header.n_components; c++) {
        const struct pfi_fast_plane *const p = &right->plane[c];
        const size_t blocks = (size_t)(p->right - p->left) *
                              (size_t)(p->bottom - p->top);

        cr_assert_arr_eq(got->progress->blocks[c], right->progress->blocks[c],
                         blocks * 64 * sizeof(int16_t), "%s", level);
        cr_assert_arr_eq(got->progress->masks[c], right->progress->masks[c],
                         blocks * sizeof(uint64_t), "%s", level);
    }
}

static void compare_coefficients(struct file *file,
                                 const struct pfi_fast_kernels *k)
{
    struct pfi_fast *const right = open_at(file, &pfi_fast_kernels_c);
    struct pfi_fast *const got = open_at(file, k);

    cr_assert(right && got);
    if (right->progress) {
        compare_scans(got, right, k->name);
        return;
    }
    for (int32_t row = 0; row < right->down; row++) {
        const bool well = pfi_fast_mcu_row(right);

        cr_assert_eq(pfi_fast_mcu_row(got), well, "%s, row %d", k->name, row);
        if (!well)
            return;
        cr_assert_arr_eq(got->blocks, right->blocks, right->blocks_bytes,
                         "%s, row %d", k->name, row);
    }
}

/* Returns whether the picture is decoded. */
static bool compare_pixels(struct file *file, const struct pfi_fast_kernels *k)
{
    struct pfi_fast *const right = open_at(file, &pfi_fast_kernels_c);
    struct pfi_fast *const got = open_at(file, k);
    const size_t size = 3 * (size_t)file->header.width;
    unsigned char *const rows = malloc(2 * size);
    const char *const why = pfi_fast_decode_window(right);

    cr_assert(rows && pfi_fast_decode_window(got) == why, "%s", k->name);
    for (int32_t y = 0; !why && y < file->header.height; y++) {
        pfi_fast_row(right, rows);
        pfi_fast_row(got, rows + size);
        cr_assert_arr_eq(rows + size, rows, size, "%s, row %d", k->name, y);
    }
    free(rows);
    return !why;
}

/* Sound files and damaged ones; C's pixels are compared with libjpeg's
 * elsewhere. */
Test(fastlevels, files)
{
    static struct file file;
    const struct pfi_fast_kernels *k;
    int decoded = 0, damaged = 0;
    glob_t paths;

    cr_assert(!glob(PFI_GOLDEN_DIR "/tree/*/*.jpg", 0, NULL, &paths));
    cr_assert(!glob(PFI_GOLDEN_DIR "/codec/*.jpg", GLOB_APPEND, NULL, &paths));
    cr_assert(pfi_arena_init(&file.arena, 1 << 20));
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        if (!read_file(&file, paths.gl_pathv[i]))
            continue;
        if (!open_at(&file, &pfi_fast_kernels_c))
            continue;
        for (int l = 0; (k = pfi_fast_kernels_at(l)); l++) {
            compare_coefficients(&file, k);
            ++*(compare_pixels(&file, k) ? &decoded : &damaged);
            pfi_arena_reset(&file.arena);
        }
    }
    cr_assert(decoded > 50 && damaged > 20, "%d, %d", decoded, damaged);
    pfi_arena_end(&file.arena);
    globfree(&paths);
}
