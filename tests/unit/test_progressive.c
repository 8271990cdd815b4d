/* SPDX-License-Identifier: Apache-2.0
 * The fast decoder's progressive part: tables, the rules for scans, and that
 * what it leaves to libjpeg-turbo comes out as libjpeg-turbo says. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "src/codec/fastjpeg/fast.h"
#include "tests/support/jpegdraw.h"

#define SIDE 40

static const struct pfi_limits limits = {.pixels = 1 << 20,
                                         .scratch = 1 << 28,
                                         .ancillary = 1 << 20,
                                         .scans = 256,
                                         .side = 1 << 20};

/* --------------------------------------------------------------- tables --- */

/* A random table whose codes are 1 to 16 bits long. */
static uint32_t random_table(struct pfi_fast_huffman *h, uint32_t symbols)
{
    uint32_t room = 1, n = 0;

    memset(h, 0, sizeof(*h));
    for (int length = 1; length <= 16; length++) {
        room *= 2;
        const uint32_t most = room - 1 < 12 ? room - 1 : 12;
        const uint32_t count = n < 60 ? draw(most + 1) : 0;

        h->counts[length - 1] = (unsigned char)count;
        n += count;
        room -= count;
    }
    for (uint32_t i = 0; i < n; i++)
        h->symbols[i] = (unsigned char)draw(symbols);
    return n;
}

/* The first symbol of `bits`, of which there are n, code by code; *length = its
 * code's; -1: none is all there. */
static int symbol_of(const struct pfi_fast_huffman *h, uint32_t bits, uint32_t n,
                     uint32_t *length)
{
    uint32_t code = 0, first = 0, at = 0;

    for (*length = 1; *length <= n; ++*length) {
        const uint32_t count = h->counts[*length - 1];

        code = code << 1 | (bits >> (n - *length) & 1);
        if (code - first < count)
            return h->symbols[at + code - first];
        at += count;
        first = (first + count) << 1;
    }
    return -1;
}

Test(progressive, dc_table)
{
    static struct pfi_fast_dc_coder coder;
    struct pfi_fast_huffman h;

    draw_seed(1);
    for (int i = 0; i < 200; i++) {
        (void)random_table(&h, 16);
        cr_assert(pfi_fast_dc_coder_make(&coder, &h));
        for (uint32_t bits = 0; bits < PFI_FAST_ENTRIES; bits++) {
            uint32_t length;
            const int size = symbol_of(&h, bits, PFI_FAST_BITS, &length);
            const uint32_t used = length + (uint32_t)size;

            if (size < 0 || used > PFI_FAST_BITS) {
                cr_assert_eq(coder.entry[bits], 0);
                continue;
            }
            int value = (int)(bits >> (PFI_FAST_BITS - used) &
                              ((1u << size) - 1));

            if (size && value < 1 << (size - 1))
                value -= (1 << size) - 1;
            cr_assert_eq(coder.entry[bits], used | (uint32_t)value << 16);
        }
    }
}

Test(progressive, refinement_table)
{
    static struct pfi_fast_building room;
    static struct pfi_fast_ac_coder coder;
    struct pfi_fast_huffman h;

    draw_seed(2);
    for (int i = 0; i < 200; i++) {
        (void)random_table(&h, 256);
        for (int s = 0; s < 256; s++) /* sizes that are likely */
            h.symbols[s] &= draw(4) ? 0xF1 : 0xFF;
        cr_assert(pfi_fast_ac_coder_make(&coder, &h, true, 0, &room));
        for (uint32_t bits = 0; bits < PFI_FAST_REFINE_ENTRIES; bits++) {
            const uint32_t entry = coder.refine[bits];
            uint32_t length;
            const int symbol =
                symbol_of(&h, bits, PFI_FAST_REFINE_BITS, &length);
            const uint32_t run = (uint32_t)symbol >> 4;

            if (symbol < 0 ||
                (symbol % 16 == 1 && length == PFI_FAST_REFINE_BITS)) {
                cr_assert_eq(entry, 0);
            } else if (symbol % 16 > 1) {
                cr_assert_eq(PFI_FAST_REFINE_KIND(entry), PFI_FAST_NO_MEANING);
            } else {
                const bool fresh = symbol % 16 == 1;
                const uint32_t sign =
                    fresh ? bits >> (PFI_FAST_REFINE_BITS - 1 - length) & 1
                          : 0;

                cr_assert_eq(entry & 255, length + fresh);
                cr_assert_eq(PFI_FAST_REFINE_RUN(entry), run);
                cr_assert_eq(PFI_FAST_REFINE_KIND(entry),
                             fresh       ? PFI_FAST_FRESH
                             : run == 15 ? PFI_FAST_ZEROS
                                         : PFI_FAST_REST);
                cr_assert_eq(PFI_FAST_REFINE_NEGATIVE(entry), fresh && !sign);
            }
        }
    }
}

Test(progressive, places_of_bits)
{
    static struct pfi_fast_ac_coder coder;

    pfi_fast_ac_coder_begin(&coder);
    for (unsigned byte = 0; byte < 256; byte++) {
        uint64_t places = coder.places[byte];

        for (uint64_t bit = 0; bit < 8; bit++) {
            if (!(byte >> bit & 1))
                continue;
            cr_assert_eq(places & 255, bit);
            places >>= 8;
        }
        cr_assert_eq(places, 0);
    }
}

/* ---------------------------------------------------------------- files --- */

struct file {
    unsigned char *data;
    unsigned long size;
};

static void quiet(j_common_ptr c, int level)
{
    (void)c;
    (void)level;
}

/* A grey picture in these scans; none: libjpeg's own. */
static void make(struct file *file, const jpeg_scan_info *scans, int n)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char row[SIDE];
    JSAMPROW rows = row;

    c.err = jpeg_std_error(&errors);
    errors.emit_message = quiet;
    jpeg_create_compress(&c);
    *file = (struct file){NULL, 0};
    jpeg_mem_dest(&c, &file->data, &file->size);
    c.image_width = c.image_height = SIDE;
    c.input_components = 1;
    c.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&c);
    jpeg_simple_progression(&c);
    if (n) {
        c.scan_info = scans;
        c.num_scans = n;
    }
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < SIDE) {
        for (int x = 0; x < SIDE; x++)
            row[x] = (unsigned char)draw(256);
        (void)jpeg_write_scanlines(&c, &rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}

/* Offset of the n-th such marker; the file's size: none. */
static size_t find(const struct file *file, int marker, int n)
{
    for (size_t at = 2; at + 1 < file->size; at++)
        if (file->data[at] == 0xFF && file->data[at + 1] == marker && n-- == 0)
            return at;
    return file->size;
}

/* `n` bytes between the others. */
static void insert(struct file *file, size_t at, const void *bytes, size_t n)
{
    unsigned char *const data = malloc(file->size + n);

    cr_assert(data);
    memcpy(data, file->data, at);
    memcpy(data + at, bytes, n);
    memcpy(data + at + n, file->data + at, file->size - at);
    free(file->data);
    *file = (struct file){data, file->size + n};
}

/* NULL: the fast decoder takes all of the file; *opens: its headers suffice to
 * tell. */
static const char *why_not(const struct file *file, bool *opens)
{
    const struct pfi_window all = {0, 0, SIDE, SIDE};
    struct pfi_arena arena;
    struct pfi_fast *f;
    const char *why;

    cr_assert(pfi_arena_init(&arena, 1 << 20));
    why = pfi_fast_open(&f, &arena, file->data, file->size, &all, &limits, NULL);
    *opens = !why;
    if (!why)
        why = pfi_fast_decode_window(f);
    pfi_arena_end(&arena);
    return why;
}

struct result {
    pinfold_status status;
    unsigned char rgb[SIDE * SIDE * 3];
};

static void decode(struct result *out, const struct file *file,
                   const struct pfi_limits *by)
{
    const struct pfi_window all = {0, 0, SIDE, SIDE};
    struct pfi_decoder d;
    struct pfi_arena arena;

    memset(out, 0, sizeof(*out));
    cr_assert(pfi_arena_init(&arena, 1 << 20));
    out->status = pfi_decoder_open(&d, &arena, file->data, file->size, by, false,
                                   NULL);
    if (!out->status) {
        out->status = pfi_decoder_start(&d, &all, NULL);
        for (size_t y = 0; !out->status && y < SIDE; y++)
            out->status = pfi_decoder_row(&d, out->rgb + y * SIDE * 3, NULL);
        if (!out->status)
            out->status = pfi_decoder_finish(&d, NULL);
        pfi_decoder_close(&d);
    }
    pfi_arena_end(&arena);
}

/* Checks the verdict, that headers alone give it, and the decoder's result. */
static void check(struct file *file, const char *why, bool by_headers)
{
    static struct result ours, theirs;
    struct pfi_limits by_libjpeg = limits;
    bool opens;
    const char *const got = why_not(file, &opens);

    by_libjpeg.libjpeg = true;
    cr_assert_eq(!got, !why, "%s", got ? got : "taken");
    cr_assert(!why || !strcmp(got, why), "%s", got);
    cr_assert_eq(opens, !by_headers, "%s", why);
    decode(&ours, file, &limits);
    decode(&theirs, file, &by_libjpeg);
    cr_assert_eq(ours.status, theirs.status, "%s", why);
    cr_assert_arr_eq(ours.rgb, theirs.rgb, sizeof(ours.rgb), "%s", why);
    free(file->data);
}

Test(progressive, scans)
{
    static const jpeg_scan_info whole[] = {{1, {0}, 0, 0, 0, 0},
                                           {1, {0}, 1, 63, 0, 0}};
    static const jpeg_scan_info coarse[] = {{1, {0}, 0, 0, 0, 0},
                                            {1, {0}, 1, 63, 0, 1}};
    static const jpeg_scan_info high[] = {{1, {0}, 0, 0, 0, 8},
                                          {1, {0}, 1, 63, 0, 9}};
    jpeg_scan_info many[64];
    struct file file;

    draw_seed(3);
    make(&file, NULL, 0);
    check(&file, NULL, false);
    make(&file, whole, 2);
    check(&file, NULL, false);
    make(&file, whole, 1);
    check(&file, "scans that are missing", true);
    make(&file, coarse, 2);
    check(&file, "scans that are missing", true);
    make(&file, high, 1); /* of its DC only some bits */
    check(&file, "scans that are missing", true);
    make(&file, high, 2);
    check(&file, "scans in an unusual order", true);
    for (int k = 0; k < 64; k++)
        many[k] = (jpeg_scan_info){1, {0}, k, k, 0, 0};
    make(&file, many, 64);
    check(&file, "very many scans", true);
    many[31].Se = 63;
    make(&file, many, 32);
    check(&file, NULL, false);
}

/* libjpeg warns of a scan that comes twice, and of AC before any DC. */
Test(progressive, scans_that_do_not_follow)
{
    struct file file;
    size_t first, at;

    draw_seed(4);
    make(&file, NULL, 0);
    at = find(&file, 0xDA, 1);
    file.data[at + 7] = 0x10; /* refines what nobody has sent */
    check(&file, "scans in an unusual order", true);
    make(&file, NULL, 0);
    first = find(&file, 0xDA, 0);
    at = find(&file, 0xC4, 1);
    insert(&file, at, file.data + first, at - first);
    check(&file, "scans in an unusual order", true);
    make(&file, NULL, 0);
    first = find(&file, 0xDA, 0);
    file.data[first + 5] = 77;
    check(&file, "components in another order", true);
    make(&file, NULL, 0);
    first = find(&file, 0xDA, 0);
    file.data[first + 8] = 64;
    check(&file, "scans in an unusual order", true);
}

Test(progressive, what_stands_between_scans)
{
    static const unsigned char dqt[] = {0xFF, 0xDB, 0, 3, 0};
    struct file file;
    size_t at;

    draw_seed(5);
    make(&file, NULL, 0);
    insert(&file, find(&file, 0xC4, 1), dqt, sizeof(dqt));
    check(&file, "an unusual marker between scans", true);
    make(&file, NULL, 0);
    insert(&file, find(&file, 0xC4, 1), "\xFF", 1); /* padding */
    check(&file, NULL, false);
    make(&file, NULL, 0);
    insert(&file, find(&file, 0xC4, 1), "\x55\x55", 2); /* coded data */
    check(&file, "data that are damaged or unusual", false);
    make(&file, NULL, 0);
    at = find(&file, 0xC4, 1);
    insert(&file, at + 2 + (size_t)file.data[at + 3], "\x55", 1);
    check(&file, "bytes between the scans", true);
    make(&file, NULL, 0);
    file.size -= 2;
    check(&file, "bytes between the scans", true);
    make(&file, NULL, 0);
    insert(&file, file.size, "junk", 4);
    check(&file, NULL, false);
    make(&file, NULL, 0);
    insert(&file, file.size - 2, "\xFF\xD0", 2);
    check(&file, "an unusual marker between scans", false);
}

/* A hundred thousand of them would cost as many walks over the picture. */
Test(progressive, limits)
{
    const struct pfi_window corner = {0, 0, 8, 8};
    struct pfi_limits few = limits;
    struct pfi_window all = {0, 0, 10000, 10000};
    static struct result result;
    struct pfi_arena arena;
    struct pfi_fast *f;
    struct file file;
    size_t at;

    draw_seed(6);
    make(&file, NULL, 0);
    few.scans = 0;
    decode(&result, &file, &few);
    cr_assert_eq(result.status, PINFOLD_E_LIMIT);
    cr_assert(pfi_arena_init(&arena, 1 << 20));
    few.scans = 1;
    cr_assert_null(pfi_fast_open(&f, &arena, file.data, file.size, &corner, &few,
                                 NULL));
    pfi_arena_reset(&arena);
    at = find(&file, 0xC2, 0);
    memcpy(file.data + at + 5, "\x27\x10\x27\x10", 4);
    cr_assert_str_eq(pfi_fast_open(&f, &arena, file.data, file.size, &all,
                                   &limits, NULL),
                     "a window of very many pixels");
    memcpy(file.data + at + 5, "\x0F\xA0\x0F\xA0", 4);
    cr_assert_null(pfi_fast_open(&f, &arena, file.data, file.size, &corner,
                                 &limits, NULL));
    cr_assert_lt(f->bytes, 4 << 20, "blocks of the window only");
    few = limits;
    few.scratch = 30 << 20; /* libjpeg holds all coefficients: 32 MB */
    cr_assert_str_eq(pfi_fast_open(&f, &arena, file.data, file.size, &corner,
                                   &few, NULL),
                     "more memory than is allowed");
    memcpy(file.data + at + 5, "\xFF\x00\xFF\x00", 4);
    cr_assert_str_eq(pfi_fast_open(&f, &arena, file.data, file.size, &corner,
                                   &(struct pfi_limits){.scratch = UINT64_MAX,
                                                        .scans = 256},
                                   NULL),
                     "a window of very many pixels", "a bit for each of them");
    pfi_arena_end(&arena);
    free(file.data);
}
