/* SPDX-License-Identifier: Apache-2.0
 * A PNG writer for pictures of one colour. */
#include "tests/support/tinypng.h"

#include <string.h>
#include <zlib.h>

static unsigned char *put32(unsigned char *p, uint32_t value)
{
    p[0] = (unsigned char)(value >> 24);
    p[1] = (unsigned char)(value >> 16);
    p[2] = (unsigned char)(value >> 8);
    p[3] = (unsigned char)value;
    return p + 4;
}

static unsigned char *chunk(unsigned char *p, const char *name,
                            const unsigned char *data, size_t size)
{
    p = put32(p, (uint32_t)size);
    unsigned char *const start = p;
    memcpy(p, name, 4);
    if (size)
        memcpy(p + 4, data, size);
    p += 4 + size;
    return put32(p, (uint32_t)crc32(0, start, (uInt)(4 + size)));
}

size_t tiny_png(unsigned char *out, int width, int height, uint32_t colour)
{
    static const unsigned char signature[8] = {0x89, 'P',  'N',  'G',
                                               '\r', '\n', 0x1A, '\n'};
    unsigned char header[13] = {0}, rows[8 * (1 + 8 * 3)], packed[512];
    unsigned char *p = rows;
    uLongf packed_size = sizeof(packed);

    put32(put32(header, (uint32_t)width), (uint32_t)height);
    header[8] = 8;
    header[9] = 2;
    for (int y = 0; y < height; y++) {
        *p++ = 0;
        for (int x = 0; x < width; x++) {
            *p++ = (unsigned char)(colour >> 16);
            *p++ = (unsigned char)(colour >> 8);
            *p++ = (unsigned char)colour;
        }
    }
    (void)compress2(packed, &packed_size, rows, (uLong)(p - rows), 6);
    memcpy(out, signature, 8);
    p = chunk(out + 8, "IHDR", header, sizeof(header));
    p = chunk(p, "IDAT", packed, packed_size);
    p = chunk(p, "IEND", NULL, 0);
    return (size_t)(p - out);
}
