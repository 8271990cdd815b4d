/* SPDX-License-Identifier: Apache-2.0
 * GIF, its first frame, without a library: giflib refuses and accepts other
 * damage than Pillow (GifImagePlugin.py and src/libImaging/GifDecode.c, 13.0.0),
 * whose rules these are. */
#include <string.h>

#include "src/codec/codec.h"

#define PFI_GIF_CODES 4096  /* that the table holds; also the longest string */
#define PFI_GIF_READ 65536  /* bytes that Pillow hands to its decoder at once */
#define PFI_GIF_CODE_BITS 12

/* A cursor over the file; reading at its end gives less, as in Python. */
struct cursor {
    const unsigned char *data;
    size_t size, at;
};

struct lzw {
    uint16_t before[PFI_GIF_CODES]; /* the string without its last symbol */
    unsigned char last[PFI_GIF_CODES];
    unsigned char stack[PFI_GIF_CODES]; /* a string's rest, filled from the end */
    int bits, clear, next, size; /* size is a code's, in bits */
    int code, first;             /* of the string before; -1 after a clear */
};

struct gif_state {
    int32_t left, top, width, height; /* of the frame on the screen */
    bool interlaced;
    bool has_palette;
    unsigned char fill; /* index around the frame */
    unsigned char palette[256][3];
    int bits;      /* of a symbol, as the file says */
    size_t pixels; /* offset of the first block */
    size_t block;  /* bytes left of the current block */
    uint32_t buffer;
    int buffered;
    int32_t x, y; /* in the frame */
    int pass;     /* of an interlaced one, 0 to 3 */
    unsigned char *picture; /* indices, the window's rows, whole */
    int32_t next;           /* row */
    struct lzw lzw;
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "GIF: %s", why);
}

/* ----------------------------------------------------------------- header --- */

static size_t left_of(const struct cursor *c)
{
    return c->size - c->at;
}

/* The next `n` bytes, or NULL where the file has fewer. */
static const unsigned char *take(struct cursor *c, size_t n)
{
    const unsigned char *const p = c->data + c->at;

    if (left_of(c) < n)
        return NULL;
    c->at += n;
    return p;
}

/* A block of an extension: how many bytes of it are there, or -1 where it is the
 * empty one that ends, or the file ends. */
static int take_block(struct cursor *c, const unsigned char **bytes)
{
    const unsigned char *const size = take(c, 1);
    size_t n;

    *bytes = c->data + c->at;
    if (!size || !*size)
        return -1;
    n = *size < left_of(c) ? *size : left_of(c);
    c->at += n;
    return (int)n;
}

static int get16(const unsigned char *p)
{
    return p[0] | p[1] << 8;
}

/* A palette that maps every index to its own grey counts as none. */
static bool take_palette(struct gif_state *s, struct cursor *c, int flags)
{
    const size_t n = (size_t)2 << (flags & 7);
    const unsigned char *const p = take(c, 3 * n);
    bool needed = false;

    if (!p)
        return false;
    for (size_t i = 0; i < 3 * n; i++)
        needed |= p[i] != i / 3;
    if (needed) {
        memset(s->palette, 0, sizeof(s->palette));
        memcpy(s->palette, p, 3 * n);
        s->has_palette = true;
    }
    return true;
}

static pinfold_status take_control(struct gif_state *s,
                                   const unsigned char *block, int n,
                                   pinfold_error *err)
{
    if (n < 3 || (block[0] & 1 && n < 4))
        return corrupt(err, "a graphic control is cut short");
    if (block[0] & 1)
        s->fill = block[3];
    return PINFOLD_OK;
}

/* Behind a '!'.  As Pillow, reads a block more than there should be where the
 * first, or that of a loop's count, is the empty one. */
static pinfold_status take_extension(struct gif_state *s, struct cursor *c,
                                     pinfold_error *err)
{
    const unsigned char *const kind = take(c, 1);
    const unsigned char *block, *more;
    int n;

    if (!kind)
        return corrupt(err, "an extension is cut short");
    n = take_block(c, &block);
    if (*kind == 254) { /* a comment */
        while (n > 0)
            n = take_block(c, &block);
        return PINFOLD_OK;
    }
    if (*kind == 249 && n >= 0) {
        const pinfold_status status = take_control(s, block, n, err);

        if (status)
            return status;
    }
    if (*kind == 255 && n >= 11 && !memcmp(block, "NETSCAPE2.0", 11))
        (void)take_block(c, &more);
    while (take_block(c, &more) > 0)
        continue;
    return PINFOLD_OK;
}

/* Behind a ','. */
static pinfold_status take_frame(struct pfi_decoder *decoder,
                                 struct gif_state *s, struct cursor *c,
                                 pinfold_error *err)
{
    const unsigned char *const p = take(c, 9);
    const unsigned char *bits;

    if (!p)
        return corrupt(err, "the frame's header is cut short");
    s->left = get16(p);
    s->top = get16(p + 2);
    s->width = get16(p + 4);
    s->height = get16(p + 6);
    s->interlaced = (p[8] & 64) != 0;
    if (!s->width || !s->height)
        return corrupt(err, "a frame with a side of 0 pixels");
    if (s->left + s->width > decoder->width)
        decoder->width = s->left + s->width;
    if (s->top + s->height > decoder->height)
        decoder->height = s->top + s->height;
    if (p[8] & 128 && !take_palette(s, c, p[8]))
        return corrupt(err, "the frame's palette is cut short");
    bits = take(c, 1);
    if (!bits)
        return corrupt(err, "the frame is cut short");
    s->bits = *bits;
    s->pixels = c->at;
    return PINFOLD_OK;
}

static bool sniff(const unsigned char *data, size_t size)
{
    return size >= 6 &&
           (!memcmp(data, "GIF87a", 6) || !memcmp(data, "GIF89a", 6));
}

static pinfold_status read_header(struct pfi_decoder *decoder,
                                  struct gif_state *s, pinfold_error *err)
{
    struct cursor c = {decoder->data, decoder->size, 0};
    const unsigned char *p = take(&c, 13);

    if (!p)
        return corrupt(err, "the header is cut short");
    decoder->width = get16(p + 6);
    decoder->height = get16(p + 8);
    if (p[10] & 128 && !take_palette(s, &c, p[10]))
        return corrupt(err, "the palette is cut short");
    /* Whatever is neither an extension nor a frame is skipped. */
    while ((p = take(&c, 1)) && *p != ';') {
        pinfold_status status = PINFOLD_OK;

        if (*p == ',')
            return take_frame(decoder, s, &c, err);
        if (*p == '!')
            status = take_extension(s, &c, err);
        if (status)
            return status;
    }
    return corrupt(err, "no frame");
}

static pinfold_status open_gif(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct gif_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    memset(s, 0, sizeof(*s));
    decoder->state = s;
    status = read_header(decoder, s, err);
    decoder->mode = s->has_palette ? "P" : "L";
    return status;
}

/* ------------------------------------------------------------------ codes --- */

/* Steps to the frame's next row; false behind the last. */
static bool next_row(struct gif_state *s)
{
    static const struct {
        int first, step;
    } passes[4] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};

    s->x = 0;
    s->y += s->interlaced ? passes[s->pass].step : 1;
    while (s->y >= s->height) {
        if (!s->interlaced || s->pass == 3)
            return false;
        s->pass++;
        s->y = passes[s->pass].first;
    }
    return true;
}

/* Puts pixels where they belong; false once the frame is full. */
static bool put(const struct pfi_decoder *decoder, struct gif_state *s,
                const unsigned char *indices, size_t n)
{
    const struct pfi_window *const w = &decoder->window;

    for (size_t i = 0; i < n; i++) {
        const int32_t y = s->top + s->y;

        if (y >= w->top && y < w->bottom)
            s->picture[(size_t)(y - w->top) * (size_t)decoder->width +
                       (size_t)(s->left + s->x)] = indices[i];
        if (++s->x >= s->width && !next_row(s))
            return false;
    }
    return true;
}

static void clear_table(struct lzw *z)
{
    z->next = z->clear + 2;
    z->size = z->bits + 1;
    z->code = -1;
}

/* Adds the string before with the first symbol of this one. */
static void learn(struct lzw *z)
{
    if (z->next >= PFI_GIF_CODES)
        return;
    z->before[z->next] = (uint16_t)z->code;
    z->last[z->next] = (unsigned char)z->first;
    if (z->next == (1 << z->size) - 1 && z->size < PFI_GIF_CODE_BITS)
        z->size++;
    z->next++;
}

/* Expands `code` to the symbol z->first and the `n` bytes at the stack's end;
 * false where there is no such string. */
static bool expand(struct lzw *z, int code, size_t *n)
{
    int c = code;

    *n = 0;
    if (z->code < 0) { /* the first one behind a clear is a symbol */
        if (code > z->clear)
            return false;
        z->first = z->code = code;
        return true;
    }
    if (code > z->next)
        return false;
    if (code == z->next) {
        z->stack[PFI_GIF_CODES - ++*n] = (unsigned char)z->first;
        c = z->code;
    }
    while (c >= z->clear) {
        if (*n == PFI_GIF_CODES || c >= PFI_GIF_CODES)
            return false;
        z->stack[PFI_GIF_CODES - ++*n] = z->last[c];
        c = z->before[c];
    }
    z->first = c;
    learn(z);
    z->code = code;
    return true;
}

/* The next code, from whole blocks before `end` only; -1 where those lack. */
static int next_code(const struct pfi_decoder *decoder, struct gif_state *s,
                     size_t *at, size_t end)
{
    const int size = s->lzw.size;
    int code;

    while (s->buffered < size) {
        if (s->block) {
            s->buffer |= (uint32_t)decoder->data[(*at)++] << s->buffered;
            s->buffered += 8;
            s->block--;
        } else if (*at < end && end - *at > decoder->data[*at]) {
            s->block = decoder->data[(*at)++];
        } else {
            return -1;
        }
    }
    code = (int)(s->buffer & ((1u << size) - 1));
    s->buffer >>= size;
    s->buffered -= size;
    return code;
}

/* Decodes what blocks before `end` hold, or up to an end code, where Pillow
 * comes back for more, too.  *full says that nothing is missing. */
static pinfold_status decode_blocks(const struct pfi_decoder *decoder,
                                    struct gif_state *s, size_t *at, size_t end,
                                    bool *full, pinfold_error *err)
{
    struct lzw *const z = &s->lzw;
    int code;
    size_t n;

    while ((code = next_code(decoder, s, at, end)) >= 0 &&
           code != z->clear + 1) {
        if (code == z->clear) {
            clear_table(z);
            continue;
        }
        if (!expand(z, code, &n))
            return corrupt(err, "broken data stream");
        const unsigned char first = (unsigned char)z->first;

        *full = !put(decoder, s, &first, 1) ||
                !put(decoder, s, z->stack + PFI_GIF_CODES - n, n);
        if (*full)
            break;
    }
    return PINFOLD_OK;
}

/* --------------------------------------------------------------- the codec --- */

static pinfold_status decode(const struct pfi_decoder *decoder,
                             struct gif_state *s, pinfold_error *err)
{
    size_t at = s->pixels, end = at;
    bool full = false;
    pinfold_status status = PINFOLD_OK;

    if (s->bits > PFI_GIF_CODE_BITS)
        return corrupt(err, "symbols of more than 12 bits");
    s->lzw.bits = s->bits;
    s->lzw.clear = 1 << s->bits;
    clear_table(&s->lzw);
    while (!status && !full) {
        const size_t left = decoder->size - end;

        if (!left)
            return corrupt(err, "the file is cut short");
        end += left < PFI_GIF_READ ? left : PFI_GIF_READ;
        status = decode_blocks(decoder, s, &at, end, &full, err);
    }
    return status;
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct gif_state *const s = decoder->state;
    const struct pfi_window *const w = &decoder->window;
    pinfold_status status;
    size_t bytes;

    if (!pfi_mul((size_t)decoder->width, (size_t)(w->bottom - w->top), &bytes))
        bytes = SIZE_MAX;
    status = pfi_decoder_scratch(decoder, bytes, err);
    if (status)
        return status;
    s->picture = pfi_arena_alloc(decoder->arena, bytes);
    if (!s->picture)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a picture");
    memset(s->picture, s->fill, bytes);
    return decode(decoder, s, err);
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    struct gif_state *const s = decoder->state;
    const struct pfi_window *const w = &decoder->window;
    const unsigned char *const p =
        s->picture + (size_t)s->next * (size_t)decoder->width;

    (void)err;
    for (int32_t x = w->left; x < w->right; x++, rgb += 3) {
        if (s->has_palette)
            memcpy(rgb, s->palette[p[x]], 3);
        else
            memset(rgb, p[x], 3);
    }
    s->next++;
    return PINFOLD_OK;
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    (void)decoder;
    (void)err;
    return PINFOLD_OK;
}

static void close_gif(struct pfi_decoder *decoder)
{
    (void)decoder;
}

const struct pfi_codec pfi_codec_gif = {"GIF", sniff,  open_gif, start,
                                        row,   finish, close_gif};
