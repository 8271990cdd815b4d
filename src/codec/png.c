/* SPDX-License-Identifier: Apache-2.0
 * PNG on zlib, row by row, with Pillow's verdict on damaged streams
 * (src/libImaging/ZipDecode.c, 13.0.0): decoding stops at the last row, a
 * stream that ends with a row leaves the others black, one that ends within a
 * row or breaks is an error.  libpng judges these otherwise, and stops where
 * Pillow goes on. */
#include <string.h>
#include <zlib.h>

#include "src/codec/codec.h"
#include "src/codec/exif.h"
#include "src/codec/png_chunks.h"
#include "src/codec/png_filter.h"

struct png_state {
    struct pfi_png_info info;
    z_stream zlib;
    bool zlib_made;
    bool ended; /* the stream, with a row; the rest is black */
    unsigned char palette[256][3];
    unsigned char *now, *before; /* a filter byte and a row, as stored */
    size_t row_bytes;            /* without the filter byte */
    int32_t next;                /* row of the picture, without interlacing */
    unsigned char *picture;      /* interlaced: the window, RGB */
    unsigned char *rgb;          /* one whole row */
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PNG: %s", why);
}

/* ---------------------------------------------------------- stored rows --- */

/* Gives zlib more input. */
static pinfold_status refill(struct png_state *s, pinfold_error *err)
{
    const unsigned char *bytes;
    size_t n;
    const pinfold_status status = pfi_png_next_data(&s->info, &bytes, &n, err);

    if (status)
        return status;
    s->zlib.next_in = (z_const Bytef *)(uintptr_t)bytes;
    s->zlib.avail_in = (uInt)n;
    return PINFOLD_OK;
}

/* Inflates one row with its filter byte into s->now.  Pillow looks at the end of
 * the stream only when a row is full: a row that the end leaves short waits for
 * input until there is none. */
static pinfold_status inflate_row(struct png_state *s, size_t row_bytes,
                                  pinfold_error *err)
{
    size_t wanted = row_bytes + 1;

    while (wanted) {
        if (!s->zlib.avail_in) {
            const pinfold_status status = refill(s, err);

            if (status)
                return status;
        }
        const uInt room = wanted < UINT32_MAX ? (uInt)wanted : UINT32_MAX;

        s->zlib.next_out = s->now + (row_bytes + 1 - wanted);
        s->zlib.avail_out = room;
        const int code = inflate(&s->zlib, Z_NO_FLUSH);

        if (code == Z_MEM_ERROR)
            return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory to inflate");
        if (code < 0 || code == Z_NEED_DICT)
            return corrupt(err, "broken data stream");
        wanted -= room - s->zlib.avail_out;
        s->ended = code == Z_STREAM_END;
        if (s->ended && wanted)
            return corrupt(err, "the data end within a row");
    }
    return PINFOLD_OK;
}

static size_t bits_per_pixel(const struct png_state *s)
{
    return (size_t)(s->info.depth * pfi_png_channels(s->info.colour));
}

/* One stored row of `width` pixels into s->now, of which the first `wanted`
 * are made good; the filters look to the left and up only. */
static pinfold_status stored_row(struct png_state *s, int32_t width,
                                 int32_t wanted, pinfold_error *err)
{
    const size_t bits = bits_per_pixel(s);
    const size_t n = ((size_t)width * bits + 7) / 8;
    unsigned char *const swap = s->before;
    pinfold_status status;

    s->before = s->now;
    s->now = swap;
    status = inflate_row(s, n, err);
    if (status)
        return status;
    if (s->now[0] > 4)
        return corrupt(err, "unknown row filter");
    pfi_png_unfilter(s->now + 1, s->before + 1, ((size_t)wanted * bits + 7) / 8,
                     bits < 8 ? 1 : bits / 8, s->now[0]);
    return PINFOLD_OK;
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

/* A palette that an earlier header left to a grey picture is in force. */
static void grey_to_palette(const struct png_state *s, unsigned char *rgb,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(rgb + 3 * i, s->palette[rgb[3 * i]], 3);
}

static void to_rgb(const struct png_state *s, unsigned char *rgb, size_t n)
{
    if (s->info.colour == 0)
        grey_row(s, rgb, n);
    else if (s->info.colour == 3)
        palette_row(s, rgb, n);
    else
        byte_row(s, rgb, n);
    if (s->info.palette && s->info.colour != 3)
        grey_to_palette(s, rgb, n);
}

/* Pixels that the stream lacks hold code 0: the palette's first, which without
 * a palette is black. */
static void fill_missing(const struct png_state *s, unsigned char *rgb, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(rgb + 3 * i, s->palette[0], 3);
}

/* ----------------------------------------------------------------- Adam7 --- */

static const struct {
    int x0, y0, dx, dy;
} passes[7] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
               {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

/* Puts the n pixels in s->rgb to their columns in row y of the window.  Pillow
 * puts the tile of an interlaced picture to the top left, wherever it belongs. */
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
    const int32_t width = s->info.tile.width;
    const int32_t n =
        width <= x0 ? 0 : (int32_t)(((int64_t)width - x0 + dx - 1) / dx);
    pinfold_status status = PINFOLD_OK;

    memset(s->now, 0, s->row_bytes + 1);
    for (int64_t y = passes[pass].y0; n && y < s->info.tile.height && !s->ended;
         y += passes[pass].dy) {
        status = stored_row(s, n, n, err);
        if (status)
            return status;
        to_rgb(s, s->rgb, (size_t)n);
        scatter(decoder, s, (int32_t)y, pass, n);
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
    status = pfi_decoder_scratch(decoder, bytes, err);
    if (status)
        return status;
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

static pinfold_status orientation(struct pfi_decoder *decoder,
                                  pinfold_error *err)
{
    struct pfi_exif info;
    const pinfold_status status =
        pfi_exif_from_png(&info, decoder->arena, decoder->data, decoder->size,
                          decoder->limits->ancillary, err);

    return status ? status
                  : pfi_exif_orientation(&info, "PNG", &decoder->orientation,
                                         err);
}

static pinfold_status open_png(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct png_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    memset(s, 0, sizeof(*s));
    decoder->state = s;
    s->info.data = decoder->data;
    s->info.size = decoder->size;
    s->info.limits = decoder->limits;
    status = pfi_png_open(&s->info, err);
    decoder->width = s->info.width;
    decoder->height = s->info.height;
    decoder->mode = s->info.mode;
    return status || !decoder->turn ? status : orientation(decoder, err);
}

/* Entries that the palette lacks, maybe all, are black. */
static void make_palette(struct png_state *s)
{
    const uint32_t entries = s->info.palette_bytes / 3;

    if (s->info.palette)
        memcpy(s->palette, s->info.palette, (entries < 256 ? entries : 256) * 3);
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct png_state *const s = decoder->state;
    pinfold_status status;

    s->row_bytes = ((size_t)s->info.tile.width * bits_per_pixel(s) + 7) / 8;
    status = pfi_decoder_scratch(
        decoder, 2 * (uint64_t)s->row_bytes + 3 * (uint64_t)decoder->width, err);
    if (status)
        return status;
    s->now = pfi_arena_alloc(decoder->arena, s->row_bytes + 1);
    s->before = pfi_arena_alloc(decoder->arena, s->row_bytes + 1);
    s->rgb = pfi_arena_array(decoder->arena, (size_t)decoder->width, 3);
    if (!s->now || !s->before || !s->rgb)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a row");
    memset(s->now, 0, s->row_bytes + 1);
    make_palette(s);
    if (inflateInit(&s->zlib) != Z_OK)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory to inflate");
    s->zlib_made = true;
    return s->info.interlace ? decode_interlaced(decoder, s, err) : PINFOLD_OK;
}

/* Pixels of row y of the tile that are needed: up to the window's right edge,
 * and none behind its last row. */
static int32_t wanted_pixels(const struct pfi_decoder *decoder, int32_t y)
{
    const struct png_state *const s = decoder->state;
    const int32_t right = decoder->window.right - s->info.tile.left;

    if (decoder->limits->whole)
        return s->info.tile.width;
    if (right < 0 || y + s->info.tile.top >= decoder->window.bottom)
        return 0;
    return right < s->info.tile.width ? right : s->info.tile.width;
}

/* The next row of the picture, whether wanted or not; rgb may be NULL. */
static pinfold_status advance(struct pfi_decoder *decoder, unsigned char *rgb,
                              pinfold_error *err)
{
    struct png_state *const s = decoder->state;
    const size_t left = (size_t)decoder->window.left;
    const size_t n = (size_t)decoder->window.right - left;
    const int32_t y = s->next++ - s->info.tile.top;
    const bool there = y >= 0 && y < s->info.tile.height && !s->ended;
    const int32_t wanted = wanted_pixels(decoder, y);
    pinfold_status status = PINFOLD_OK;

    if (there)
        status = stored_row(s, s->info.tile.width, wanted, err);
    if (status || !rgb)
        return status;
    if (!there || s->info.tile.width < decoder->width)
        fill_missing(s, s->rgb, (size_t)decoder->width);
    if (there)
        to_rgb(s, s->rgb + (size_t)s->info.tile.left * 3, (size_t)wanted);
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
    return status ? status : pfi_png_end(&s->info, err);
}

static void close_png(struct pfi_decoder *decoder)
{
    struct png_state *const s = decoder->state;

    if (s && s->zlib_made)
        (void)inflateEnd(&s->zlib);
}

const struct pfi_codec pfi_codec_png = {"PNG", sniff, open_png, start,
                                        row,   finish, close_png};
