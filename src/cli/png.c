/* SPDX-License-Identifier: Apache-2.0
 * 8-bit RGB, every row by the Paeth filter, one IDAT: PNG (third edition). */
#include "src/cli/png.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

static unsigned char *put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
    return at + 4;
}

/* The data stand at at + 8 already where `data` is NULL. */
static unsigned char *put_chunk(unsigned char *at, const char *name,
                                const void *data, size_t size)
{
    put32(at, (uint32_t)size);
    memcpy(at + 4, name, 4);
    if (data)
        memcpy(at + 8, data, size);
    return put32(at + 8 + size, (uint32_t)crc32(0, at + 4, (uInt)size + 4));
}

static unsigned char paeth(int left, int up, int corner)
{
    const int dl = abs(up - corner), du = abs(left - corner);
    const int dc = abs(left + up - 2 * corner);

    return (unsigned char)(dl <= du && dl <= dc ? left
                           : du <= dc           ? up
                                                : corner);
}

/* Rows with their filter's number, as they are compressed. */
static unsigned char *filtered(const struct pfi_cli_image *image, size_t *size)
{
    const size_t stride = (size_t)image->width * 3;
    unsigned char *const rows = malloc((stride + 1) * (size_t)image->height);
    unsigned char *out = rows;

    for (int32_t y = 0; rows && y < image->height; y++) {
        const unsigned char *const row = image->rgb + (size_t)y * stride;
        const unsigned char *const above = y ? row - stride : NULL;

        *out++ = 4;
        for (size_t x = 0; x < stride; x++) {
            const int left = x >= 3 ? row[x - 3] : 0;
            const int up = above ? above[x] : 0;
            const int corner = x >= 3 && above ? above[x - 3] : 0;

            *out++ = (unsigned char)(row[x] - paeth(left, up, corner));
        }
    }
    *size = (stride + 1) * (size_t)image->height;
    return rows;
}

unsigned char *pfi_cli_png(const struct pfi_cli_image *image, size_t *size)
{
    unsigned char head[13] = {[8] = 8, [9] = 2}; /* bits a channel, RGB */
    size_t raw_size;
    unsigned char *const raw = filtered(image, &raw_size);
    uLongf packed = compressBound(raw_size);
    unsigned char *const png = raw ? malloc(packed + 100) : NULL, *at = png;

    if (png) {
        memcpy(at, "\x89PNG\r\n\x1a\n", 8);
        put32(put32(head, (uint32_t)image->width), (uint32_t)image->height);
        at = put_chunk(at + 8, "IHDR", head, sizeof(head));
        if (compress2(at + 8, &packed, raw, raw_size, 6) != Z_OK) {
            free(png);
            free(raw);
            return NULL;
        }
        at = put_chunk(at, "IDAT", NULL, packed);
        at = put_chunk(at, "IEND", head, 0);
        *size = (size_t)(at - png);
    }
    free(raw);
    return png;
}
