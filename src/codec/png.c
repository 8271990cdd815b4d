/* SPDX-License-Identifier: Apache-2.0
 * PNG on zlib, row by row, with Pillow's verdict on damaged streams
 * (src/libImaging/ZipDecode.c, 13.0.0): decoding stops at the last row, a
 * stream that ends early leaves black rows, one that breaks is an error.
 * libpng judges these otherwise, and stops where Pillow goes on. */
#include <string.h>
#include <zlib.h>

#include "src/codec/codec.h"
#include "src/codec/png_chunks.h"

/* Pillow hands zlib at most so much of one chunk (ImageFile.MAXBLOCK); a wrong
 * checksum counts only where it lies in the block that ends the last row. */
#define PFI_PNG_BLOCK 65536

struct png_state {
    struct pfi_png_info info;
    struct pfi_png_data run;
    z_stream zlib;
    bool zlib_made;
    bool over;  /* zlib has seen the stream's end */
    bool ended; /* in mid picture: the rest is black */
    const unsigned char *block; /* what is left of the current IDAT */
    size_t block_size;
    unsigned char palette[256][3];
    unsigned char *now, *before; /* a filter byte and a row, as stored */
    size_t row_bytes;            /* without the filter byte */
    int32_t next;                /* row, without interlacing */
    unsigned char *picture;      /* interlaced: the window, RGB */
    unsigned char *rgb;          /* one whole row */
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PNG: %s", why);
}

/* ---------------------------------------------------------- stored rows --- */

/* Gives zlib more input; false where there is none. */
static bool refill(struct png_state *s)
{
    while (!s->block_size)
        if (!pfi_png_next_data(&s->run, &s->block, &s->block_size))
            return false;
    const size_t n = s->block_size < PFI_PNG_BLOCK ? s->block_size
                                                   : PFI_PNG_BLOCK;

    s->zlib.next_in = (z_const Bytef *)(uintptr_t)s->block;
    s->zlib.avail_in = (uInt)n;
    s->block += n;
    s->block_size -= n;
    return true;
}

/* Inflates one row with its filter byte into s->now; s->ended afterwards means
 * that it is not there. */
static pinfold_status inflate_row(struct png_state *s, size_t row_bytes,
                                  pinfold_error *err)
{
    size_t wanted = row_bytes + 1;

    while (wanted && !s->over) {
        if (!s->zlib.avail_in && !refill(s))
            return corrupt(err, "the file is cut short");
        const uInt room = wanted < UINT32_MAX ? (uInt)wanted : UINT32_MAX;

        s->zlib.next_out = s->now + (row_bytes + 1 - wanted);
        s->zlib.avail_out = room;
        const int code = inflate(&s->zlib, Z_NO_FLUSH);

        if (code < 0 || code == Z_NEED_DICT)
            return corrupt(err, code == Z_MEM_ERROR ? "no memory to inflate"
                                                    : "broken data stream");
        wanted -= room - s->zlib.avail_out;
        s->over = code == Z_STREAM_END;
    }
    s->ended = wanted > 0;
    return PINFOLD_OK;
}

static int paeth(int a, int b, int c)
{
    const int p = a + b - c;
    const int pa = p > a ? p - a : a - p, pb = p > b ? p - b : b - p;
    const int pc = p > c ? p - c : c - p;

    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Undoes the row's filter; pixels lie bpp bytes apart. */
static pinfold_status unfilter(struct png_state *s, size_t n, size_t bpp,
                               pinfold_error *err)
{
    unsigned char *const now = s->now + 1;
    const unsigned char *const up = s->before + 1;

    if (s->now[0] > 4)
        return corrupt(err, "unknown row filter");
    for (size_t i = 0; s->now[0] && i < n; i++) {
        const int a = i >= bpp ? now[i - bpp] : 0, b = up[i];
        const int c = i >= bpp ? up[i - bpp] : 0;
        const int guess = s->now[0] == 1   ? a
                          : s->now[0] == 2 ? b
                          : s->now[0] == 3 ? (a + b) >> 1
                                           : paeth(a, b, c);

        now[i] = (unsigned char)(now[i] + guess);
    }
    return PINFOLD_OK;
}

/* One stored row of `width` pixels into s->now; false in *there once the stream
 * has ended. */
static pinfold_status stored_row(struct png_state *s, int32_t width, bool *there,
                                 pinfold_error *err)
{
    const size_t bits =
        (size_t)(s->info.depth * pfi_png_channels(s->info.colour));
    const size_t n = ((size_t)width * bits + 7) / 8;
    unsigned char *const swap = s->before;
    pinfold_status status;

    s->before = s->now;
    s->now = swap;
    status = inflate_row(s, n, err);
    *there = !s->ended;
    if (status || s->ended)
        return status;
    return unfilter(s, n, bits < 8 ? 1 : bits / 8, err);
}

/* --------------------------------------------------------------- colours --- */

/* Sample `i` of a row of fewer than 8 bits a sample. */
static unsigned sample_bits(const unsigned char *row, size_t i, int depth)
{
    const size_t bit = i * (size_t)depth;

    return (unsigned)row[bit / 8] >> (8 - depth - (int)(bit % 8)) &
           ((1u << depth) - 1);
}

static void grey_row(const struct png_state *s, unsigned char *rgb, size_t n)
{
    const unsigned char *const row = s->now + 1;
    const int depth = s->info.depth;

    for (size_t i = 0; i < n; i++) {
        unsigned v;

        if (depth == 16) /* mode I;16, which convert("RGB") clips */
            v = row[2 * i] ? 255 : row[2 * i + 1];
        else if (depth == 8)
            v = row[i];
        else
            v = sample_bits(row, i, depth) * (255u / ((1u << depth) - 1));
        memset(rgb + 3 * i, (int)v, 3);
    }
}

static void palette_row(const struct png_state *s, unsigned char *rgb, size_t n)
{
    const unsigned char *const row = s->now + 1;

    for (size_t i = 0; i < n; i++) {
        const unsigned v = s->info.depth == 8
                               ? row[i]
                               : sample_bits(row, i, s->info.depth);

        memcpy(rgb + 3 * i, s->palette[v], 3);
    }
}

/* Whole bytes a channel: of 16 bits the high byte; alpha is dropped. */
static void byte_row(const struct png_state *s, unsigned char *rgb, size_t n)
{
    const size_t channels = (size_t)pfi_png_channels(s->info.colour);
    const size_t bytes = (size_t)s->info.depth / 8, step = channels * bytes;
    const unsigned char *p = s->now + 1;
    const size_t next = channels >= 3 ? bytes : 0;

    for (size_t i = 0; i < n; i++, p += step)
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = p[c * next];
}

static void to_rgb(const struct png_state *s, unsigned char *rgb, size_t n)
{
    if (s->info.colour == 0)
        grey_row(s, rgb, n);
    else if (s->info.colour == 3)
        palette_row(s, rgb, n);
    else
        byte_row(s, rgb, n);
}

/* Pixels that the stream lacks hold code 0: black, or the palette's first. */
static void fill_missing(const struct png_state *s, unsigned char *rgb, size_t n)
{
    static const unsigned char black[3];
    const unsigned char *const fill =
        s->info.colour == 3 ? s->palette[0] : black;

    for (size_t i = 0; i < n; i++)
        memcpy(rgb + 3 * i, fill, 3);
}

/* ----------------------------------------------------------------- Adam7 --- */

static const struct {
    int x0, y0, dx, dy;
} passes[7] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
               {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

/* Puts the n pixels in s->rgb to their columns in row y of the window. */
static void scatter(const struct pfi_decoder *decoder, struct png_state *s,
                    int32_t y, int pass, int32_t n)
{
    const struct pfi_window *const w = &decoder->window;
    const size_t stride = (size_t)(w->right - w->left) * 3;

    if (y < w->top || y >= w->bottom)
        return;
    for (int32_t i = 0; i < n; i++) {
        const int64_t x = passes[pass].x0 + (int64_t)i * passes[pass].dx;

        if (x >= w->left && x < w->right)
            memcpy(s->picture + (size_t)(y - w->top) * stride +
                       (size_t)(x - w->left) * 3,
                   s->rgb + 3 * (size_t)i, 3);
    }
}

static pinfold_status decode_pass(const struct pfi_decoder *decoder,
                                  struct png_state *s, int pass,
                                  pinfold_error *err)
{
    const int dx = passes[pass].dx, x0 = passes[pass].x0;
    const int32_t n = decoder->width <= x0
                          ? 0
                          : (int32_t)(((int64_t)decoder->width - x0 + dx - 1) /
                                      dx);
    pinfold_status status = PINFOLD_OK;
    bool there = true;

    memset(s->now, 0, s->row_bytes + 1);
    for (int64_t y = passes[pass].y0; n && y < decoder->height && there;
         y += passes[pass].dy) {
        status = stored_row(s, n, &there, err);
        if (status)
            return status;
        if (there) {
            to_rgb(s, s->rgb, (size_t)n);
            scatter(decoder, s, (int32_t)y, pass, n);
        }
    }
    return status;
}

static pinfold_status decode_interlaced(struct pfi_decoder *decoder,
                                        struct png_state *s, pinfold_error *err)
{
    const struct pfi_window *const w = &decoder->window;
    pinfold_status status = PINFOLD_OK;
    size_t bytes;

    if (!pfi_mul((size_t)(w->right - w->left) * 3,
                 (size_t)(w->bottom - w->top), &bytes))
        bytes = SIZE_MAX;
    s->picture = pfi_arena_alloc(decoder->arena, bytes);
    if (!s->picture)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                        "no memory for an interlaced picture");
    fill_missing(s, s->picture, bytes / 3);
    for (int pass = 0; !status && !s->ended && pass < 7; pass++)
        status = decode_pass(decoder, s, pass, err);
    return status;
}

/* ------------------------------------------------------------- the codec --- */

static bool sniff(const unsigned char *data, size_t size)
{
    static const unsigned char signature[8] = {0x89, 'P',  'N',  'G',
                                               '\r', '\n', 0x1A, '\n'};

    return size >= 8 && !memcmp(data, signature, 8);
}

static pinfold_status open_png(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct png_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    memset(s, 0, sizeof(*s));
    decoder->state = s;
    status = pfi_png_info(decoder->data, decoder->size, &s->info, err);
    decoder->width = s->info.width;
    decoder->height = s->info.height;
    decoder->mode = s->info.mode;
    return status;
}

/* Entries that the palette lacks, maybe all, are black. */
static void make_palette(struct png_state *s)
{
    if (s->info.palette)
        memcpy(s->palette, s->info.palette, (size_t)s->info.palette_size * 3);
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct png_state *const s = decoder->state;
    const size_t bits =
        (size_t)(s->info.depth * pfi_png_channels(s->info.colour));

    s->row_bytes = ((size_t)decoder->width * bits + 7) / 8;
    s->now = pfi_arena_alloc(decoder->arena, s->row_bytes + 1);
    s->before = pfi_arena_alloc(decoder->arena, s->row_bytes + 1);
    s->rgb = pfi_arena_array(decoder->arena, (size_t)decoder->width, 3);
    if (!s->now || !s->before || !s->rgb)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a row");
    memset(s->now, 0, s->row_bytes + 1);
    make_palette(s);
    s->run = (struct pfi_png_data){decoder->data, decoder->size, s->info.idat};
    if (inflateInit(&s->zlib) != Z_OK)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory to inflate");
    s->zlib_made = true;
    return s->info.interlace ? decode_interlaced(decoder, s, err) : PINFOLD_OK;
}

/* The next row of the picture, whether wanted or not; rgb may be NULL. */
static pinfold_status advance(struct pfi_decoder *decoder, unsigned char *rgb,
                              pinfold_error *err)
{
    struct png_state *const s = decoder->state;
    const size_t left = (size_t)decoder->window.left;
    const size_t n = (size_t)decoder->window.right - left;
    pinfold_status status;
    bool there;

    s->next++;
    status = stored_row(s, decoder->width, &there, err);
    if (status || !rgb)
        return status;
    if (!there) {
        fill_missing(s, rgb, n);
        return PINFOLD_OK;
    }
    to_rgb(s, s->rgb, (size_t)decoder->width);
    memcpy(rgb, s->rgb + left * 3, n * 3);
    return PINFOLD_OK;
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    struct png_state *const s = decoder->state;
    const size_t bytes =
        (size_t)(decoder->window.right - decoder->window.left) * 3;
    pinfold_status status = PINFOLD_OK;

    if (s->picture) {
        memcpy(rgb, s->picture, bytes);
        s->picture += bytes;
        return PINFOLD_OK;
    }
    while (!status && s->next < decoder->window.top)
        status = advance(decoder, NULL, err);
    return status ? status : advance(decoder, rgb, err);
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct png_state *const s = decoder->state;
    pinfold_status status = PINFOLD_OK;

    while (!status && !s->picture && !s->ended && s->next < decoder->height)
        status = advance(decoder, NULL, err);
    return status;
}

static void close_png(struct pfi_decoder *decoder)
{
    struct png_state *const s = decoder->state;

    if (s && s->zlib_made)
        (void)inflateEnd(&s->zlib);
}

const struct pfi_codec pfi_codec_png = {"PNG", sniff, open_png, start,
                                        row,   finish, close_png};
