/* SPDX-License-Identifier: Apache-2.0
 * Text and profile chunks: nothing of them is kept but how long they are, and
 * what a keyword that Pillow also uses itself does to the picture. */
#include "src/codec/png_text.h"

#include <string.h>
#include <zlib.h>

/* Pillow's MAX_TEXT_MEMORY in units of MAX_TEXT_CHUNK. */
#define PFI_PNG_TEXTS 64
/* What all chunks may inflate to, in the same units: as much again for profiles,
 * which Pillow does not count, and a megabyte of which could cost a second. */
#define PFI_PNG_INFLATED (2 * PFI_PNG_TEXTS)

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PNG: %s", why);
}

/* ------------------------------------------------------------------ UTF-8 --- */

/* Counts characters, and finds what Python's strict decoder refuses. */
struct utf8 {
    uint64_t count;
    int more;             /* bytes that the character still lacks */
    unsigned low, high;   /* what the next of them may be */
    bool wrong;
};

static void utf8_first(struct utf8 *u, unsigned c)
{
    u->low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    u->high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (c < 0x80)
        u->more = 0;
    else if (c >= 0xC2 && c <= 0xDF)
        u->more = 1;
    else if (c >= 0xE0 && c <= 0xEF)
        u->more = 2;
    else if (c >= 0xF0 && c <= 0xF4)
        u->more = 3;
    else
        u->wrong = true;
    u->count++;
}

static void utf8_push(struct utf8 *u, const unsigned char *s, size_t n)
{
    for (size_t i = 0; i < n && !u->wrong; i++) {
        if (!u->more) {
            utf8_first(u, s[i]);
            continue;
        }
        u->wrong = s[i] < u->low || s[i] > u->high;
        u->low = 0x80;
        u->high = 0xBF;
        u->more--;
    }
}

static bool is_utf8(const unsigned char *s, size_t n)
{
    struct utf8 u = {0};

    utf8_push(&u, s, n);
    return !u.wrong && !u.more;
}

/* --------------------------------------------------------------- inflating --- */

struct inflated {
    uint64_t bytes;
    struct utf8 text;
    bool broken;
};

static pinfold_status too_large(const struct pfi_png_info *info,
                                const char *name, pinfold_error *err)
{
    return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                    "PNG: the %s chunk inflates to more than the limit of "
                    "%llu bytes",
                    name, (unsigned long long)info->limits->ancillary);
}

static pinfold_status check_total(const struct pfi_png_info *info,
                                  const char *how, uint64_t bytes,
                                  uint64_t times, pinfold_error *err)
{
    const uint64_t one = info->limits->ancillary;
    const uint64_t limit = one > UINT64_MAX / times ? UINT64_MAX : one * times;

    if (bytes > limit)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "PNG: %llu bytes %s text and profile chunks, limit %llu",
                        (unsigned long long)bytes, how,
                        (unsigned long long)limit);
    return PINFOLD_OK;
}

/* Inflates as Python's decompressobj().decompress(s, limit) does: a stream that
 * is cut is none to complain of, and a limit that is met while there is input
 * left is. */
static pinfold_status inflate_all(struct pfi_png_info *info, const char *name,
                                  const unsigned char *s, size_t n,
                                  struct inflated *out, pinfold_error *err)
{
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)s,
                  .avail_in = (uInt)n};
    unsigned char buffer[16384];
    int code = Z_OK;

    *out = (struct inflated){0};
    if (inflateInit(&z) != Z_OK)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory to inflate");
    do {
        const uint64_t room = info->limits->ancillary - out->bytes;

        if (!room)
            break;
        z.next_out = buffer;
        z.avail_out = room < sizeof(buffer) ? (uInt)room : sizeof(buffer);
        code = inflate(&z, Z_SYNC_FLUSH);
        out->broken = code != Z_OK && code != Z_BUF_ERROR &&
                      code != Z_STREAM_END;
        out->bytes += (uint64_t)(z.next_out - buffer);
        utf8_push(&out->text, buffer, (size_t)(z.next_out - buffer));
    } while (!out->broken && code != Z_STREAM_END &&
             (z.avail_in || !z.avail_out));
    (void)inflateEnd(&z);
    if (code == Z_MEM_ERROR)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory to inflate");
    if (!out->broken && code != Z_STREAM_END && z.avail_in)
        return too_large(info, name, err);
    info->inflated += out->bytes;
    return check_total(info, "inflated from", info->inflated, PFI_PNG_INFLATED,
                       err);
}

/* ---------------------------------------------------------------- keywords --- */

static bool is_key(const unsigned char *key, size_t n, const char *name)
{
    return n == strlen(name) && !memcmp(key, name, n);
}

/* Pillow keeps texts in the dictionary that holds its own entries. */
static pinfold_status keep(struct pfi_png_info *info, const unsigned char *key,
                           size_t n, uint64_t length, pinfold_error *err)
{
    if (is_key(key, n, "interlace"))
        info->interlace = length > 0;
    else if (is_key(key, n, "transparency"))
        info->transparency = PFI_PNG_TRNS_TEXT;
    else if (is_key(key, n, "default_image"))
        info->default_image = length > 0;
    else if (is_key(key, n, "bbox"))
        info->has_box = info->box_is_text = true;
    info->text += length;
    return check_total(info, "in", info->text, PFI_PNG_TEXTS, err);
}

/* Bytes before the first NUL, or all. */
static size_t key_size(const unsigned char *s, size_t n)
{
    const unsigned char *const end = n ? memchr(s, 0, n) : NULL;

    return end ? (size_t)(end - s) : n;
}

pinfold_status pfi_png_text(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err)
{
    const size_t key = key_size(s, n);

    return key ? keep(info, s, key, n - key - (key < n), err) : PINFOLD_OK;
}

pinfold_status pfi_png_ztxt(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err)
{
    const size_t key = key_size(s, n);
    size_t at = key + 1;
    struct inflated text;
    pinfold_status status;

    if (at < n && s[at])
        return corrupt(err, "unknown compression method in the zTXt chunk");
    at = at < n ? at + 1 : n;
    status = inflate_all(info, "zTXt", s + at, n - at, &text, err);
    if (status || !key)
        return status;
    return keep(info, s, key, text.broken ? 0 : text.bytes, err);
}

pinfold_status pfi_png_itxt(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err)
{
    const size_t key = key_size(s, n);
    const size_t lang = key + 3; /* behind the NUL, a flag and a method */
    size_t lang_size, tag, tag_size, at;
    struct inflated text = {0};
    pinfold_status status;

    if (lang > n)
        return PINFOLD_OK;
    lang_size = key_size(s + lang, n - lang);
    tag = lang + lang_size + 1;
    if (tag > n)
        return PINFOLD_OK;
    tag_size = key_size(s + tag, n - tag);
    at = tag + tag_size + 1;
    if (at > n || (s[key + 1] && s[key + 2]))
        return PINFOLD_OK;
    if (s[key + 1]) {
        status = inflate_all(info, "iTXt", s + at, n - at, &text, err);
        if (status || text.broken)
            return status;
    } else {
        utf8_push(&text.text, s + at, n - at);
    }
    if (text.text.wrong || text.text.more || !is_utf8(s + lang, lang_size) ||
        !is_utf8(s + tag, tag_size))
        return PINFOLD_OK;
    return keep(info, s, key, text.text.count, err);
}

pinfold_status pfi_png_iccp(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err)
{
    const size_t key = key_size(s, n);
    struct inflated profile; /* a broken one is none */

    if (n - key < 2 || s[key + 1])
        return corrupt(err, "unknown compression method in the iCCP chunk");
    return inflate_all(info, "iCCP", s + key + 2, n - key - 2, &profile, err);
}
