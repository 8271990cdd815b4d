/* SPDX-License-Identifier: Apache-2.0
 * The walk over a JPEG's headers.  The rules are libjpeg-turbo's (jdmarker.c,
 * jdapimin.c, jdinput.c), but what it would mend or remark on is refused. */
#include "src/codec/fastjpeg/header.h"

#include <string.h>

#define PFI_JPEG_SIDE 65500 /* jmorecfg.h, JPEG_MAX_DIMENSION */

enum {
    SOF0 = 0xC0,
    SOF1 = 0xC1,
    SOF2 = 0xC2,
    DHT = 0xC4,
    SOI = 0xD8,
    SOS = 0xDA,
    DQT = 0xDB,
    DRI = 0xDD,
    APP0 = 0xE0,
    APP14 = 0xEE,
    APP15 = 0xEF,
    COM = 0xFE
};

/* What decides the colours of three components. */
struct colour_hints {
    bool jfif, adobe;
    int transform; /* Adobe's */
};

static const char no_table[] = "a table that is not there";

struct walk {
    struct pfi_fast_header *out;
    struct colour_hints hints;
    bool frame, scan;
};

static int u16(const unsigned char *s)
{
    return s[0] << 8 | s[1];
}

static const char *take_quant(struct walk *w, const unsigned char *s, size_t n)
{
    while (n) {
        const int wide = s[0] >> 4, table = s[0] & 15;
        const size_t length = 1 + (wide ? 128u : 64u);

        if (wide > 1 || table > 3 || n < length)
            return "an unusual quantisation table";
        for (int i = 0; i < 64; i++)
            w->out->quant[table][i] =
                (uint16_t)(wide ? u16(s + 1 + 2 * i) : s[1 + i]);
        w->out->quants |= 1u << table;
        s += length;
        n -= length;
    }
    return NULL;
}

const char *pfi_fast_header_huffman(struct pfi_fast_header *out,
                                    const unsigned char *s, size_t n)
{
    while (n) {
        const int table = s[0] & 15;
        const bool ac = s[0] >> 4 == 1;
        struct pfi_fast_huffman *h;
        size_t count = 0;

        if (s[0] >> 4 > 1 || table > 3 || n < 17)
            return "an unusual Huffman table";
        for (int i = 1; i <= 16; i++)
            count += s[i];
        if (count > 256 || n < 17 + count)
            return "a damaged Huffman table";
        h = ac ? &out->ac[table] : &out->dc[table];
        memset(h, 0, sizeof(*h));
        memcpy(h->counts, s + 1, 16);
        memcpy(h->symbols, s + 17, count);
        *(ac ? &out->acs : &out->dcs) |= 1u << table;
        s += 17 + count;
        n -= 17 + count;
    }
    return NULL;
}

const char *pfi_fast_header_restart(struct pfi_fast_header *out,
                                    const unsigned char *s, size_t n)
{
    if (n != 2)
        return "an unusual restart interval";
    out->restart = (uint32_t)u16(s);
    return NULL;
}

/* Rows of samples, and of a progressive picture all coefficients, as jpeg.c's
 * memory_of() counts them: where that is beyond a limit libjpeg's refusal must
 * stand. */
static uint64_t libjpeg_memory(const struct pfi_fast_header *h)
{
    const struct pfi_fast_component *const c = h->component;
    uint64_t bytes = (uint64_t)h->width * 16;

    for (int i = 0; i < h->n_components; i++) {
        const uint64_t across = (uint64_t)c[0].h * 8;
        const uint64_t width = (uint64_t)h->width * (uint64_t)c[i].h;
        const uint64_t blocks = (width + across - 1) / across;
        const uint64_t own = (uint64_t)c[i].h, own_v = (uint64_t)c[i].v;
        const uint64_t columns = (blocks + own - 1) / own * own;
        const uint64_t high = (uint64_t)c[0].v * 8;
        const uint64_t down = ((uint64_t)h->height * own_v + high - 1) / high;

        bytes += columns * own_v * 128;
        if (h->progressive)
            bytes += columns * ((down + own_v - 1) / own_v * own_v) * 128;
    }
    return bytes;
}

/* Luma 1x1, 2x1 or 2x2 and chroma 1x1.  One component alone is stored block
 * after block, whatever its factors. */
static const char *check_sampling(struct pfi_fast_header *out)
{
    struct pfi_fast_component *const c = out->component;

    for (int i = 0; i < out->n_components; i++)
        if (c[i].h < 1 || c[i].h > 4 || c[i].v < 1 || c[i].v > 4)
            return "sampling factors that are not allowed";
    out->libjpeg_bytes = libjpeg_memory(out);
    if (out->n_components == 1) {
        c[0].h = c[0].v = 1;
        return NULL;
    }
    if (c[1].h != 1 || c[1].v != 1 || c[2].h != 1 || c[2].v != 1 ||
        c[0].h > 2 || c[0].v > c[0].h)
        return "sampled otherwise than 4:4:4, 4:2:2 or 4:2:0";
    if (c[0].id == c[1].id || c[0].id == c[2].id || c[1].id == c[2].id)
        return "two components of one name";
    return NULL;
}

static const char *take_frame(struct walk *w, const unsigned char *s, size_t n)
{
    struct pfi_fast_header *const out = w->out;

    if (w->frame)
        return "two frames";
    if (n < 6 || s[0] != 8)
        return "not 8 bits a sample";
    out->height = u16(s + 1);
    out->width = u16(s + 3);
    out->n_components = s[5];
    if (out->n_components != 1 && out->n_components != 3)
        return "not 1 or 3 components";
    if (n != 6 + 3 * (size_t)out->n_components || !out->height ||
        !out->width || out->height > PFI_JPEG_SIDE ||
        out->width > PFI_JPEG_SIDE)
        return "an unusual frame header";
    for (int i = 0; i < out->n_components; i++, s += 3) {
        out->component[i].id = s[6];
        out->component[i].h = s[7] >> 4;
        out->component[i].v = s[7] & 15;
        out->component[i].quant = s[8];
    }
    w->frame = true;
    return check_sampling(out);
}

/* Of a progressive picture pfi_fast_scans_next() reads all scans later. */
static const char *take_first_scan(struct walk *w)
{
    const struct pfi_fast_header *const h = w->out;

    for (int c = 0; c < h->n_components; c++)
        if (h->component[c].quant > 3 ||
            !(h->quants >> h->component[c].quant & 1))
            return no_table;
    w->scan = true;
    return NULL;
}

static const char *take_scan(struct walk *w, const unsigned char *s, size_t n)
{
    struct pfi_fast_header *const out = w->out;
    const size_t count = (size_t)out->n_components;

    if (!w->frame)
        return "a scan before the frame";
    if (out->progressive)
        return take_first_scan(w);
    if (n < 1 || s[0] != count)
        return "several scans";
    if (n != 4 + 2 * count || s[1 + 2 * count] != 0 || s[2 + 2 * count] != 63 ||
        s[3 + 2 * count] != 0)
        return "an unusual scan header";
    for (size_t i = 0; i < count; i++) {
        struct pfi_fast_component *const c = &out->component[i];

        c->dc = s[2 + 2 * i] >> 4;
        c->ac = s[2 + 2 * i] & 15;
        if (s[1 + 2 * i] != c->id)
            return "components in another order";
        if (c->dc > 3 || c->ac > 3 || c->quant > 3 ||
            !(out->dcs >> c->dc & 1) || !(out->acs >> c->ac & 1) ||
            !(out->quants >> c->quant & 1))
            return no_table;
    }
    w->scan = true;
    return NULL;
}

static const char *take_app(struct colour_hints *hints, int marker,
                            const unsigned char *s, size_t n)
{
    if (marker == APP0 && n >= 14 && !memcmp(s, "JFIF", 5))
        hints->jfif = true;
    if (marker == APP14 && n >= 12 && !memcmp(s, "Adobe", 5)) {
        hints->adobe = true;
        hints->transform = s[11];
    }
    return NULL;
}

static const char *take_segment(struct walk *w, int marker,
                                const unsigned char *s, size_t n)
{
    if ((marker >= APP0 && marker <= APP15) || marker == COM)
        return take_app(&w->hints, marker, s, n);
    switch (marker) {
    case SOF0:
    case SOF1:
    case SOF2:
        w->out->progressive = marker == SOF2;
        return take_frame(w, s, n);
    case DHT: return pfi_fast_header_huffman(w->out, s, n);
    case DQT: return take_quant(w, s, n);
    case SOS: return take_scan(w, s, n);
    case DRI: return pfi_fast_header_restart(w->out, s, n);
    default:
        return marker > SOF2 && marker < 0xD0
                   ? "arithmetic, lossless or hierarchical coding"
                   : "an unusual marker";
    }
}

/* jdapimin.c, default_decompress_parms(). */
static bool is_rgb(const struct pfi_fast_header *h,
                   const struct colour_hints *hints)
{
    const struct pfi_fast_component *const c = h->component;

    if (h->n_components != 3 || hints->jfif)
        return false;
    if (hints->adobe)
        return hints->transform == 0;
    return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
}

const char *pfi_fast_header_read(struct pfi_fast_header *out,
                                 const unsigned char *data, size_t size)
{
    struct walk w = {.out = out};
    size_t at = 2;

    memset(out, 0, sizeof(*out));
    if (size < 2 || data[0] != 0xFF || data[1] != SOI)
        return "no start";
    while (!w.scan) {
        const char *why;
        size_t n;
        int marker;

        if (size - at < 2 || data[at] != 0xFF)
            return "bytes between the headers";
        if (data[at + 1] == 0xFF) { /* padding */
            at++;
            continue;
        }
        marker = data[at + 1];
        if (size - at < 4)
            return "headers cut short";
        n = (size_t)u16(data + at + 2);
        if (n < 2 || size - at - 2 < n)
            return "headers cut short";
        why = take_segment(&w, marker, data + at + 4, n - 2);
        if (why)
            return why;
        out->scan_at = at;
        at += 2 + n;
    }
    out->data_at = at;
    out->rgb = is_rgb(out, &w.hints);
    return NULL;
}
