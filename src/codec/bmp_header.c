/* SPDX-License-Identifier: Apache-2.0
 * Reads a BMP's headers, refusing what Pillow refuses. */
#include "src/codec/bmp_header.h"

#include <string.h>

#define PFI_BMP_FILE_HEADER 14
#define PFI_BMP_BITFIELDS 3
#define PFI_BMP_COLOURS_MAX 65536

/* What is read on the way to the picture. */
struct source {
    const unsigned char *data;
    size_t size, at;
    uint32_t header_size;
    const unsigned char *header; /* what follows its size */
    uint32_t bits, compression, colours;
    uint32_t masks[4]; /* red, green, blue, alpha */
    uint64_t offset;   /* as the file header gives it */
    int palette_step;
};

static uint32_t get16(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const unsigned char *p)
{
    return get16(p) | get16(p + 2) << 16;
}

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "BMP: %s", why);
}

static pinfold_status unsupported(pinfold_error *err, const char *what,
                                  uint32_t value)
{
    return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0, "BMP: %s %u", what, value);
}

bool pfi_bmp_header_size(uint32_t size)
{
    return size == 12 || size == 40 || size == 52 || size == 56 || size == 64 ||
           size == 108 || size == 124;
}

/* ----------------------------------------------------------- the header --- */

static pinfold_status take_size(struct pfi_bmp_header *out, uint64_t width,
                                uint64_t height, pinfold_error *err)
{
    if (width == 0 || height == 0)
        return corrupt(err, "a side of 0 pixels");
    if (width > INT32_MAX || height > INT32_MAX)
        return pfi_fail(
            err, PINFOLD_E_LIMIT, 0, "BMP: %llu x %llu pixels, limit %d a side",
            (unsigned long long)width, (unsigned long long)height, INT32_MAX);
    out->width = (int32_t)width;
    out->height = (int32_t)height;
    return PINFOLD_OK;
}

/* Those of BITFIELDS, from the header or, where it is too short, behind it. */
static pinfold_status take_masks(struct source *s, pinfold_error *err)
{
    const size_t n = s->header_size - 4;
    const unsigned char *p = s->header + 36;

    if (n < 48) {
        if (s->size - s->at < 12)
            return corrupt(err, "ends in its masks");
        p = s->data + s->at;
        s->at += 12;
    }
    for (int i = 0; i < 3; i++)
        s->masks[i] = get32(p + 4 * i);
    s->masks[3] = n >= 52 ? get32(p + 12) : 0;
    return PINFOLD_OK;
}

static pinfold_status take_header(struct source *s, struct pfi_bmp_header *out,
                                  pinfold_error *err)
{
    const unsigned char *const h = s->header;
    pinfold_status status;

    if (s->header_size == 12) {
        s->bits = get16(h + 6);
        s->palette_step = 3;
        return take_size(out, get16(h), get16(h + 2), err);
    }
    out->top_down = h[7] == 0xFF;
    s->bits = get16(h + 10);
    s->compression = get32(h + 12);
    s->colours = get32(h + 28);
    s->palette_step = 4;
    status = take_size(out, get32(h),
                       out->top_down ? UINT64_C(0x100000000) - get32(h + 4)
                                     : get32(h + 4),
                       err);
    if (!status && s->compression == PFI_BMP_BITFIELDS)
        status = take_masks(s, err);
    return status;
}

static pinfold_status find_header(struct source *s, bool dib,
                                  pinfold_error *err)
{
    if (!dib) {
        if (s->size < PFI_BMP_FILE_HEADER)
            return corrupt(err, "ends in its header");
        s->offset = get32(s->data + 10);
        s->at = PFI_BMP_FILE_HEADER;
    }
    if (s->size - s->at < 4)
        return corrupt(err, "ends in its header");
    s->header_size = get32(s->data + s->at);
    if (!pfi_bmp_header_size(s->header_size))
        return unsupported(err, "header of unknown size", s->header_size);
    if (s->size - s->at < s->header_size)
        return corrupt(err, "ends in its header");
    s->header = s->data + s->at + 4;
    s->at += s->header_size;
    return PINFOLD_OK;
}

/* ------------------------------------------------------- how pixels lie --- */

/* The layouts of BITFIELDS that Pillow knows; of two bytes in a mask it takes
 * the one that the name of its raw mode says. */
static const struct {
    uint32_t bits, masks[4];
    int red, green, blue;
    const char *mode;
} layouts[] = {
    {32, {0xFF0000, 0xFF00, 0xFF, 0}, 2, 1, 0, "RGB"},
    {32, {0xFF000000, 0xFF0000, 0xFF00, 0}, 3, 2, 1, "RGB"},
    {32, {0xFF000000, 0xFF00, 0xFF, 0}, 3, 1, 0, "RGB"},
    {32, {0xFF000000, 0xFF0000, 0xFF00, 0xFF}, 3, 2, 1, "RGBA"},
    {32, {0xFF, 0xFF00, 0xFF0000, 0xFF000000}, 0, 1, 2, "RGBA"},
    {32, {0xFF0000, 0xFF00, 0xFF, 0xFF000000}, 2, 1, 0, "RGBA"},
    {32, {0xFF000000, 0xFF00, 0xFF, 0xFF0000}, 3, 1, 0, "RGBA"},
    {32, {0, 0, 0, 0}, 2, 1, 0, "RGBA"},
    {24, {0xFF0000, 0xFF00, 0xFF}, 2, 1, 0, "RGB"},
    {16, {0xF800, 0x7E0, 0x1F}, 0, 6, 0, "RGB"}, /* green: its bits */
    {16, {0x7C00, 0x3E0, 0x1F}, 0, 5, 0, "RGB"},
};

static pinfold_status take_layout(const struct source *s,
                                  struct pfi_bmp_header *out,
                                  pinfold_error *err)
{
    const size_t n = s->bits == 32 ? sizeof(s->masks) : 3 * sizeof(s->masks[0]);

    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (s->bits != layouts[i].bits || memcmp(s->masks, layouts[i].masks, n))
            continue;
        out->mode = layouts[i].mode;
        out->red = layouts[i].red;
        out->green = layouts[i].green;
        out->blue = layouts[i].blue;
        out->green_bits = layouts[i].green;
        return PINFOLD_OK;
    }
    return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                    "BMP: %u bits a pixel with masks %x %x %x %x", s->bits,
                    s->masks[0], s->masks[1], s->masks[2], s->masks[3]);
}

static pinfold_status take_pixels(const struct source *s,
                                  struct pfi_bmp_header *out,
                                  pinfold_error *err)
{
    if (s->bits != 1 && s->bits != 4 && s->bits != 8 && s->bits != 16 &&
        s->bits != 24 && s->bits != 32)
        return unsupported(err, "bits a pixel:", s->bits);
    out->bits = (int)s->bits;
    out->mode = s->bits <= 8 ? "P" : "RGB";
    out->red = 2;
    out->green = 1;
    out->green_bits = 5;
    if (s->compression == PFI_BMP_BITFIELDS)
        return take_layout(s, out, err);
    if (s->compression > PFI_BMP_RLE4)
        return unsupported(err, "compression", s->compression);
    if (s->compression && s->bits > 8)
        return corrupt(err, "run lengths of colours");
    out->rle = (enum pfi_bmp_rle)s->compression;
    return PINFOLD_OK;
}

/* ---------------------------------------------------------- the palette --- */

/* Whether all entries are those of a ramp, which Pillow takes as levels. */
static bool is_grey(const unsigned char *palette, size_t bytes, size_t step,
                    uint32_t colours)
{
    for (size_t i = 0; i < colours; i++) {
        const size_t at = i * step;
        const unsigned v = colours == 2 && i == 1 ? 255 : i & 255;

        if (bytes < at + 3 || palette[at] != v || palette[at + 1] != v ||
            palette[at + 2] != v)
            return false;
    }
    return true;
}

static pinfold_status take_palette(struct source *s, struct pfi_bmp_header *out,
                                   pinfold_error *err)
{
    const size_t step = (size_t)s->palette_step;
    const unsigned char *const palette = s->data + s->at;
    size_t bytes;

    if (s->colours == 0)
        s->colours = 1u << s->bits;
    if (s->offset == PFI_BMP_FILE_HEADER + (uint64_t)s->header_size)
        s->offset += (uint64_t)step * s->colours;
    if (s->colours > PFI_BMP_COLOURS_MAX)
        return unsupported(err, "colours in the palette:", s->colours);
    bytes = step * s->colours;
    if (bytes > s->size - s->at)
        bytes = s->size - s->at;
    s->at += bytes;
    if (is_grey(palette, bytes, step, s->colours)) {
        out->mode = s->colours <= 2 ? "1" : "L";
        out->bits = s->colours <= 2 ? 1 : 8;
        return PINFOLD_OK;
    }
    if (bytes / step > 256)
        return corrupt(err, "more than 256 colours in the palette");
    out->palette = palette;
    out->palette_size = (int)(bytes / step);
    out->palette_step = s->palette_step;
    return PINFOLD_OK;
}

pinfold_status pfi_bmp_header(const unsigned char *data, size_t size, bool dib,
                              struct pfi_bmp_header *out, pinfold_error *err)
{
    struct source s = {.data = data, .size = size};
    pinfold_status status;

    *out = (struct pfi_bmp_header){0};
    status = find_header(&s, dib, err);
    if (!status)
        status = take_header(&s, out, err);
    if (!status)
        status = take_pixels(&s, out, err);
    if (!status && s.bits <= 8)
        status = take_palette(&s, out, err);
    if (status)
        return status;
    out->stride = ((uint64_t)out->width * s.bits + 31) / 32 * 4;
    out->offset = s.offset ? s.offset : s.at;
    return PINFOLD_OK;
}
