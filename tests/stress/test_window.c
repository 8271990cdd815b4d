/* SPDX-License-Identifier: Apache-2.0
 * Random windows of random JPEGs and PNGs, sound and damaged: the same pixels and the
 * same verdict as a full decode.  usage: test_window [COUNT [SEED]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "src/codec/codec.h"
#include "tests/support/pngmake.h"

#define SIDE 150

static uint64_t state = 1;

static uint32_t draw(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* ------------------------------------------------------------- the files --- */

struct file {
    unsigned char *data;
    unsigned long size;
    char what[128];
};

/* Sampling factors that libjpeg can decode: luma's, chroma's are 1 x 1. */
static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2},
                                   {4, 1}, {1, 4}, {4, 2}, {2, 4}};

static void set_options(struct jpeg_compress_struct *c, char *what, size_t room)
{
    /* An MCU holds ten blocks at most. */
    const int *const s = samplings[draw(c->input_components == 4 ? 6 : 8)];
    const bool progressive = draw(4) == 0, arithmetic = draw(5) == 0;
    const int restart = draw(3) ? 0 : (int)draw(9);

    jpeg_set_defaults(c);
    jpeg_set_quality(c, 20 + (int)draw(80), TRUE);
    if (c->num_components == 3 && draw(5) == 0)
        jpeg_set_colorspace(c, JCS_RGB);
    c->comp_info[0].h_samp_factor = s[0];
    c->comp_info[0].v_samp_factor = s[1];
    c->arith_code = arithmetic;
    c->optimize_coding = !arithmetic && draw(2);
    c->restart_interval = (unsigned)restart;
    if (progressive)
        jpeg_simple_progression(c);
    (void)snprintf(what, room, "%u x %u, %d components, %d x %d%s%s, restart %d",
                   c->image_width, c->image_height, c->num_components, s[0],
                   s[1], progressive ? ", progressive" : "",
                   arithmetic ? ", arithmetic" : "", restart);
}

static void make_jpeg(struct file *file)
{
    static const J_COLOR_SPACE spaces[] = {JCS_GRAYSCALE, JCS_RGB, JCS_RGB,
                                           JCS_CMYK};
    static const int components[] = {1, 3, 3, 4};
    static unsigned char row[SIDE * 4];
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    const uint32_t kind = draw(4);
    JSAMPROW rows = row;

    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    file->data = NULL;
    jpeg_mem_dest(&c, &file->data, &file->size);
    c.image_width = 1 + draw(SIDE);
    c.image_height = 1 + draw(SIDE);
    c.input_components = components[kind];
    c.in_color_space = spaces[kind];
    set_options(&c, file->what, sizeof(file->what));
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        for (size_t i = 0; i < sizeof(row); i++)
            row[i] = (unsigned char)((i * 3 + c.next_scanline * 5) / 2 +
                                     draw(60));
        (void)jpeg_write_scanlines(&c, &rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}

/* Rows of noise with filters of every type; sometimes one that is none. */
static void make_png(struct file *file)
{
    static const int kinds[][2] = {{1, 0}, {2, 0}, {4, 0}, {8, 0},  {16, 0},
                                   {8, 2}, {16, 2}, {1, 3}, {4, 3}, {8, 3},
                                   {8, 4}, {16, 4}, {8, 6}, {16, 6}};
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    static unsigned char rows[SIDE * 2 * (SIDE * 8 + 1)];
    const int *const kind = kinds[draw(14)];
    const uint32_t width = 1 + draw(SIDE), height = 1 + draw(SIDE);
    const size_t bits = (size_t)(kind[0] * channels[kind[1]]);
    const size_t row = (width * bits + 7) / 8 + 1;
    const bool interlaced = draw(5) == 0;
    const uint32_t filters = draw(20) ? 5 : 6;
    struct bytes png = {0};

    for (size_t i = 0; i < sizeof(rows); i++)
        rows[i] = (unsigned char)(draw(256) & draw(256));
    /* Interlaced rows have other lengths: small numbers are filters, too. */
    for (size_t y = 0; y < height && !interlaced; y++)
        rows[y * row] = (unsigned char)draw(filters);
    for (size_t i = 0; i < sizeof(rows) && interlaced; i++)
        rows[i] = (unsigned char)draw(5);
    put_signature(&png);
    put_header(&png, width, height, kind[0], kind[1], interlaced);
    if (kind[1] == 3)
        put_chunk(&png, "PLTE", rows, 3 * (1 + draw(256)));
    put_packed(&png, "IDAT", "", 0, rows,
               interlaced ? sizeof(rows) : row * (height - draw(10) / 9));
    put_chunk(&png, "IEND", "", 0);
    file->data = png.data;
    file->size = png.size;
    (void)snprintf(file->what, sizeof(file->what),
                   "PNG %u x %u, depth %d, colour %d%s", width, height, kind[0],
                   kind[1], interlaced ? ", interlaced" : "");
}

/* A few wrong bytes, a cut, or markers, anywhere behind the headers' start. */
static void damage(struct file *file)
{
    const uint32_t n = 1 + draw(4);

    for (uint32_t i = 0; i < n; i++) {
        const size_t at = 2 + draw((uint32_t)file->size - 2);

        switch (draw(4)) {
        case 0: file->data[at] = (unsigned char)draw(256); break;
        case 1: file->data[at] ^= (unsigned char)(1u << draw(8)); break;
        case 2:
            file->data[at - 1] = 0xFF;
            file->data[at] = (unsigned char)(0xC0 + draw(64));
            break;
        default:
            if (draw(3) == 0)
                file->size = at;
            if (file->size < 4)
                return;
        }
    }
}

/* ----------------------------------------------------------- comparing --- */

struct result {
    pinfold_status status;
    unsigned char *pixels;
};

/* Decodes a window; `size` bytes of pixels. */
static struct result decode(const struct file *file, struct pfi_arena *arena,
                            const struct pfi_window *window, size_t size,
                            bool whole, pinfold_error *err)
{
    const struct pfi_limits limits = {.pixels = 1 << 20,
                                      .scratch = 1 << 28,
                                      .ancillary = 1 << 20,
                                      .scans = 256,
                                      .side = 1 << 20,
                                      .whole = whole};
    struct result result = {.pixels = calloc(1, size)};
    struct pfi_decoder decoder;

    pfi_error_clear(err);
    result.status = pfi_decoder_open(&decoder, arena, file->data, file->size,
                                     &limits, false, err);
    if (result.status)
        return result;
    result.status = pfi_decoder_start(&decoder, window, err);
    for (int32_t y = window->top; !result.status && y < window->bottom; y++)
        result.status = pfi_decoder_row(
            &decoder,
            result.pixels + (size_t)(y - window->top) *
                                (size_t)(window->right - window->left) * 3,
            err);
    if (!result.status)
        result.status = pfi_decoder_finish(&decoder, err);
    pfi_decoder_close(&decoder);
    pfi_arena_reset(arena);
    return result;
}

static bool same_window(const struct file *file, struct pfi_arena *arena,
                        int32_t width, int32_t height)
{
    struct pfi_window w;
    struct result part, full;
    pinfold_error part_err, full_err;
    bool same;

    w.left = (int32_t)draw((uint32_t)width);
    w.top = (int32_t)draw((uint32_t)height);
    w.right = w.left + 1 + (int32_t)draw((uint32_t)(width - w.left));
    w.bottom = w.top + 1 + (int32_t)draw((uint32_t)(height - w.top));
    const size_t size =
        (size_t)(w.right - w.left) * (size_t)(w.bottom - w.top) * 3;

    part = decode(file, arena, &w, size, false, &part_err);
    full = decode(file, arena, &w, size, true, &full_err);
    same = part.status == full.status &&
           (part.status || !memcmp(part.pixels, full.pixels, size));
    if (!same)
        (void)fprintf(stderr,
                      "%s: window %d..%d x %d..%d: status %d and %d (%s; %s)\n",
                      file->what, w.left, w.right, w.top, w.bottom, part.status,
                      full.status, part.status ? part_err.message : "",
                      full.status ? full_err.message : "");
    free(part.pixels);
    free(full.pixels);
    return same;
}

/* The picture's size, which damage may have changed; false: not a picture. */
static bool size_of(const struct file *file, struct pfi_arena *arena,
                    int32_t *width, int32_t *height)
{
    const struct pfi_limits limits = {.pixels = 1 << 18, .scratch = 1 << 28,
                                      .ancillary = 1 << 20, .scans = 256};
    struct pfi_decoder decoder;

    if (pfi_decoder_open(&decoder, arena, file->data, file->size, &limits, false,
                         NULL))
        return false;
    *width = decoder.width;
    *height = decoder.height;
    pfi_decoder_close(&decoder);
    pfi_arena_reset(arena);
    return true;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 20000;
    struct pfi_arena arena;
    long done = 0, damaged = 0, differ = 0;

    if (argc > 2)
        state = strtoull(argv[2], NULL, 10);
    if (!pfi_arena_init(&arena, 1 << 20))
        return 1;
    while (done < count) {
        struct file file;
        int32_t width, height;
        bool hurt = draw(2);

        if (draw(3))
            make_jpeg(&file);
        else
            make_png(&file);
        if (hurt)
            damage(&file);
        for (int i = 0; i < 4 && size_of(&file, &arena, &width, &height); i++) {
            differ += !same_window(&file, &arena, width, height);
            damaged += hurt;
            done++;
        }
        free(file.data);
    }
    pfi_arena_end(&arena);
    (void)printf("%ld windows, %ld of them in damaged files: %ld differ\n", done,
                 damaged, differ);
    return differ ? 1 : 0;
}
