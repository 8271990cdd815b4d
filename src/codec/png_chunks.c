/* SPDX-License-Identifier: Apache-2.0
 * Walks a PNG's chunks, refusing what Pillow refuses. */
#include "src/codec/png_chunks.h"

#include <string.h>
#include <zlib.h>

#include "src/codec/png_text.h"

#define PFI_CHUNK_HEADER 8
#define PFI_CHUNK_CRC 4
/* Pillow hands zlib at most so much of one chunk (ImageFile.MAXBLOCK); a wrong
 * checksum counts only where it lies in the block that ends the last row. */
#define PFI_PNG_BLOCK 65536

struct chunk {
    const unsigned char *name, *s;
    uint32_t n;
};

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static bool is(const struct chunk *c, const char *name)
{
    return !memcmp(c->name, name, 4);
}

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PNG: %s", why);
}

static pinfold_status cut(pinfold_error *err)
{
    return corrupt(err, "the file is cut short");
}

/* Moves on by n bytes, at most to the end of the file. */
static void skip(struct pfi_png_info *info, uint64_t n)
{
    const size_t left = info->size - info->at;

    info->at += n < left ? (size_t)n : left;
}

/* ------------------------------------------------------- contents of chunks --- */

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
    case 4: return depth == 8 ? "LA" : depth == 16 ? "RGBA" : NULL;
    case 6: return deep ? "RGBA" : NULL;
    default: return NULL;
    }
}

static pinfold_status take_header(struct pfi_png_info *info,
                                  const struct chunk *c, pinfold_error *err)
{
    const char *mode;

    if (c->n < 13)
        return corrupt(err, "the IHDR chunk is cut short");
    info->header_width = get32(c->s);
    info->header_height = get32(c->s + 4);
    mode = mode_of(c->s[8], c->s[9]);
    if (mode) { /* else that of an earlier header stays */
        info->mode = mode;
        info->depth = c->s[8];
        info->colour = c->s[9];
    }
    if (c->s[12])
        info->interlace = true;
    if (c->s[11])
        return corrupt(err, "unknown filter method");
    return PINFOLD_OK;
}

/* Pillow's _simple_palette: all opaque but one entry.  As in its expression, a
 * line feed may follow. */
static bool one_transparent(const unsigned char *s, size_t n)
{
    size_t zeros = 0, i = 0;

    for (; i < n && (s[i] == 0xFF || s[i] == 0); i++)
        zeros += s[i] == 0;
    return zeros == 1 && (i == n || (i == n - 1 && s[i] == '\n'));
}

static pinfold_status take_transparency(struct pfi_png_info *info,
                                        const struct chunk *c,
                                        pinfold_error *err)
{
    const char *const mode = info->mode ? info->mode : "";
    const bool rgb = !strcmp(mode, "RGB");

    if (!strcmp(mode, "P"))
        info->transparency = one_transparent(c->s, c->n) ? PFI_PNG_TRNS_INT
                                                         : PFI_PNG_TRNS_BYTES;
    if (!rgb && strcmp(mode, "1") && strcmp(mode, "L") && strcmp(mode, "I;16"))
        return PINFOLD_OK;
    if (c->n < (rgb ? 6 : 2))
        return corrupt(err, "the tRNS chunk is cut short");
    info->transparency = !rgb                         ? PFI_PNG_TRNS_INT
                         : c->s[0] | c->s[2] | c->s[4] ? PFI_PNG_TRNS_DEEP
                                                       : PFI_PNG_TRNS_COLOUR;
    return PINFOLD_OK;
}

static pinfold_status take_animation(struct pfi_png_info *info,
                                     const struct chunk *c)
{
    const uint32_t frames = get32(c->s);

    if (info->has_frames)
        info->has_frames = false;
    else if (frames && frames <= 0x80000000) {
        info->has_frames = true;
        info->frames = frames;
    }
    return PINFOLD_OK;
}

static pinfold_status next_sequence(struct pfi_png_info *info, uint32_t number,
                                    pinfold_error *err)
{
    if (info->has_sequence ? (uint64_t)info->sequence + 1 != number
                           : number != 0)
        return corrupt(err, "frames out of sequence");
    info->has_sequence = true;
    info->sequence = number;
    return PINFOLD_OK;
}

static pinfold_status take_frame(struct pfi_png_info *info,
                                 const struct chunk *c, pinfold_error *err)
{
    const unsigned char *const s = c->s;
    const uint32_t width = get32(s + 4), height = get32(s + 8);
    const uint32_t left = get32(s + 12), top = get32(s + 16);
    const pinfold_status status = next_sequence(info, get32(s), err);

    if (status)
        return status;
    if ((uint64_t)left + width > info->header_width ||
        (uint64_t)top + height > info->header_height)
        return corrupt(err, "a frame outside the picture");
    info->has_box = true;
    info->box_is_text = false;
    info->box[0] = left;
    info->box[1] = top;
    info->box[2] = width;
    info->box[3] = height;
    return PINFOLD_OK;
}

/* The sequence number before a frame's data.  Moves behind it. */
static pinfold_status take_frame_data(struct pfi_png_info *info, uint32_t n,
                                      pinfold_error *err)
{
    const unsigned char *const s = info->data + info->at;

    if (n < 4 || info->size - info->at < 4)
        return corrupt(err, "the fdAT chunk is cut short");
    if (!info->has_sequence)
        return corrupt(err, "frames out of sequence");
    skip(info, 4);
    return next_sequence(info, get32(s), err);
}

/* Chunks that Pillow wants to have a size, whatever they say. */
static const struct {
    char name[5];
    uint32_t least;
} shortest[] = {{"gAMA", 4}, {"cHRM", 32}, {"sRGB", 1},
                {"pHYs", 9}, {"acTL", 8},  {"fcTL", 26}};

static pinfold_status check_length(const struct chunk *c, pinfold_error *err)
{
    for (size_t i = 0; i < sizeof(shortest) / sizeof(shortest[0]); i++)
        if (is(c, shortest[i].name) && c->n < shortest[i].least)
            return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                            "PNG: the %s chunk is cut short", shortest[i].name);
    return PINFOLD_OK;
}

/* A chunk that holds no picture and does not end the file. */
static pinfold_status take_contents(struct pfi_png_info *info,
                                    const struct chunk *c, pinfold_error *err)
{
    const pinfold_status status = check_length(c, err);

    if (status)
        return status;
    if (is(c, "IHDR"))
        return take_header(info, c, err);
    if (is(c, "PLTE") && info->mode && !strcmp(info->mode, "P")) {
        info->palette = c->s;
        info->palette_bytes = c->n;
    }
    if (is(c, "tRNS"))
        return take_transparency(info, c, err);
    if (is(c, "acTL"))
        return take_animation(info, c);
    if (is(c, "fcTL"))
        return take_frame(info, c, err);
    if (is(c, "tEXt"))
        return pfi_png_text(info, c->s, c->n, err);
    if (is(c, "zTXt"))
        return pfi_png_ztxt(info, c->s, c->n, err);
    if (is(c, "iTXt"))
        return pfi_png_itxt(info, c->s, c->n, err);
    if (is(c, "iCCP"))
        return pfi_png_iccp(info, c->s, c->n, err);
    return PINFOLD_OK;
}

/* ---------------------------------------------------------------- the walks --- */

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

/* Reads a chunk's size and name; false where there is none. */
static bool chunk_header(struct pfi_png_info *info, struct chunk *c)
{
    const unsigned char *const p = info->data + info->at;

    if (info->size - info->at < PFI_CHUNK_HEADER || !is_word(p + 4))
        return false;
    info->at += PFI_CHUNK_HEADER;
    *c = (struct chunk){p + 4, p + PFI_CHUNK_HEADER, get32(p)};
    return true;
}

/* Moves over a chunk's contents, all of which must be there. */
static pinfold_status whole_chunk(struct pfi_png_info *info, uint32_t n,
                                  pinfold_error *err)
{
    if (info->size - info->at < n)
        return corrupt(err, "a chunk is cut short");
    info->at += n;
    return PINFOLD_OK;
}

static pinfold_status check_crc(struct pfi_png_info *info, const struct chunk *c,
                                pinfold_error *err)
{
    if (info->size - info->at < PFI_CHUNK_CRC)
        return cut(err);
    if (crc32(crc32(0, c->name, 4), c->s, c->n) !=
        get32(info->data + info->at))
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "PNG: wrong checksum in the %.4s chunk",
                        (const char *)c->name);
    info->at += PFI_CHUNK_CRC;
    return PINFOLD_OK;
}

/* Whether the picture's data begin with this chunk. */
static pinfold_status begins(struct pfi_png_info *info, const struct chunk *c,
                             bool *yes, pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;

    *yes = false;
    if (is(c, "fdAT")) {
        status = take_frame_data(info, c->n, err);
        info->left = status ? 0 : c->n - 4;
    } else if (is(c, "IDAT")) {
        info->left = c->n;
    } else {
        return PINFOLD_OK;
    }
    if (!info->has_box && info->has_frames)
        info->default_image = true;
    /* An IDAT before a known header is a chunk like any. */
    *yes = info->mode != NULL;
    return !status && !*yes && is(c, "fdAT") ? cut(err) : status;
}

/* What the data fill, and whether this is an animation of several frames. */
static pinfold_status place_tile(struct pfi_png_info *info, pinfold_error *err)
{
    const uint32_t *const box = info->box;

    info->tile.width = info->width = (int32_t)info->header_width;
    info->tile.height = info->height = (int32_t)info->header_height;
    info->animated = info->has_frames &&
                     (uint64_t)info->frames + info->default_image > 1;
    if (!info->has_box)
        return PINFOLD_OK;
    if (info->box_is_text || !box[2] || !box[3] ||
        (uint64_t)box[0] + box[2] > info->header_width ||
        (uint64_t)box[1] + box[3] > info->header_height)
        return corrupt(err, "a frame outside the picture");
    info->tile.left = (int32_t)box[0];
    info->tile.top = (int32_t)box[1];
    info->tile.width = (int32_t)box[2];
    info->tile.height = (int32_t)box[3];
    return PINFOLD_OK;
}

static pinfold_status check_header(struct pfi_png_info *info, pinfold_error *err)
{
    if (info->header_width == 0 || info->header_height == 0)
        return corrupt(err, "a side of 0 pixels");
    if (info->header_width > INT32_MAX || info->header_height > INT32_MAX)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "PNG: %llu x %llu pixels, limit %d a side",
                        (unsigned long long)info->header_width,
                        (unsigned long long)info->header_height, INT32_MAX);
    return place_tile(info, err);
}

pinfold_status pfi_png_open(struct pfi_png_info *info, pinfold_error *err)
{
    struct chunk c;
    pinfold_status status;
    bool data;

    info->at = PFI_CHUNK_HEADER; /* the signature is as long */
    for (;;) {
        if (!chunk_header(info, &c))
            return corrupt(err, "not a chunk where one was expected");
        if (is(&c, "IEND"))
            return corrupt(err, info->mode ? "ends without a picture"
                                           : "no known colour type and depth");
        status = begins(info, &c, &data, err);
        if (status)
            return status;
        if (data)
            return check_header(info, err);
        status = whole_chunk(info, c.n, err);
        if (!status)
            status = take_contents(info, &c, err);
        if (!status)
            status = check_crc(info, &c, err);
        if (status)
            return status;
    }
}

pinfold_status pfi_png_next_data(struct pfi_png_info *info,
                                 const unsigned char **bytes, size_t *n,
                                 pinfold_error *err)
{
    struct chunk c;
    size_t at;

    while (!info->left) {
        skip(info, PFI_CHUNK_CRC);
        if (!chunk_header(info, &c) ||
            (!is(&c, "IDAT") && !is(&c, "DDAT") && !is(&c, "fdAT")))
            return cut(err);
        info->left = c.n;
        if (is(&c, "fdAT")) {
            const pinfold_status status = take_frame_data(info, c.n, err);

            if (status)
                return status;
            info->left -= 4;
        }
    }
    at = info->at;
    *bytes = info->data + at;
    *n = info->left < PFI_PNG_BLOCK ? info->left : PFI_PNG_BLOCK;
    info->left -= (uint32_t)*n;
    skip(info, *n);
    *n = info->at - at;
    return *n ? PINFOLD_OK : cut(err);
}

/* What convert("RGB") refuses of a picture that is not RGB already. */
static pinfold_status check_conversion(const struct pfi_png_info *info,
                                       pinfold_error *err)
{
    const enum pfi_png_trns t = info->transparency;
    const bool p = !strcmp(info->mode, "P"), l = !strcmp(info->mode, "L");
    const bool colour = t == PFI_PNG_TRNS_COLOUR || t == PFI_PNG_TRNS_DEEP;

    if (info->palette &&
        (info->palette_bytes / 3 > 256 || (!p && !l && strcmp(info->mode, "LA"))))
        return corrupt(err, "a palette of more than 256 colours, or of a "
                            "picture that can have none");
    if ((t == PFI_PNG_TRNS_TEXT && (p || l)) || (colour && l) ||
        (t == PFI_PNG_TRNS_DEEP && p) ||
        ((t == PFI_PNG_TRNS_INT || colour) && p && !info->palette))
        return corrupt(err, "transparency that does not fit the picture");
    return PINFOLD_OK;
}

pinfold_status pfi_png_end(struct pfi_png_info *info, pinfold_error *err)
{
    struct pfi_png_info later = *info; /* the mode of a second header is not ours */
    struct chunk c;
    pinfold_status status = PINFOLD_OK;

    skip(&later, info->left);
    for (;;) {
        skip(&later, PFI_CHUNK_CRC);
        if (!chunk_header(&later, &c) || is(&c, "IEND") ||
            (is(&c, "fcTL") && info->animated))
            break;
        if (is(&c, "fdAT")) {
            status = take_frame_data(&later, c.n, err);
            c.n -= 4;
        }
        if (!status)
            status = whole_chunk(&later, c.n, err);
        if (!status && !is(&c, "IDAT") && !is(&c, "fdAT"))
            status = take_contents(&later, &c, err);
        if (status)
            return status;
    }
    info->transparency = later.transparency;
    return check_conversion(info, err);
}

int pfi_png_channels(int colour)
{
    return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
}
