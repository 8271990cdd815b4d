/* SPDX-License-Identifier: Apache-2.0
 * Decodes run lengths as BmpRleDecoder of Pillow 13.0.0 does, which knows two
 * places: how many pixels there are, and the column that clips the runs. */
#include "src/codec/bmp_rle.h"

struct rle {
    const struct pfi_decoder *decoder;
    const unsigned char *data;
    size_t size, at;
    bool four, top_down;
    unsigned char *out;
    uint64_t width, total, done; /* pixels */
    uint64_t x;          /* the column that clips; may be beyond width */
    int64_t row, column; /* of pixel `done`, as stored */
};

static void put(struct rle *r, unsigned index)
{
    const struct pfi_window *const w = &r->decoder->window;
    const int64_t y = r->top_down ? r->row : r->decoder->height - 1 - r->row;

    if (r->out && y >= w->top && y < w->bottom && r->column >= w->left &&
        r->column < w->right)
        r->out[(size_t)(y - w->top) * (size_t)(w->right - w->left) +
               (size_t)(r->column - w->left)] = (unsigned char)index;
    r->done++;
    if (++r->column == r->decoder->width) {
        r->column = 0;
        r->row++;
    }
}

/* Goes on over n pixels of index 0. */
static void skip(struct rle *r, uint64_t n)
{
    r->done += n;
    r->row = (int64_t)(r->done / r->width);
    r->column = (int64_t)(r->done % r->width);
}

static void encoded(struct rle *r, unsigned count, unsigned byte)
{
    const uint64_t room = r->x < r->width ? r->width - r->x : 0;
    const unsigned n = count < room ? count : (unsigned)room;

    for (unsigned i = 0; i < n; i++)
        put(r, !r->four ? byte : i % 2 ? byte & 15 : byte >> 4);
    r->x += n;
}

/* False where the stream ends. */
static bool delta(struct rle *r)
{
    const uint64_t left = r->total - r->done;
    uint64_t n;

    if (r->size - r->at < 2)
        return false;
    n = r->data[r->at] + r->data[r->at + 1] * r->width;
    r->at += 2;
    skip(r, n < left ? n : left);
    r->x = r->done % r->width;
    return true;
}

/* False where the stream or the picture ends. */
static bool absolute(struct rle *r, unsigned count)
{
    const uint64_t left = r->total - r->done;
    const unsigned n = count < left ? count : (unsigned)left;
    const unsigned bytes = r->four ? (n + 1) / 2 : n;
    const size_t there = r->size - r->at;

    if (there < bytes)
        return false;
    for (unsigned i = 0; i < n; i++) {
        const unsigned byte = r->data[r->at + (r->four ? i / 2 : i)];

        put(r, !r->four ? byte : i % 2 ? byte & 15 : byte >> 4);
    }
    r->at += bytes;
    r->x += n;
    if (r->at % 2 && r->at < r->size) /* of the file, not of the stream */
        r->at++;
    return r->done < r->total;
}

/* False where the stream ends. */
static bool step(struct rle *r)
{
    const unsigned count = r->size - r->at < 2 ? 0 : r->data[r->at];
    unsigned byte;

    if (r->size - r->at < 2)
        return false;
    byte = r->data[r->at + 1];
    r->at += 2;
    if (count) {
        encoded(r, count, byte);
        return true;
    }
    switch (byte) {
    case 0: /* end of the row */
        if (r->column)
            skip(r, r->width - (uint64_t)r->column);
        r->x = 0;
        return true;
    case 1: return false; /* end of the picture */
    case 2: return delta(r);
    default: return absolute(r, byte);
    }
}

bool pfi_bmp_rle(const struct pfi_decoder *decoder, uint64_t offset, bool four,
                 bool top_down, unsigned char *out)
{
    struct rle r = {
        .decoder = decoder,
        .data = decoder->data,
        .size = decoder->size,
        .at = offset < decoder->size ? (size_t)offset : decoder->size,
        .four = four,
        .top_down = top_down,
        .out = out,
        .width = (uint64_t)decoder->width,
        .total = (uint64_t)decoder->width * (uint64_t)decoder->height,
    };

    while (r.done < r.total && step(&r))
        ;
    return r.done >= r.total;
}
