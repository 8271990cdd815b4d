/* SPDX-License-Identifier: Apache-2.0
 * Finds what PngImagePlugin.py of Pillow 13.0.0 takes for a PNG's EXIF block and
 * XMP: eXIf, and text chunks of four names, also behind the picture. */
#include <string.h>
#include <zlib.h>

#include "src/codec/exif.h"

/* A key of Image.info.  As in Python, text and bytes differ: Pillow takes text
 * for an EXIF block nowhere, and fails. */
struct value {
    const unsigned char *bytes; /* NULL = not set */
    size_t size;
    bool text;
    bool bare; /* of an eXIf chunk */
};

struct walk {
    struct pfi_arena *arena;
    uint64_t limit;
    struct value exif, profile, xml, xmp;
    bool animated;
};

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PNG: %s", why);
}

/* The key of that name, or NULL where nobody asks for it. */
static struct value *slot(struct walk *w, const unsigned char *name, size_t n)
{
    const struct {
        const char *name;
        struct value *value;
    } names[] = {{"exif", &w->exif},
                 {"Raw profile type exif", &w->profile},
                 {"XML:com.adobe.xmp", &w->xml},
                 {"xmp", &w->xmp}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i].name) == n && !memcmp(names[i].name, name, n))
            return names[i].value;
    return NULL;
}

/* --------------------------------------------------------------- inflating --- */

/* INFLATED also where the stream is cut short. */
enum result { INFLATED, BROKEN, LONGER, NO_MEMORY };

/* Inflates to `out` of `room` bytes, or, where it is NULL, only counts up to
 * `room`. */
static enum result inflate_all(const struct value *in, unsigned char *out,
                               uint64_t room, size_t *size)
{
    unsigned char scrap[4096];
    z_stream zlib = {.next_in = (z_const Bytef *)(uintptr_t)in->bytes,
                     .avail_in = (uInt)in->size};
    int code = inflateInit(&zlib);

    *size = 0;
    if (code != Z_OK)
        return NO_MEMORY;
    do {
        const uint64_t left = room - *size;
        const uInt step = left < sizeof(scrap) ? (uInt)left : sizeof(scrap);

        zlib.next_out = out ? out + *size : scrap;
        zlib.avail_out = step;
        code = step ? inflate(&zlib, Z_NO_FLUSH) : Z_BUF_ERROR;
        *size += step - zlib.avail_out;
    } while (code == Z_OK && (zlib.avail_in || !zlib.avail_out));
    const bool longer = code != Z_STREAM_END && zlib.avail_in > 0;

    (void)inflateEnd(&zlib);
    if (code == Z_MEM_ERROR)
        return NO_MEMORY;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return BROKEN;
    return longer ? LONGER : INFLATED;
}

/* *ok is false where the stream is broken; what there was is then no value. */
static pinfold_status inflated(struct walk *w, struct value *value, bool *ok,
                               pinfold_error *err)
{
    unsigned char *out;
    size_t size;
    enum result result = inflate_all(value, NULL, w->limit, &size);

    *ok = result == INFLATED;
    if (result == LONGER)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "PNG: a text chunk of more than %llu bytes",
                        (unsigned long long)w->limit);
    if (result == BROKEN)
        return PINFOLD_OK;
    out = *ok ? pfi_arena_alloc(w->arena, size + 1) : NULL;
    if (out)
        result = inflate_all(value, out, size + 1, &size);
    if (!out || result == NO_MEMORY)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a text");
    value->bytes = out;
    value->size = size;
    return PINFOLD_OK;
}

/* ------------------------------------------------------------------ chunks --- */

/* Splits at the first NUL: false where there is none. */
static bool split(struct value *rest, struct value *head)
{
    const unsigned char *const nul =
        rest->size ? memchr(rest->bytes, 0, rest->size) : NULL;

    if (!nul)
        return false;
    *head = (struct value){rest->bytes, (size_t)(nul - rest->bytes), true, false};
    rest->size -= head->size + 1;
    rest->bytes = nul + 1;
    return true;
}

static void take_text(struct walk *w, struct value v)
{
    struct value key;
    struct value *to;

    if (!split(&v, &key)) {
        key = v;
        v.bytes += v.size;
        v.size = 0;
    }
    to = slot(w, key.bytes, key.size);
    if (to)
        *to = (struct value){v.bytes, v.size, to != &w->exif, false};
}

static pinfold_status take_ztext(struct walk *w, struct value v,
                                 pinfold_error *err)
{
    struct value key;
    struct value *to;
    pinfold_status status;
    bool ok;

    if (!split(&v, &key)) {
        key = v;
        v.bytes += v.size;
        v.size = 0;
    }
    if (v.size && v.bytes[0])
        return corrupt(err, "unknown compression of a text");
    to = slot(w, key.bytes, key.size);
    if (!to)
        return PINFOLD_OK;
    if (v.size) {
        v.bytes++;
        v.size--;
    }
    status = inflated(w, &v, &ok, err);
    *to = (struct value){v.bytes, ok ? v.size : 0, true, false};
    return status;
}

/* Whether Python decodes the bytes as UTF-8. */
static bool is_utf8(const struct value *v)
{
    for (size_t i = 0; i < v->size;) {
        const unsigned char *const s = v->bytes + i;
        const size_t n = s[0] < 0x80                      ? 1
                         : s[0] >= 0xC2 && s[0] <= 0xDF ? 2
                         : (s[0] & 0xF0) == 0xE0        ? 3
                         : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                                        : 0;

        if (n == 0 || v->size - i < n)
            return false;
        for (size_t k = 1; k < n; k++)
            if ((s[k] & 0xC0) != 0x80)
                return false;
        if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
            (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
            return false;
        i += n;
    }
    return true;
}

static pinfold_status take_itext(struct walk *w, struct value v,
                                 pinfold_error *err)
{
    struct value key, language, translated;
    struct value *to;
    bool ok = true;

    if (!split(&v, &key) || v.size < 2)
        return PINFOLD_OK;
    const bool packed = v.bytes[0] != 0, unknown = v.bytes[1] != 0;

    v.bytes += 2;
    v.size -= 2;
    to = slot(w, key.bytes, key.size);
    if (!split(&v, &language) || !split(&v, &translated) || !to ||
        (packed && unknown))
        return PINFOLD_OK;
    if (packed) {
        const pinfold_status status = inflated(w, &v, &ok, err);

        if (status || !ok)
            return status;
    }
    if (to == &w->xml)
        w->xmp = (struct value){v.bytes, v.size, false, false};
    if (is_utf8(&language) && is_utf8(&translated) && is_utf8(&v))
        *to = (struct value){v.bytes, v.size, true, false};
    return PINFOLD_OK;
}

static pinfold_status take_chunk(struct walk *w, const unsigned char *chunk,
                                 size_t n, pinfold_error *err)
{
    const struct value v = {.bytes = chunk + 8, .size = n};

    if (!memcmp(chunk + 4, "eXIf", 4))
        w->exif = (struct value){v.bytes, v.size, false, true};
    else if (!memcmp(chunk + 4, "tEXt", 4))
        take_text(w, v);
    else if (!memcmp(chunk + 4, "zTXt", 4))
        return take_ztext(w, v, err);
    else if (!memcmp(chunk + 4, "iTXt", 4))
        return take_itext(w, v, err);
    else if (!memcmp(chunk + 4, "acTL", 4) && n >= 8)
        w->animated = get32(chunk + 8) > 1;
    return PINFOLD_OK;
}

/* ----------------------------------------------------------------- profiles --- */

static int digit(unsigned char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The profile is hexadecimal, below three lines of heading. */
static pinfold_status take_profile(struct walk *w, pinfold_error *err)
{
    const unsigned char *p = w->profile.bytes;
    const unsigned char *const end = p + w->profile.size;
    unsigned char *const out = pfi_arena_alloc(w->arena, w->profile.size / 2 + 1);
    size_t n = 0;

    if (!out)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a profile");
    for (int line = 0; p < end && line < 3; p++)
        line += *p == '\n';
    for (; p < end; p++) {
        if (*p == '\n' || *p == ' ' || (*p >= '\t' && *p <= '\r'))
            continue;
        const unsigned char *q = p + 1;

        while (q < end && *q == '\n')
            q++;
        if (digit(*p) < 0 || q == end || digit(*q) < 0)
            return corrupt(err, "the EXIF profile is not hexadecimal");
        out[n++] = (unsigned char)(digit(*p) << 4 | digit(*q));
        p = q;
    }
    w->exif = (struct value){out, n, false, false};
    return PINFOLD_OK;
}

static pinfold_status hand_over(struct walk *w, struct pfi_exif *out,
                                pinfold_error *err)
{
    const bool has_xml = w->xml.bytes && w->xml.size;
    const struct value *const xmp = has_xml ? &w->xml : &w->xmp;
    pinfold_status status = PINFOLD_OK;

    if (!w->exif.bytes && w->profile.bytes)
        status = take_profile(w, err);
    if (status)
        return status;
    if (w->exif.bytes && w->exif.text)
        return corrupt(err, "an EXIF block in a text chunk");
    out->exif = w->exif.bytes;
    out->exif_size = w->exif.size;
    out->bare = w->exif.bare;
    if (xmp->bytes && xmp->size) {
        out->xmp = xmp->bytes;
        out->xmp_size = xmp->size;
    }
    out->xmp_is_text = xmp == &w->xmp && xmp->text;
    return PINFOLD_OK;
}

pinfold_status pfi_exif_from_png(struct pfi_exif *out, struct pfi_arena *arena,
                                 const unsigned char *data, size_t size,
                                 uint64_t limit, pinfold_error *err)
{
    struct walk w = {.arena = arena, .limit = limit};
    bool behind = false;
    size_t at = 8;

    *out = (struct pfi_exif){0};
    while (size - at >= 8) {
        const size_t n = get32(data + at);
        const unsigned char *const name = data + at + 4;
        pinfold_status status;

        behind |= !memcmp(name, "IDAT", 4);
        if (!memcmp(name, "IEND", 4) || size - at - 8 < n ||
            (behind && w.animated && !memcmp(name, "fcTL", 4)))
            break;
        status = take_chunk(&w, data + at, n, err);
        if (status)
            return status;
        if (size - at - 8 - n < 4)
            break;
        at += 8 + n + 4;
    }
    return hand_over(&w, out, err);
}
