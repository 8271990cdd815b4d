/* SPDX-License-Identifier: Apache-2.0
 * A PNG writer that takes any chunk. */
#include "tests/support/pngmake.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void put_bytes(struct bytes *b, const void *data, size_t size)
{
    unsigned char *const more = realloc(b->data, b->size + size + 1);

    if (!more)
        abort();
    if (size)
        memcpy(more + b->size, data, size);
    b->data = more;
    b->size += size;
}

static void put32(struct bytes *b, uint32_t v)
{
    const unsigned char s[4] = {(unsigned char)(v >> 24),
                                (unsigned char)(v >> 16),
                                (unsigned char)(v >> 8), (unsigned char)v};

    put_bytes(b, s, 4);
}

void put_signature(struct bytes *b)
{
    put_bytes(b, "\x89PNG\r\n\x1a\n", 8);
}

void put_chunk(struct bytes *b, const char *name, const void *data, size_t size)
{
    size_t start;

    put32(b, (uint32_t)size);
    start = b->size;
    put_bytes(b, name, 4);
    put_bytes(b, data, size);
    put32(b, (uint32_t)crc32(0, b->data + start, (uInt)(size + 4)));
}

void put_packed(struct bytes *b, const char *name, const void *prefix,
                size_t prefix_size, const void *data, size_t size)
{
    uLongf packed_size = compressBound((uLong)size);
    unsigned char *const all = malloc(prefix_size + packed_size);

    if (!all)
        abort();
    if (prefix_size)
        memcpy(all, prefix, prefix_size);
    if (compress2(all + prefix_size, &packed_size, data, (uLong)size, 9) != Z_OK)
        abort();
    put_chunk(b, name, all, prefix_size + packed_size);
    free(all);
}

void put_header(struct bytes *b, uint32_t width, uint32_t height, int depth,
                int colour, int interlace)
{
    const unsigned char s[13] = {
        (unsigned char)(width >> 24),  (unsigned char)(width >> 16),
        (unsigned char)(width >> 8),   (unsigned char)width,
        (unsigned char)(height >> 24), (unsigned char)(height >> 16),
        (unsigned char)(height >> 8),  (unsigned char)height,
        (unsigned char)depth,          (unsigned char)colour,
        0,                             0,
        (unsigned char)interlace};

    put_chunk(b, "IHDR", s, sizeof(s));
}
