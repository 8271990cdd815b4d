/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer's mutator for PNG: changes chunks, or the rows that the pixels'
 * chunks hold once they are inflated, and puts lengths, checksums and the
 * deflation right again, so that the change is met behind them. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/pngmake.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned seed);

#define MOST_CHUNKS 64
#define ROOM (1 << 17) /* of one chunk, or of all rows */
#define GROWTH 64

struct chunk {
    char name[5];
    const uint8_t *data;
    size_t size;
};

struct png {
    struct chunk chunks[MOST_CHUNKS];
    int n;
    const uint8_t *behind; /* the last chunk */
    size_t behind_size;
};

static uint8_t changed[ROOM], rows[ROOM];

/* A small generator of its own: what comes out depends on the seed alone. */
static unsigned draw_below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % n;
}

static bool take_apart(struct png *png, const uint8_t *data, size_t size)
{
    size_t at = 8;

    png->n = 0;
    while (png->n < MOST_CHUNKS && at + 12 <= size) {
        struct chunk *const c = &png->chunks[png->n];
        const size_t length = (size_t)data[at] << 24 |
                              (size_t)data[at + 1] << 16 |
                              (size_t)data[at + 2] << 8 | data[at + 3];

        if (length > size - at - 12)
            break;
        memcpy(c->name, data + at + 4, 4);
        c->name[4] = '\0';
        c->data = data + at + 8;
        c->size = length;
        at += length + 12;
        png->n++;
    }
    png->behind = data + at;
    png->behind_size = size > at ? size - at : 0;
    return png->n > 0 && size >= 8;
}

static void mutate_chunk(struct chunk *c)
{
    if (c->size > ROOM - GROWTH)
        return;
    memcpy(changed, c->data, c->size);
    c->size = LLVMFuzzerMutate(changed, c->size, c->size + GROWTH);
    c->data = changed;
}

/* All pixels' chunks become one, the others empty. */
static void mutate_rows(struct png *png, int level)
{
    z_stream z = {0};
    struct chunk *first = NULL;
    uLongf packed = sizeof(changed);

    if (inflateInit(&z) != Z_OK)
        return;
    z.next_out = rows;
    z.avail_out = sizeof(rows) - GROWTH;
    for (int i = 0; i < png->n; i++) {
        struct chunk *const c = &png->chunks[i];

        if (strcmp(c->name, "IDAT") != 0)
            continue;
        z.next_in = (Bytef *)(uintptr_t)c->data;
        z.avail_in = (uInt)c->size;
        (void)inflate(&z, Z_SYNC_FLUSH);
        first = first ? first : c;
        c->size = 0;
    }
    (void)inflateEnd(&z);
    if (!first)
        return;
    const size_t size =
        LLVMFuzzerMutate(rows, z.total_out, z.total_out + GROWTH);

    if (compress2(changed, &packed, rows, (uLong)size, level) == Z_OK) {
        first->data = changed;
        first->size = packed;
    }
}

static void rearrange(struct png *png, unsigned *seed)
{
    const int i = (int)draw_below(seed, (unsigned)png->n);
    const int k = (int)draw_below(seed, (unsigned)png->n);
    const struct chunk kept = png->chunks[i];

    switch (draw_below(seed, 3)) {
    case 0: /* exchange */
        png->chunks[i] = png->chunks[k];
        png->chunks[k] = kept;
        break;
    case 1: /* remove */
        png->n--;
        memmove(&png->chunks[i], &png->chunks[i + 1],
                (size_t)(png->n - i) * sizeof(kept));
        break;
    default: /* copy */ png->chunks[k] = kept; break;
    }
}

static size_t put_together(const struct png *png, uint8_t *data, size_t size,
                           size_t most)
{
    struct bytes out = {0};

    put_signature(&out);
    for (int i = 0; i < png->n; i++)
        put_chunk(&out, png->chunks[i].name, png->chunks[i].data,
                  png->chunks[i].size);
    put_bytes(&out, png->behind, png->behind_size);
    if (out.size <= most) {
        memcpy(data, out.data, out.size);
        size = out.size;
    }
    free(out.data);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned seed)
{
    const unsigned kind = draw_below(&seed, 8);
    struct png png;

    if (kind == 0 || !take_apart(&png, data, size))
        return LLVMFuzzerMutate(data, size, most);
    if (kind == 1)
        rearrange(&png, &seed);
    else if (kind < 5)
        mutate_rows(&png, (int)draw_below(&seed, 10));
    else
        mutate_chunk(&png.chunks[draw_below(&seed, (unsigned)png.n)]);
    return put_together(&png, data, size, most);
}
