/* SPDX-License-Identifier: Apache-2.0
 * The fast JPEG decoder at every CPU level against libjpeg-turbo: the same
 * coefficients of random files, the same pixels of random windows, sound files
 * all taken and damaged ones never decoded otherwise.  Each file ends where a
 * page ends that must not be touched.
 * usage: test_fastjpeg [FILES [SEED]] */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jpeglib.h>

#include "src/codec/fastjpeg/fast.h"
#include "tests/support/jpegdraw.h"

#define SIDE 200
#define WINDOWS 3

static const struct pfi_limits limits = {.pixels = 1 << 20,
                                         .scratch = 1 << 28,
                                         .ancillary = 1 << 20,
                                         .scans = 256,
                                         .side = 1 << 20};
static const struct pfi_limits by_libjpeg = {.pixels = 1 << 20,
                                             .scratch = 1 << 28,
                                             .ancillary = 1 << 20,
                                             .scans = 256,
                                             .side = 1 << 20,
                                             .libjpeg = true};

static struct pfi_arena arena;
static long n_coefficients, n_progressive, n_windows, n_taken, n_damaged,
    n_failed;

static void fail(const struct drawn_jpeg *file, const char *level,
                 const char *what)
{
    (void)fprintf(stderr, "%s, %s: %s\n", file->what, level, what);
    n_failed++;
}

/* ------------------------------------------------------------ guard page --- */

static unsigned char *guarded;
static size_t guarded_size;

static bool make_guard(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    guarded_size = 64 * page;
    guarded = mmap(NULL, guarded_size + 2 * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guarded == MAP_FAILED)
        return false;
    if (mprotect(guarded, page, PROT_NONE) ||
        mprotect(guarded + page + guarded_size, page, PROT_NONE))
        return false;
    guarded += page;
    return true;
}

/* The file's bytes at one end of the guarded memory. */
static const unsigned char *guard(const struct drawn_jpeg *file, bool at_end)
{
    unsigned char *const at =
        at_end ? guarded + guarded_size - file->size : guarded;

    memcpy(at, file->data, file->size);
    return at;
}

/* ---------------------------------------------------------- coefficients --- */

/* The order of jpeglib's natural coefficients in a zigzag. */
static const unsigned char natural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static bool same_block(const int16_t *ours, const JCOEF *theirs)
{
    for (int i = 0; i < 64; i++)
        if (ours[i] != theirs[natural[i]])
            return false;
    return true;
}

/* Compares the blocks of one row of MCUs. */
static bool same_row(struct pfi_fast *f, j_decompress_ptr c,
                     jvirt_barray_ptr *arrays, int32_t row)
{
    for (int k = 0; k < c->num_components; k++) {
        const jpeg_component_info *const info = &c->comp_info[k];
        const struct pfi_fast_plane *const p = &f->plane[k];
        const int32_t high = (int32_t)info->height_in_blocks;

        for (int j = 0; j < p->v && row * p->v + j < high; j++) {
            const JBLOCKARRAY theirs = c->mem->access_virt_barray(
                (j_common_ptr)c, arrays[k], (JDIMENSION)(row * p->v + j), 1,
                FALSE);

            for (int32_t x = 0; x < (int32_t)info->width_in_blocks; x++) {
                const int32_t in_mcu = p->in_mcu + j * p->h + x % p->h;
                const int32_t at = x / p->h * f->scan.n_blocks + in_mcu;

                if (!same_block(f->blocks + 64 * at, theirs[0][x]))
                    return false;
                n_coefficients += 64;
            }
        }
    }
    return true;
}

/* The same of a progressive picture, whose blocks are all there. */
static bool same_planes(const struct pfi_fast *f, j_decompress_ptr c,
                        jvirt_barray_ptr *arrays)
{
    for (int k = 0; k < c->num_components; k++) {
        const jpeg_component_info *const info = &c->comp_info[k];
        const int16_t *ours = f->progress->blocks[k];

        for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
            const JBLOCKARRAY theirs = c->mem->access_virt_barray(
                (j_common_ptr)c, arrays[k], y, 1, FALSE);

            for (JDIMENSION x = 0; x < info->width_in_blocks; x++, ours += 64)
                if (!same_block(ours, theirs[0][x]))
                    return false;
            n_coefficients += 64 * (long)info->width_in_blocks;
        }
    }
    return true;
}

static const char *compare_progressive(struct pfi_fast *f, j_decompress_ptr c,
                                       jvirt_barray_ptr *arrays)
{
    const char *const why = pfi_fast_progress_decode(f);

    n_progressive++;
    if (why)
        return why;
    return same_planes(f, c, arrays) ? NULL : "other coefficients";
}

static const char *compare_coefficients(struct pfi_fast *f, j_decompress_ptr c,
                                        const struct drawn_jpeg *file)
{
    jvirt_barray_ptr *arrays;

    jpeg_mem_src(c, file->data, file->size);
    (void)jpeg_read_header(c, TRUE);
    arrays = jpeg_read_coefficients(c);
    if (c->err->num_warnings)
        return "libjpeg warns";
    if (f->progress)
        return compare_progressive(f, c, arrays);
    for (int32_t row = 0; row < f->down; row++) {
        if (!pfi_fast_mcu_row(f))
            return "not decoded";
        if (!same_row(f, c, arrays, row))
            return "other coefficients";
    }
    if (!pfi_fast_scan_finish(&f->scan, true))
        return "end not found";
    return NULL;
}

static void check_coefficients(const struct drawn_jpeg *file, int32_t width,
                               int32_t height,
                               const struct pfi_fast_kernels *k)
{
    const struct pfi_window all = {0, 0, width, height};
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    struct pfi_fast *f;
    const char *why = pfi_fast_open(&f, &arena, file->data, file->size, &all,
                                    &limits, k);

    c.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&c);
    if (!why)
        why = compare_coefficients(f, &c, file);
    if (why)
        fail(file, k->name, why);
    jpeg_destroy_decompress(&c);
    pfi_arena_reset(&arena);
}

/* -------------------------------------------------------------- windows --- */

static pinfold_status by_codec(const unsigned char *data, size_t size,
                               const struct pfi_window *w, unsigned char *rgb)
{
    struct pfi_decoder decoder;
    pinfold_status status =
        pfi_decoder_open(&decoder, &arena, data, size, &by_libjpeg, false, NULL);

    if (status)
        return status;
    status = pfi_decoder_start(&decoder, w, NULL);
    for (int32_t y = w->top; !status && y < w->bottom; y++, rgb += 3 * SIDE)
        status = pfi_decoder_row(&decoder, rgb, NULL);
    if (!status)
        status = pfi_decoder_finish(&decoder, NULL);
    pfi_decoder_close(&decoder);
    return status;
}

/* NULL: decoded; otherwise why not. */
static const char *by_fast(const unsigned char *data, size_t size,
                           const struct pfi_window *w, unsigned char *rgb,
                           const struct pfi_fast_kernels *k)
{
    struct pfi_fast *f;
    const char *why = pfi_fast_open(&f, &arena, data, size, w, &limits, k);

    if (!why)
        why = pfi_fast_decode_window(f);
    for (int32_t y = w->top; !why && y < w->bottom; y++, rgb += 3 * SIDE)
        pfi_fast_row(f, rgb);
    pfi_arena_reset(&arena);
    return why;
}

static struct pfi_window random_window(int32_t width, int32_t height)
{
    struct pfi_window w = {.left = (int32_t)draw((uint32_t)width),
                           .top = (int32_t)draw((uint32_t)height)};

    w.right = w.left + 1 + (int32_t)draw((uint32_t)(width - w.left));
    w.bottom = w.top + 1 + (int32_t)draw((uint32_t)(height - w.top));
    return w;
}

static void check_window(const struct drawn_jpeg *file, int32_t width,
                         int32_t height, bool damaged)
{
    static unsigned char ours[SIDE * SIDE * 3], theirs[SIDE * SIDE * 3];
    const struct pfi_window w = random_window(width, height);
    const unsigned char *const data = guard(file, draw(2));
    const struct pfi_fast_kernels *k;
    pinfold_status status;

    memset(theirs, 0xA5, sizeof(theirs));
    status = by_codec(data, file->size, &w, theirs);
    pfi_arena_reset(&arena);
    for (int i = 0; (k = pfi_fast_kernels_at(i)); i++) {
        const char *why;

        memset(ours, 0xA5, sizeof(ours));
        why = by_fast(data, file->size, &w, ours, k);
        n_windows++;
        n_taken += !why;
        if (why && !damaged)
            fail(file, k->name, why);
        if (!why && status)
            fail(file, k->name, "taken, and libjpeg refuses it");
        /* Bytes beside the window must be as they were. */
        if (!why && !status && memcmp(ours, theirs, sizeof(ours)))
            fail(file, k->name, "other pixels");
    }
}

/* The size that damage may have changed; false: not for us. */
static bool size_of(const struct drawn_jpeg *file, int32_t *width,
                    int32_t *height)
{
    struct pfi_decoder decoder;

    if (pfi_decoder_open(&decoder, &arena, file->data, file->size, &limits, false,
                         NULL))
        return false;
    *width = decoder.width;
    *height = decoder.height;
    pfi_decoder_close(&decoder);
    pfi_arena_reset(&arena);
    return *width <= SIDE && *height <= SIDE;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 20000;

    draw_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    /* A block too small for anything: every buffer is the heap's, so that
     * AddressSanitizer sees where each one ends. */
    if (!make_guard() || !pfi_arena_init(&arena, 64))
        return 1;
    for (long i = 0; i < count && n_failed < 20; i++) {
        const struct pfi_fast_kernels *k;
        struct drawn_jpeg file;
        int32_t width, height;
        const bool damaged = i % 3 == 2, wild = i % 7 == 3;

        (wild ? draw_wild_jpeg : draw_jpeg)(&file, wild ? 64 : SIDE);
        if (damaged)
            damage_jpeg(&file);
        n_damaged += damaged;
        if (file.size <= guarded_size && size_of(&file, &width, &height)) {
            for (int l = 0; !damaged && (k = pfi_fast_kernels_at(l)); l++)
                check_coefficients(&file, width, height, k);
            for (int w = 0; w < WINDOWS; w++)
                check_window(&file, width, height, damaged || wild);
        }
        free(file.data);
    }
    pfi_arena_end(&arena);
    (void)printf("%ld files, %ld of them damaged; %ld coefficients, "
                 "progressive %ld times; %ld windows, %ld taken: %ld differ\n",
                 count, n_damaged, n_coefficients, n_progressive, n_windows,
                 n_taken, n_failed);
    return n_failed || !n_progressive ? 1 : 0;
}
