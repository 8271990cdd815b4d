/* SPDX-License-Identifier: Apache-2.0
 * The raw modes that TIFF needs, as a table, and the few loops behind it. */
#include "src/codec/tiff_unpack.h"

#include <string.h>

enum {
    BITS,   /* 1, 2 or 4 bits a sample */
    BYTES,  /* the first of a: L, P */
    PAIRS,  /* grey or index, and alpha */
    PIXELS, /* a bytes a sample, the one at b counts; alpha is 255 if absent */
    BAND,   /* one of four bytes: band a, of samples of b bytes */
    WORDS,  /* 16 bits as they are */
    TWELVE, /* two samples of 12 bits in 3 bytes */
    INTS,   /* a bytes, an integer of 32 bits, maybe signed */
    QUADS,  /* 4 bytes as they are, or the other way round */
};

enum {
    INVERT = 1,  /* white is 0 */
    REVERSE = 2, /* the bits of a byte */
    INDEX = 4,   /* not spread to 0 .. 255 */
    PREMUL = 8,  /* divided by alpha */
    SWAP = 16    /* the other byte order */
};

/* The machine is taken to be little-endian, as everywhere in this library. */
static const struct pfi_unpacker unpackers[] = {
    {"1", "1", 1, BITS, 0, 0, 0},
    {"1", "1;I", 1, BITS, 0, 0, INVERT},
    {"1", "1;R", 1, BITS, 0, 0, REVERSE},
    {"1", "1;IR", 1, BITS, 0, 0, INVERT | REVERSE},
    {"L", "L;2", 2, BITS, 0, 0, 0},
    {"L", "L;2I", 2, BITS, 0, 0, INVERT},
    {"L", "L;2R", 2, BITS, 0, 0, REVERSE},
    {"L", "L;2IR", 2, BITS, 0, 0, INVERT | REVERSE},
    {"L", "L;4", 4, BITS, 0, 0, 0},
    {"L", "L;4I", 4, BITS, 0, 0, INVERT},
    {"L", "L;4R", 4, BITS, 0, 0, REVERSE},
    {"L", "L;4IR", 4, BITS, 0, 0, INVERT | REVERSE},
    {"L", "L", 8, BYTES, 1, 0, 0},
    {"L", "L;I", 8, BYTES, 1, 0, INVERT},
    {"L", "L;R", 8, BYTES, 1, 0, REVERSE},
    {"L", "LX", 16, BYTES, 2, 0, 0},
    {"LA", "LA", 16, PAIRS, 0, 0, 0},
    {"P", "P;1", 1, BITS, 0, 0, INDEX},
    {"P", "P;2", 2, BITS, 0, 0, INDEX},
    {"P", "P;4", 4, BITS, 0, 0, INDEX},
    {"P", "P", 8, BYTES, 1, 0, 0},
    {"P", "P;R", 8, BYTES, 1, 0, REVERSE},
    {"P", "PX", 16, BYTES, 2, 0, 0},
    {"PA", "PA", 16, PAIRS, 0, 0, 0},
    {"RGB", "RGB", 24, PIXELS, 1, 0, 0},
    {"RGB", "RGB;R", 24, PIXELS, 1, 0, REVERSE},
    {"RGB", "RGB;16L", 48, PIXELS, 2, 1, 0},
    {"RGB", "RGB;16N", 48, PIXELS, 2, 1, 0},
    {"RGB", "RGB;16B", 48, PIXELS, 2, 0, 0},
    {"RGB", "RGBX", 32, PIXELS, 1, 0, 0},
    {"RGB", "RGBXX", 40, PIXELS, 1, 0, 0},
    {"RGB", "RGBXXX", 48, PIXELS, 1, 0, 0},
    {"RGB", "RGBX;16L", 64, PIXELS, 2, 1, 0},
    {"RGB", "RGBX;16N", 64, PIXELS, 2, 1, 0},
    {"RGB", "RGBX;16B", 64, PIXELS, 2, 0, 0},
    {"RGB", "R", 8, BAND, 0, 1, 0},
    {"RGB", "G", 8, BAND, 1, 1, 0},
    {"RGB", "B", 8, BAND, 2, 1, 0},
    {"RGBA", "RGBA", 32, PIXELS, 1, 0, 0},
    {"RGBA", "RGBAX", 40, PIXELS, 1, 0, 0},
    {"RGBA", "RGBAXX", 48, PIXELS, 1, 0, 0},
    {"RGBA", "RGBa", 32, PIXELS, 1, 0, PREMUL},
    {"RGBA", "RGBaX", 40, PIXELS, 1, 0, PREMUL},
    {"RGBA", "RGBaXX", 48, PIXELS, 1, 0, PREMUL},
    {"RGBA", "RGBa;16L", 64, PIXELS, 2, 1, PREMUL},
    {"RGBA", "RGBa;16N", 64, PIXELS, 2, 1, PREMUL},
    {"RGBA", "RGBa;16B", 64, PIXELS, 2, 0, PREMUL},
    {"RGBA", "RGBA;16L", 64, PIXELS, 2, 1, 0},
    {"RGBA", "RGBA;16N", 64, PIXELS, 2, 1, 0},
    {"RGBA", "RGBA;16B", 64, PIXELS, 2, 0, 0},
    {"RGBA", "R", 8, BAND, 0, 1, 0},
    {"RGBA", "G", 8, BAND, 1, 1, 0},
    {"RGBA", "B", 8, BAND, 2, 1, 0},
    {"RGBA", "A", 8, BAND, 3, 1, 0},
    {"CMYK", "CMYK", 32, PIXELS, 1, 0, 0},
    {"CMYK", "CMYKX", 40, PIXELS, 1, 0, 0},
    {"CMYK", "CMYKXX", 48, PIXELS, 1, 0, 0},
    {"CMYK", "CMYK;16L", 64, PIXELS, 2, 1, 0},
    {"CMYK", "CMYK;16N", 64, PIXELS, 2, 1, 0},
    {"CMYK", "CMYK;16B", 64, PIXELS, 2, 0, 0},
    {"CMYK", "C", 8, BAND, 0, 1, 0},
    {"CMYK", "M", 8, BAND, 1, 1, 0},
    {"CMYK", "Y", 8, BAND, 2, 1, 0},
    {"CMYK", "K", 8, BAND, 3, 1, 0},
    {"YCbCr", "YCbCr", 24, PIXELS, 1, 0, 0},
    {"I;16", "I;16", 16, WORDS, 0, 0, 0},
    {"I;16", "I;16N", 16, WORDS, 0, 0, 0},
    {"I;16", "I;16R", 16, WORDS, 0, 0, REVERSE},
    {"I;16", "I;12", 12, TWELVE, 0, 0, 0},
    {"I;16B", "I;16B", 16, WORDS, 0, 0, 0},
    {"I;16B", "I;16N", 16, WORDS, 0, 0, SWAP},
    {"I", "I;16S", 16, INTS, 2, 0, 0},
    {"I", "I;16BS", 16, INTS, 2, 0, SWAP},
    {"I", "I", 32, QUADS, 0, 0, 0},
    {"I", "I;32N", 32, QUADS, 0, 0, 0},
    {"I", "I;32S", 32, QUADS, 0, 0, 0},
    {"I", "I;32BS", 32, QUADS, 0, 0, SWAP},
    {"F", "F", 32, QUADS, 0, 0, 0},
    {"F", "F;32F", 32, QUADS, 0, 0, 0},
    {"F", "F;32BF", 32, QUADS, 0, 0, SWAP},
};

static const struct pfi_unpacker bands[2][4] = {
    {{"", "", 8, BAND, 0, 1, 0},
     {"", "", 8, BAND, 1, 1, 0},
     {"", "", 8, BAND, 2, 1, 0},
     {"", "", 8, BAND, 3, 1, 0}},
    {{"", "", 16, BAND, 0, 2, 0},
     {"", "", 16, BAND, 1, 2, 0},
     {"", "", 16, BAND, 2, 2, 0},
     {"", "", 16, BAND, 3, 2, 0}},
};

const struct pfi_unpacker *pfi_unpacker_find(const char *mode, const char *raw,
                                             size_t n)
{
    for (size_t i = 0; i < sizeof(unpackers) / sizeof(unpackers[0]); i++)
        if (!strcmp(unpackers[i].mode, mode) &&
            strlen(unpackers[i].raw) == n && !memcmp(unpackers[i].raw, raw, n))
            return &unpackers[i];
    return NULL;
}

const struct pfi_unpacker *pfi_unpacker_band(int band, int bits)
{
    return &bands[bits == 16][band];
}

/* --------------------------------------------------------------- unpacking --- */

static unsigned char reversed(unsigned char byte)
{
    unsigned v = byte;

    v = (v & 0xF0) >> 4 | (v & 0x0F) << 4;
    v = (v & 0xCC) >> 2 | (v & 0x33) << 2;
    v = (v & 0xAA) >> 1 | (v & 0x55) << 1;
    return (unsigned char)v;
}

static void unpack_bits(const struct pfi_unpacker *u, unsigned char *out,
                        const unsigned char *in, size_t n)
{
    const unsigned depth = u->bits, per_byte = 8 / depth;
    const unsigned mask = (1u << depth) - 1;
    const unsigned scale = u->flags & INDEX ? 1 : 255 / mask;

    for (size_t i = 0; i < n; i++) {
        const unsigned char byte =
            u->flags & REVERSE ? reversed(in[i / per_byte]) : in[i / per_byte];
        const unsigned shift = 8 - depth - (unsigned)(i % per_byte) * depth;
        const unsigned v = ((unsigned)byte >> shift & mask) * scale;

        out[i] = (unsigned char)(u->flags & INVERT ? 255 - v : v);
    }
}

static void unpack_bytes(const struct pfi_unpacker *u, unsigned char *out,
                         const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char v = in[i * u->a];

        out[i] = u->flags & INVERT    ? (unsigned char)~v
                 : u->flags & REVERSE ? reversed(v)
                                      : v;
    }
}

static unsigned char divided(unsigned v, unsigned alpha)
{
    v = v * 255 / alpha;
    return (unsigned char)(v > 255 ? 255 : v);
}

static void unpack_pixels(const struct pfi_unpacker *u, unsigned char *out,
                          const unsigned char *in, size_t n)
{
    const size_t step = u->bits / 8, size = u->a;
    const size_t channels = step / size < 4 ? step / size : 4;

    /* `in` may be `out`, where a pixel is stored as it is kept. */
    for (size_t i = 0; i < n; i++, in += step, out += 4) {
        if (channels < 4)
            out[3] = 255;
        for (size_t c = 0; c < channels; c++) {
            const unsigned char v = in[c * size + u->b];

            out[c] = u->flags & REVERSE ? reversed(v) : v;
        }
        if (!(u->flags & PREMUL) || out[3] == 255)
            continue;
        for (size_t c = 0; c < 3; c++)
            out[c] = out[3] ? divided(out[c], out[3]) : 0;
    }
}

static void unpack_pairs(unsigned char *out, const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < n; i++, in += 2, out += 4) {
        memset(out, in[0], 3);
        out[3] = in[1];
    }
}

static void unpack_band(const struct pfi_unpacker *u, unsigned char *out,
                        const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[4 * i + u->a] = in[(i + 1) * u->b - 1];
}

static void unpack_words(const struct pfi_unpacker *u, unsigned char *out,
                         const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < 2 * n; i++) {
        const unsigned char v = in[u->flags & SWAP ? i ^ 1 : i];

        out[i] = u->flags & REVERSE ? reversed(v) : v;
    }
}

static void unpack_twelve(unsigned char *out, const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char *const p = in + i / 2 * 3;
        const unsigned v = i % 2 ? (p[1] & 15u) << 8 | p[2]
                                 : (unsigned)p[0] << 4 | p[1] >> 4;

        out[2 * i] = (unsigned char)v;
        out[2 * i + 1] = (unsigned char)(v >> 8);
    }
}

/* Signed integers of two bytes, widened. */
static void unpack_ints(const struct pfi_unpacker *u, unsigned char *out,
                        const unsigned char *in, size_t n)
{
    for (size_t i = 0; i < n; i++, in += 2, out += 4) {
        const bool swap = (u->flags & SWAP) != 0;

        out[0] = in[swap];
        out[1] = in[!swap];
        memset(out + 2, out[1] & 0x80 ? 0xFF : 0, 2);
    }
}

static void unpack_quads(const struct pfi_unpacker *u, unsigned char *out,
                         const unsigned char *in, size_t n)
{
    if (!(u->flags & SWAP)) {
        memcpy(out, in, 4 * n);
        return;
    }
    for (size_t i = 0; i < 4 * n; i++)
        out[i] = in[i ^ 3];
}

void pfi_unpack(const struct pfi_unpacker *u, unsigned char *out,
                const unsigned char *in, size_t n)
{
    switch (u->kind) {
    case BITS: unpack_bits(u, out, in, n); break;
    case BYTES: unpack_bytes(u, out, in, n); break;
    case PAIRS: unpack_pairs(out, in, n); break;
    case PIXELS: unpack_pixels(u, out, in, n); break;
    case BAND: unpack_band(u, out, in, n); break;
    case WORDS: unpack_words(u, out, in, n); break;
    case TWELVE: unpack_twelve(out, in, n); break;
    case INTS: unpack_ints(u, out, in, n); break;
    default: unpack_quads(u, out, in, n); break;
    }
}

/* ------------------------------------------------------------------- modes --- */

size_t pfi_mode_size(const char *mode)
{
    if (!strncmp(mode, "I;16", 4))
        return 2;
    return !strcmp(mode, "1") || !strcmp(mode, "L") || !strcmp(mode, "P") ? 1
                                                                          : 4;
}

int pfi_mode_bands(const char *mode)
{
    if (!strcmp(mode, "RGBA") || !strcmp(mode, "CMYK"))
        return 4;
    if (!strcmp(mode, "RGB") || !strcmp(mode, "YCbCr"))
        return 3;
    return !strcmp(mode, "LA") || !strcmp(mode, "PA") ? 2 : 1;
}

static unsigned char clip8(int value)
{
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* a * b / 255, rounded as Pillow's MULDIV255. */
static int muldiv255(int a, int b)
{
    const int t = a * b + 128;

    return ((t >> 8) + t) >> 8;
}

static void cmyk_to_rgb(unsigned char *rgb, const unsigned char *p)
{
    const int nk = 255 - p[3];

    for (int c = 0; c < 3; c++)
        rgb[c] = clip8(nk - muldiv255(p[c], nk));
}

/* An entry of Pillow's tables for YCbCr: factor * (v - 128), times 64. */
static int scaled(double factor, int v)
{
    return (int)(factor * 64 * (v - 128) + 0.5);
}

/* Floor of v / 64. */
static int unscaled(int v)
{
    return v >= 0 ? v / 64 : -((63 - v) / 64);
}

static void ycbcr_to_rgb(unsigned char *rgb, const unsigned char *p)
{
    const int y = p[0], cb = p[1], cr = p[2];

    rgb[0] = clip8(y + unscaled(scaled(1.402, cr)));
    rgb[1] = clip8(y + unscaled(scaled(-0.34414, cb) + scaled(-0.71414, cr)));
    rgb[2] = clip8(y + unscaled(scaled(1.772, cb)));
}

/* One pixel's grey: what clips to 0 .. 255, or is it already. */
static unsigned char grey_of(const char *mode, const unsigned char *p)
{
    int32_t integer;
    float real;

    if (mode[0] == 'F') {
        memcpy(&real, p, 4);
        /* Not a number is 0, as the conversion of x86 makes it. */
        return (unsigned char)(real >= 255.0f ? 255.0f
                               : real > 0.0f  ? real
                                              : 0.0f);
    }
    if (mode[0] != 'I')
        return p[0];
    if (!strcmp(mode, "I;16"))
        return p[1] ? 255 : p[0];
    if (!strcmp(mode, "I;16B"))
        return p[0] ? 255 : p[1];
    memcpy(&integer, p, 4);
    return clip8(integer);
}

void pfi_mode_to_rgb(const char *mode, unsigned char *rgb,
                     const unsigned char *in, size_t n,
                     const unsigned char (*palette)[3])
{
    const size_t step = pfi_mode_size(mode);
    const bool cmyk = mode[0] == 'C', ycbcr = mode[0] == 'Y';

    for (size_t i = 0; i < n; i++, in += step, rgb += 3) {
        if (mode[0] == 'R')
            memcpy(rgb, in, 3);
        else if (mode[0] == 'P')
            memcpy(rgb, palette[in[0]], 3);
        else if (cmyk)
            cmyk_to_rgb(rgb, in);
        else if (ycbcr)
            ycbcr_to_rgb(rgb, in);
        else
            memset(rgb, grey_of(mode, in), 3);
    }
}
