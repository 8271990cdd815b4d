/* SPDX-License-Identifier: Apache-2.0
 * BMP, with Pillow's pixels: rows are read where they lie, run lengths into a
 * copy of the window. */
#include <string.h>

#include "src/codec/bmp_header.h"
#include "src/codec/bmp_rle.h"
#include "src/codec/codec.h"

struct bmp_state {
    struct pfi_bmp_header header;
    unsigned char palette[256][3]; /* what the file lacks is black */
    size_t row_bytes;              /* without padding */
    unsigned char *picture;        /* run lengths: the window's indices */
    int32_t next;                  /* row */
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "BMP: %s", why);
}

/* --------------------------------------------------------------- pixels --- */

static void index_row(const struct bmp_state *s, const unsigned char *row,
                      int bits, size_t left, size_t n, unsigned char *rgb)
{
    const unsigned mask = (1u << bits) - 1;

    for (size_t i = 0; i < n; i++) {
        const size_t bit = (left + i) * (size_t)bits;
        const unsigned v =
            (unsigned)row[bit / 8] >> (8 - bits - (int)(bit % 8)) & mask;

        memcpy(rgb + 3 * i, s->palette[v], 3);
    }
}

static void word_row(const unsigned char *row, int green_bits, size_t n,
                     unsigned char *rgb)
{
    const unsigned green = (1u << green_bits) - 1;

    for (size_t i = 0; i < n; i++, row += 2, rgb += 3) {
        const unsigned v = row[0] | (unsigned)row[1] << 8;

        rgb[0] = (unsigned char)((v >> (5 + green_bits) & 31) * 255 / 31);
        rgb[1] = (unsigned char)((v >> 5 & green) * 255 / green);
        rgb[2] = (unsigned char)((v & 31) * 255 / 31);
    }
}

static void byte_row(const struct pfi_bmp_header *h, const unsigned char *row,
                     size_t n, unsigned char *rgb)
{
    const size_t step = (size_t)h->bits / 8;

    for (size_t i = 0; i < n; i++, row += step, rgb += 3) {
        rgb[0] = row[h->red];
        rgb[1] = row[h->green];
        rgb[2] = row[h->blue];
    }
}

static void make_palette(struct bmp_state *s)
{
    const struct pfi_bmp_header *const h = &s->header;

    if (h->mode[0] != 'P') /* "1", where all but 0 is white, or "L" */
        for (int i = 0; i < 256; i++)
            memset(s->palette[i], h->mode[0] == 'L' ? i : i ? 255 : 0, 3);
    for (int i = 0; i < h->palette_size; i++)
        for (int c = 0; c < 3; c++)
            s->palette[i][c] = h->palette[i * h->palette_step + 2 - c];
}

/* ------------------------------------------------------------ the codec --- */

static bool sniff_bmp(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 'B' && data[1] == 'M';
}

/* A BMP without its file header, which Pillow takes, too. */
static bool sniff_dib(const unsigned char *data, size_t size)
{
    return size >= 4 && !data[1] && !data[2] && !data[3] &&
           pfi_bmp_header_size(data[0]);
}

static pinfold_status open_any(struct pfi_decoder *decoder, bool dib,
                               pinfold_error *err)
{
    struct bmp_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    memset(s, 0, sizeof(*s));
    decoder->state = s;
    status = pfi_bmp_header(decoder->data, decoder->size, dib, &s->header, err);
    if (status)
        return status;
    decoder->width = s->header.width;
    decoder->height = s->header.height;
    decoder->mode = s->header.mode;
    if (s->header.bits <= 8)
        make_palette(s);
    return PINFOLD_OK;
}

static pinfold_status open_bmp(struct pfi_decoder *decoder, pinfold_error *err)
{
    return open_any(decoder, false, err);
}

static pinfold_status open_dib(struct pfi_decoder *decoder, pinfold_error *err)
{
    return open_any(decoder, true, err);
}

static pinfold_status start_rle(struct pfi_decoder *decoder,
                                struct bmp_state *s, pinfold_error *err)
{
    const struct pfi_window *const w = &decoder->window;
    const struct pfi_bmp_header *const h = &s->header;
    const bool four = h->rle == PFI_BMP_RLE4;
    pinfold_status status;
    size_t bytes;

    /* A stream that is cut short costs no memory. */
    if (!pfi_bmp_rle(decoder, h->offset, four, h->top_down, NULL))
        return corrupt(err, "the file is cut short");
    if (!pfi_mul((size_t)(w->right - w->left), (size_t)(w->bottom - w->top),
                 &bytes))
        bytes = SIZE_MAX;
    status = pfi_decoder_scratch(decoder, bytes, err);
    if (status)
        return status;
    s->picture = pfi_arena_alloc(decoder->arena, bytes);
    if (!s->picture)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                        "no memory for a picture of run lengths");
    memset(s->picture, 0, bytes);
    (void)pfi_bmp_rle(decoder, h->offset, four, h->top_down, s->picture);
    return PINFOLD_OK;
}

/* Whether all rows are there; the last one's padding need not be. */
static bool has_rows(const struct bmp_state *s, size_t size)
{
    const struct pfi_bmp_header *const h = &s->header;
    size_t end;

    return pfi_mul((size_t)h->stride, (size_t)h->height - 1, &end) &&
           pfi_add(end, (size_t)h->offset, &end) &&
           pfi_add(end, s->row_bytes, &end) && end <= size;
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct bmp_state *const s = decoder->state;
    const struct pfi_bmp_header *const h = &s->header;
    pinfold_status status;

    s->next = decoder->window.top;
    status = pfi_decoder_row_bits(decoder, h->rle ? 8 : h->bits, err);
    if (status)
        return status;
    if (h->rle)
        return start_rle(decoder, s, err);
    s->row_bytes = (size_t)(((uint64_t)h->width * (uint64_t)h->bits + 7) / 8);
    if (s->row_bytes > h->stride)
        return corrupt(err, "levels that need more bits than it has");
    if (!has_rows(s, decoder->size))
        return corrupt(err, "the file is cut short");
    return PINFOLD_OK;
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    struct bmp_state *const s = decoder->state;
    const struct pfi_bmp_header *const h = &s->header;
    const size_t left = (size_t)decoder->window.left;
    const size_t n = (size_t)decoder->window.right - left;
    const int32_t y = h->top_down ? s->next : h->height - 1 - s->next;
    const unsigned char *stored;

    (void)err;
    s->next++;
    if (s->picture) {
        index_row(s, s->picture, 8, 0, n, rgb);
        s->picture += n;
        return PINFOLD_OK;
    }
    stored = decoder->data + (size_t)h->offset + (size_t)h->stride * (size_t)y;
    if (h->bits <= 8)
        index_row(s, stored, h->bits, left, n, rgb);
    else if (h->bits == 16)
        word_row(stored + left * 2, h->green_bits, n, rgb);
    else
        byte_row(h, stored + left * ((size_t)h->bits / 8), n, rgb);
    return PINFOLD_OK;
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    (void)decoder;
    (void)err;
    return PINFOLD_OK;
}

static void close_bmp(struct pfi_decoder *decoder)
{
    (void)decoder;
}

const struct pfi_codec pfi_codec_bmp = {"BMP", sniff_bmp, open_bmp, start,
                                        row,   finish,    close_bmp};
const struct pfi_codec pfi_codec_dib = {"DIB", sniff_dib, open_dib, start,
                                        row,   finish,    close_bmp};
