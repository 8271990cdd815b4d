/* SPDX-License-Identifier: Apache-2.0
 * Arenas give aligned memory and go back to their block. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/cpu.h"
#include "src/base/memory.h"
#include "src/load/read.h"
#include "src/load/sample.h"

static long left = -1; /* allocations before one fails; -1: none does */

void *__real_pfi_aligned_alloc(size_t alignment, size_t size);
void *__wrap_pfi_aligned_alloc(size_t alignment, size_t size);

void *__wrap_pfi_aligned_alloc(size_t alignment, size_t size)
{
    if (left == 0)
        return NULL;
    left -= left > 0;
    return __real_pfi_aligned_alloc(alignment, size);
}

Test(arena, memory_is_aligned_and_apart)
{
    struct pfi_arena arena;
    unsigned char *last = NULL;

    cr_assert(pfi_arena_init(&arena, 1024));
    for (size_t i = 0; i < 40; i++) {
        unsigned char *const p = pfi_arena_alloc(&arena, 100);

        cr_assert_not_null(p);
        cr_assert_eq((uintptr_t)p % 64, 0);
        memset(p, (int)i, 100);
        if (last)
            cr_assert_eq(last[99], i - 1);
        last = p;
    }
    cr_assert_not_null(arena.extra);
    pfi_arena_reset(&arena);
    cr_assert_null(arena.extra);
    cr_assert_eq(arena.used, 0);
    pfi_arena_end(&arena);
}

Test(arena, sizes_that_do_not_fit_give_nothing)
{
    struct pfi_arena arena;

    cr_assert(pfi_arena_init(&arena, 128));
    cr_assert_null(pfi_arena_alloc(&arena, SIZE_MAX));
    cr_assert_null(pfi_arena_array(&arena, SIZE_MAX / 2, 3));
    pfi_arena_end(&arena);
}

Test(arena, kept_memory_outlives_resets)
{
    struct pfi_arena arena;
    unsigned char *kept;
    bool fresh = false;

    cr_assert(pfi_arena_init(&arena, 128));
    kept = pfi_arena_keep(&arena, 1000, &fresh);
    cr_assert_not_null(kept);
    cr_assert(fresh);
    cr_assert_eq((uintptr_t)kept % 64, 0);
    memset(kept, 7, 1000);
    cr_assert_not_null(pfi_arena_alloc(&arena, 500));
    pfi_arena_reset(&arena);
    cr_assert_eq(pfi_arena_keep(&arena, 1000, &fresh), kept);
    cr_assert_not(fresh);
    cr_assert_eq(kept[999], 7);
    pfi_arena_end(&arena);
    cr_assert_null(arena.kept);
}

Test(sizes, products_and_sums_are_checked)
{
    size_t out = 1;

    cr_assert(pfi_mul(0, SIZE_MAX, &out));
    cr_assert_eq(out, 0);
    cr_assert_not(pfi_mul(SIZE_MAX / 2 + 1, 2, &out));
    cr_assert_not(pfi_add(SIZE_MAX, 1, &out));
    cr_assert(pfi_add(SIZE_MAX, 0, &out));
}

Test(cpu, there_is_at_least_one)
{
    cr_assert_geq(pfi_cpu_count(), 1);
}

static unsigned char file[1 << 16];

static size_t load(const char *name)
{
    char path[512];
    FILE *stream;
    size_t size;

    (void)snprintf(path, sizeof(path), "%s/%s", PFI_GOLDEN_DIR, name);
    stream = fopen(path, "rb");
    cr_assert_not_null(stream, "%s", path);
    size = fread(file, 1, sizeof(file), stream);
    (void)fclose(stream);
    cr_assert(size && size < sizeof(file), "%s", path);
    return size;
}

static void init_full(struct pfi_arena *arena)
{
    cr_assert(pfi_arena_init(arena, 64));
    cr_assert_not_null(pfi_arena_alloc(arena, 64));
}

/* Every allocation of one picture fails in turn, in an arena that has no room
 * left: it is told, or the sample is right all the same (libjpeg decodes
 * where the other decoder has no memory). */
static void check_picture(const char *name, const void *data, size_t size)
{
    static unsigned char wanted[4 * 5 * 3], got[sizeof(wanted)];
    pinfold_recipe recipe = pinfold_recipe_default();
    struct pfi_arena arena;
    struct pfi_task task;
    struct pfi_times times = {0};
    pinfold_error err;
    bool met = true;
    int refused = 0;

    recipe.resize_short = 7;
    recipe.crop_height = 4;
    recipe.crop_width = 5;
    recipe.dtype = PINFOLD_U8;
    recipe.exif = 1;
    cr_assert_eq(pfi_task_init(&task, &recipe, &err), PINFOLD_OK);
    init_full(&arena);
    pfi_error_clear(&err);
    cr_assert_eq(pfi_sample_make(&task, 0, &arena, data, size, wanted, &times,
                                 &err),
                 PINFOLD_OK, "%s: %s", name, err.message);
    for (long n = 0; met; n++) {
        pinfold_status status;

        pfi_arena_end(&arena);
        init_full(&arena);
        memset(got, 0, sizeof(got));
        pfi_error_clear(&err);
        left = n;
        status =
            pfi_sample_make(&task, 0, &arena, data, size, got, &times, &err);
        met = left == 0;
        left = -1;
        if (status) {
            cr_assert_eq(status, PINFOLD_E_MEMORY, "%s: %s", name, err.message);
            cr_assert_not_null(strstr(err.message, "memory"), "%s: %s", name,
                               err.message);
            refused++;
        } else {
            cr_assert_arr_eq(got, wanted, sizeof(got), "%s, %ld", name, n);
        }
    }
    cr_assert_gt(refused, 2, "%s", name);
    pfi_arena_end(&arena);
}

Test(arena, a_picture_without_memory_is_told)
{
    static const char ppm[] = "P6 3 2 255 abcdefghijklmnopqr";
    static const unsigned char rle[] = {
        'B', 'M', 62, 0, 0, 0, 0, 0, 0, 0, 58, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0,
        1, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 2, 0, 0, 1};
    static const char *const names[] = {
        "formats/plain.gif", "formats/exif6.jpg", "formats/exif-two-segments.jpg",
        "formats/exif6.png", "formats/exif-text.png", "formats/exif-ztxt.png",
        "codec/jpeg_plain_progressive.jpg", "tree/k11_adam7/tiny_3x9.png"};
    static const char *const optional[] = {
        "formats/strips-1.tif", "formats/strips-8.tif", "formats/tiles-8.tif",
        "formats/orientation6-1.tif", "formats/ycbcr-22.tif",
        "formats/RGB-13x7-lossy.webp"};
    pinfold_info info = {.struct_size = sizeof(info)};

    check_picture("ppm", ppm, sizeof(ppm) - 1);
    check_picture("rle", rle, sizeof(rle));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_picture(names[i], file, load(names[i]));
    pinfold_info_get(&info);
    if (!info.libtiff || !info.libwebp)
        cr_skip_test("built without libtiff or libwebp");
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
        check_picture(optional[i], file, load(optional[i]));
}

Test(arena, a_file_without_memory_is_told)
{
    const int root = open(PFI_GOLDEN_DIR "/formats", O_RDONLY | O_DIRECTORY);
    uint64_t limit = UINT64_MAX;
    const struct pfi_reader reader = pfi_reader_files(&limit);
    struct pfi_arena arena;
    const void *data;
    pinfold_error err;
    size_t size;

    cr_assert_geq(root, 0);
    cr_assert(pfi_arena_init(&arena, 64));
    left = 0;
    pfi_error_clear(&err);
    cr_assert_eq(reader.read(reader.cookie, root, "plain.gif", &arena, &data,
                             &size, &err),
                 PINFOLD_E_MEMORY);
    left = -1;
    cr_assert_eq(strncmp(err.message, "no memory for the file's ", 25), 0, "%s",
                 err.message);
    pfi_arena_end(&arena);
    close(root);
}
