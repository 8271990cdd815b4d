/* SPDX-License-Identifier: Apache-2.0
 * PBM, PGM, PPM and PFM, with Pillow's pixels: rows are read where they lie,
 * plain ones number by number. */
#include <string.h>

#include "src/codec/codec.h"
#include "src/codec/pnm_header.h"
#include "src/codec/pnm_text.h"

struct pnm_state {
    struct pfi_pnm_header header;
    struct pfi_pnm_text text;
    size_t bits;               /* of a pixel; of text, none */
    int32_t next;              /* row */
    unsigned char levels[256]; /* of the one-byte samples */
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PPM: %s", why);
}

/* --------------------------------------------------------------- levels --- */

/* Python's round() of a value that is not negative. */
static unsigned round_half_even(double value)
{
    const unsigned whole = (unsigned)value;
    const double rest = value - whole;

    return whole + (rest > 0.5 || (rest == 0.5 && whole % 2));
}

/* Grey of two bytes is first scaled to two bytes, mode "I", and clipped by the
 * conversion to RGB; all else is scaled to one byte. */
static unsigned char level(const struct pfi_pnm_header *h, unsigned sample)
{
    const double most = h->mode[0] == 'I' ? 65535.0 : 255.0;
    const unsigned v = round_half_even((double)sample / h->maxval * most);

    return (unsigned char)(v < 255 ? v : 255);
}

/* a * b / 255, rounded as Pillow's MULDIV255. */
static int muldiv255(int a, int b)
{
    const int t = a * b + 128;

    return ((t >> 8) + t) >> 8;
}

static void pixel(const struct pfi_pnm_header *h, const unsigned char *levels,
                  unsigned char *rgb)
{
    switch (h->mode[0]) {
    case 'C': /* Convert.c's cmyk2rgb() */
        for (int c = 0; c < 3; c++)
            rgb[c] = (unsigned char)(255 - levels[3] -
                                     muldiv255(levels[c], 255 - levels[3]));
        break;
    case 'P': /* the file has no palette, and Pillow's own is black */
        memset(rgb, 0, 3);
        break;
    case 'R': memcpy(rgb, levels, 3); break;
    default: memset(rgb, levels[0], 3); break;
    }
}

/* ----------------------------------------------------------------- rows --- */

static void bit_row(const unsigned char *row, size_t left, size_t n,
                    unsigned char *rgb)
{
    for (size_t i = left; i < left + n; i++, rgb += 3)
        memset(rgb, row[i / 8] >> (7 - i % 8) & 1 ? 0 : 255, 3);
}

static void sample_row(const struct pnm_state *s, const unsigned char *row,
                       size_t n, unsigned char *rgb)
{
    const struct pfi_pnm_header *const h = &s->header;
    const int channels = h->channels;
    unsigned char levels[4];

    for (size_t i = 0; i < n; i++, rgb += 3) {
        for (int c = 0; c < channels; c++) {
            if (h->maxval > 255) {
                levels[c] = level(h, (unsigned)row[0] << 8 | row[1]);
                row += 2;
            } else {
                levels[c] = s->levels[*row++];
            }
        }
        pixel(h, levels, rgb);
    }
}

/* Convert.c's f2l(), which takes what is not a number for 0. */
static void float_row(const unsigned char *row, bool little_endian, size_t n,
                      unsigned char *rgb)
{
    for (size_t i = 0; i < n; i++, row += 4, rgb += 3) {
        uint32_t bits = 0;
        float v;

        for (int k = 0; k < 4; k++)
            bits = bits << 8 | row[little_endian ? 3 - k : k];
        memcpy(&v, &bits, sizeof(v));
        memset(rgb, !(v > 0) ? 0 : v >= 255 ? 255 : (int)v, 3);
    }
}

static unsigned char text_level(const struct pnm_state *s, unsigned value)
{
    if (s->text.bits)
        return value ? 0 : 255;
    return value > 255 ? level(&s->header, value) : s->levels[value];
}

/* The next row of text, whether wanted or not; rgb may be NULL. */
static pinfold_status text_row(struct pfi_decoder *decoder, unsigned char *rgb,
                               pinfold_error *err)
{
    struct pnm_state *const s = decoder->state;
    const struct pfi_window *const w = &decoder->window;
    unsigned char levels[4];
    pinfold_status status;
    unsigned value;

    s->next++;
    for (int32_t x = 0; x < decoder->width; x++) {
        for (int c = 0; c < s->header.channels; c++) {
            status = pfi_pnm_text_next(&s->text, &value, err);
            if (status)
                return status;
            levels[c] = text_level(s, value);
        }
        if (rgb && x >= w->left && x < w->right)
            pixel(&s->header, levels, rgb + 3 * (size_t)(x - w->left));
    }
    return PINFOLD_OK;
}

/* ------------------------------------------------------------ the codec --- */

static bool sniff(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 'P' && data[1] &&
           strchr("0123456fy", data[1]);
}

static size_t pixel_bits(const struct pfi_pnm_header *h)
{
    switch (h->kind) {
    case PFI_PNM_BITS: return 1;
    case PFI_PNM_FLOATS: return 32;
    default: return (size_t)h->channels * (h->maxval > 255 ? 16 : 8);
    }
}

static pinfold_status open_pnm(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct pnm_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    memset(s, 0, sizeof(*s));
    decoder->state = s;
    status = pfi_pnm_header(decoder->data, decoder->size, &s->header, err);
    if (status)
        return status;
    decoder->width = s->header.width;
    decoder->height = s->header.height;
    decoder->mode = s->header.mode;
    s->bits = pixel_bits(&s->header);
    for (unsigned i = 0; i < 256; i++)
        s->levels[i] = level(&s->header, i);
    return PINFOLD_OK;
}

static size_t row_bytes(const struct pnm_state *s)
{
    return ((size_t)s->header.width * s->bits + 7) / 8;
}

/* Of a pixel in the decoder that Pillow gives it to. */
static int decoder_bits(const struct pfi_pnm_header *h)
{
    const bool text = h->kind == PFI_PNM_TEXT;

    if (h->mode[0] == '1')
        return text ? 8 : 1;
    if (h->mode[0] == 'I' && !text && h->maxval == 65535)
        return 16;
    return h->mode[0] == 'I' || h->mode[0] == 'F' ? 32 : 8 * h->channels;
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct pnm_state *const s = decoder->state;
    const struct pfi_pnm_header *const h = &s->header;
    const size_t there = decoder->size - h->offset;
    const bool text = h->kind == PFI_PNM_TEXT;
    /* A number is at least one byte. */
    const size_t row =
        text ? (size_t)h->width * (size_t)h->channels : row_bytes(s);
    pinfold_status status;
    size_t wanted;

    status = pfi_decoder_row_bits(decoder, decoder_bits(h), err);
    if (status)
        return status;
    if (!pfi_mul(row, (size_t)h->height, &wanted) || there < wanted)
        return corrupt(err, "the file is cut short");
    if (text)
        pfi_pnm_text_start(&s->text, decoder->data, decoder->size, h->offset,
                           h->mode[0] == '1', h->maxval);
    else
        s->next = decoder->window.top;
    return PINFOLD_OK;
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    struct pnm_state *const s = decoder->state;
    const struct pfi_pnm_header *const h = &s->header;
    const size_t left = (size_t)decoder->window.left;
    const size_t n = (size_t)decoder->window.right - left;
    pinfold_status status = PINFOLD_OK;
    const unsigned char *stored;
    int32_t y;

    if (h->kind == PFI_PNM_TEXT) {
        while (!status && s->next < decoder->window.top)
            status = text_row(decoder, NULL, err);
        return status ? status : text_row(decoder, rgb, err);
    }
    y = s->next++;
    if (h->kind == PFI_PNM_FLOATS)
        y = h->height - 1 - y;
    stored = decoder->data + h->offset + row_bytes(s) * (size_t)y;
    if (h->kind == PFI_PNM_BITS)
        bit_row(stored, left, n, rgb);
    else if (h->kind == PFI_PNM_FLOATS)
        float_row(stored + left * 4, h->little_endian, n, rgb);
    else
        sample_row(s, stored + left * (s->bits / 8), n, rgb);
    return PINFOLD_OK;
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct pnm_state *const s = decoder->state;
    pinfold_status status = PINFOLD_OK;

    if (s->header.kind != PFI_PNM_TEXT)
        return PINFOLD_OK;
    while (!status && s->next < decoder->height)
        status = text_row(decoder, NULL, err);
    return status ? status : pfi_pnm_text_end(&s->text, err);
}

static void close_pnm(struct pfi_decoder *decoder)
{
    (void)decoder;
}

const struct pfi_codec pfi_codec_pnm = {"PPM", sniff,  open_pnm, start,
                                        row,   finish, close_pnm};
