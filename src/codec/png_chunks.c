/* SPDX-License-Identifier: Apache-2.0
 * Walks a PNG's chunks, refusing what Pillow refuses. */
#include "src/codec/png_chunks.h"

#include <string.h>
#include <zlib.h>

#define PFI_CHUNK_HEADER 8
#define PFI_CHUNK_CRC 4

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PNG: %s", why);
}

/* The colour types and depths that Pillow's _MODES knows. */
static const char *mode_of(int depth, int colour)
{
    const bool deep = depth == 8 || depth == 16;

    switch (colour) {
    case 0:
        return depth == 1                                ? "1"
               : depth == 2 || depth == 4 || depth == 8 ? "L"
               : depth == 16                             ? "I;16"
                                                         : NULL;
    case 2: return deep ? "RGB" : NULL;
    case 3:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8 ? "P" : NULL;
    case 4: return deep ? "LA" : NULL;
    case 6: return deep ? "RGBA" : NULL;
    default: return NULL;
    }
}

static pinfold_status take_header(struct pfi_png_info *out,
                                  const unsigned char *s, size_t n,
                                  pinfold_error *err)
{
    if (n < 13)
        return corrupt(err, "the IHDR chunk is cut short");
    if (get32(s) > INT32_MAX || get32(s + 4) > INT32_MAX)
        return corrupt(err, "a side above 2147483647 pixels");
    out->width = (int32_t)get32(s);
    out->height = (int32_t)get32(s + 4);
    out->depth = s[8];
    out->colour = s[9];
    out->interlace = s[12] != 0;
    out->mode = mode_of(s[8], s[9]);
    if (s[11])
        return corrupt(err, "unknown filter method");
    return PINFOLD_OK;
}

static bool is_word(const unsigned char *name)
{
    for (int i = 0; i < 4; i++) {
        const unsigned char c = name[i];

        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

static pinfold_status take_chunk(struct pfi_png_info *out,
                                 const unsigned char *chunk, size_t n,
                                 pinfold_error *err)
{
    const unsigned char *const s = chunk + PFI_CHUNK_HEADER;

    if (crc32(crc32(0, chunk + 4, 4), s, (uInt)n) != get32(s + n))
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "PNG: wrong checksum in the %.4s chunk", chunk + 4);
    if (!memcmp(chunk + 4, "IHDR", 4))
        return take_header(out, s, n, err);
    if (!memcmp(chunk + 4, "PLTE", 4)) {
        out->palette = s;
        out->palette_size = n / 3 > 256 ? 256 : (int)(n / 3);
    }
    return PINFOLD_OK;
}

static pinfold_status check_header(const struct pfi_png_info *out,
                                   pinfold_error *err)
{
    if (!out->mode)
        return corrupt(err, "no header, or an unknown colour type and depth");
    if (out->width == 0 || out->height == 0)
        return corrupt(err, "a side of 0 pixels");
    return PINFOLD_OK;
}

pinfold_status pfi_png_info(const unsigned char *data, size_t size,
                            struct pfi_png_info *out, pinfold_error *err)
{
    size_t at = 8;
    pinfold_status status;

    *out = (struct pfi_png_info){0};
    for (;;) {
        if (size - at < PFI_CHUNK_HEADER)
            return corrupt(err, "ends before the picture begins");
        const size_t n = get32(data + at);
        const unsigned char *const name = data + at + 4;

        if (!is_word(name))
            return corrupt(err, "not a chunk where one was expected");
        if (!memcmp(name, "IDAT", 4) || !memcmp(name, "IEND", 4)) {
            out->idat = at;
            return check_header(out, err);
        }
        if (size - at - PFI_CHUNK_HEADER < n ||
            size - at - PFI_CHUNK_HEADER - n < PFI_CHUNK_CRC)
            return corrupt(err, "a chunk is cut short");
        status = take_chunk(out, data + at, n, err);
        if (status)
            return status;
        at += PFI_CHUNK_HEADER + n + PFI_CHUNK_CRC;
    }
}

bool pfi_png_next_data(struct pfi_png_data *run, const unsigned char **bytes,
                       size_t *n)
{
    const unsigned char *const chunk = run->data + run->next;
    size_t left;

    if (run->next > run->size || run->size - run->next < PFI_CHUNK_HEADER ||
        memcmp(chunk + 4, "IDAT", 4))
        return false;
    left = run->size - run->next - PFI_CHUNK_HEADER;
    *bytes = chunk + PFI_CHUNK_HEADER;
    *n = get32(chunk) < left ? get32(chunk) : left;
    run->next += PFI_CHUNK_HEADER + (size_t)get32(chunk) + PFI_CHUNK_CRC;
    return true;
}

int pfi_png_channels(int colour)
{
    return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
}
