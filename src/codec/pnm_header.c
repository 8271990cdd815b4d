/* SPDX-License-Identifier: Apache-2.0
 * Reads a PNM's header, refusing what Pillow refuses. */
#include "src/codec/pnm_header.h"

#include <string.h>

#include "src/codec/pnm_number.h"

#define PFI_PNM_MAGIC_MAX 6

static const struct {
    const char *magic, *mode;
    enum pfi_pnm_kind kind;
    int channels;
} kinds[] = {
    {"P1", "1", PFI_PNM_TEXT, 1},
    {"P2", "L", PFI_PNM_TEXT, 1},
    {"P3", "RGB", PFI_PNM_TEXT, 3},
    {"P4", "1", PFI_PNM_BITS, 1},
    {"P5", "L", PFI_PNM_SAMPLES, 1},
    {"P6", "RGB", PFI_PNM_SAMPLES, 3},
    {"Pf", "F", PFI_PNM_FLOATS, 1},
    /* Pillow's own */
    {"P0CMYK", "CMYK", PFI_PNM_SAMPLES, 4},
    {"PyCMYK", "CMYK", PFI_PNM_SAMPLES, 4},
    {"PyRGBA", "RGBA", PFI_PNM_SAMPLES, 4},
    {"PyP", "P", PFI_PNM_SAMPLES, 1},
};

struct source {
    const unsigned char *data;
    size_t size, at;
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PPM: %s", why);
}

static int next(struct source *s)
{
    return s->at < s->size ? s->data[s->at++] : -1;
}

/* The word that the file begins with, and the white space behind it; where
 * that is as long as a word can be, the space is no part of it. */
static pinfold_status take_magic(struct source *s, struct pfi_pnm_header *out,
                                 pinfold_error *err)
{
    size_t n = 0;

    for (int i = 0; i < PFI_PNM_MAGIC_MAX; i++) {
        const int c = next(s);

        if (c < 0 || pfi_pnm_is_space(c))
            break;
        n++;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i].magic) != n || memcmp(s->data, kinds[i].magic, n))
            continue;
        out->mode = kinds[i].mode;
        out->kind = kinds[i].kind;
        out->channels = kinds[i].channels;
        return PINFOLD_OK;
    }
    return pfi_fail(err, PINFOLD_E_FORMAT, 0,
                    "not a picture of a known format");
}

/* The next token and the one white space behind it.  A comment inside a token
 * does not end it. */
static pinfold_status take_token(struct source *s, unsigned char *token,
                                 size_t *n, pinfold_error *err)
{
    *n = 0;
    for (;;) {
        int c = next(s);

        if (c == '#') {
            do
                c = next(s);
            while (c >= 0 && c != '\n' && c != '\r');
            continue;
        }
        if (c < 0 && !*n)
            return corrupt(err, "ends in its header");
        if (c < 0 || (pfi_pnm_is_space(c) && *n))
            return PINFOLD_OK;
        if (pfi_pnm_is_space(c))
            continue;
        if (*n == PFI_PNM_TOKEN_MAX)
            return corrupt(err, "a number of more than 10 characters");
        token[(*n)++] = (unsigned char)c;
    }
}

static pinfold_status take_int(struct source *s, int64_t *out,
                               pinfold_error *err)
{
    unsigned char token[PFI_PNM_TOKEN_MAX];
    pinfold_status status;
    size_t n;

    status = take_token(s, token, &n, err);
    if (status)
        return status;
    if (!pfi_pnm_int(token, n, out))
        return corrupt(err, "not a number in its header");
    return PINFOLD_OK;
}

static pinfold_status take_size(struct source *s, struct pfi_pnm_header *out,
                                pinfold_error *err)
{
    int64_t width, height;
    pinfold_status status;

    status = take_int(s, &width, err);
    if (!status)
        status = take_int(s, &height, err);
    if (status)
        return status;
    if (width <= 0 || height <= 0)
        return corrupt(err, "a side of 0 pixels or less");
    if (width > INT32_MAX || height > INT32_MAX)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "PPM: %lld x %lld pixels, limit %d a side",
                        (long long)width, (long long)height, INT32_MAX);
    out->width = (int32_t)width;
    out->height = (int32_t)height;
    return PINFOLD_OK;
}

static pinfold_status take_scale(struct source *s, struct pfi_pnm_header *out,
                                 pinfold_error *err)
{
    unsigned char token[PFI_PNM_TOKEN_MAX];
    pinfold_status status;
    size_t n;

    status = take_token(s, token, &n, err);
    if (status)
        return status;
    if (!pfi_pnm_scale(token, n, &out->little_endian))
        return corrupt(err, "its scale is 0, or not a finite number");
    return PINFOLD_OK;
}

static pinfold_status take_maxval(struct source *s, struct pfi_pnm_header *out,
                                  pinfold_error *err)
{
    pinfold_status status;
    int64_t maxval;

    status = take_int(s, &maxval, err);
    if (status)
        return status;
    if (maxval <= 0 || maxval > 65535)
        return corrupt(err, "its maximum is not in 1..65535");
    out->maxval = (unsigned)maxval;
    if (maxval > 255 && !strcmp(out->mode, "L"))
        out->mode = "I";
    return PINFOLD_OK;
}

pinfold_status pfi_pnm_header(const unsigned char *data, size_t size,
                              struct pfi_pnm_header *out, pinfold_error *err)
{
    struct source s = {data, size, 0};
    pinfold_status status;

    *out = (struct pfi_pnm_header){.maxval = 1};
    status = take_magic(&s, out, err);
    if (!status)
        status = take_size(&s, out, err);
    if (!status && out->kind == PFI_PNM_FLOATS)
        status = take_scale(&s, out, err);
    else if (!status && out->mode[0] != '1')
        status = take_maxval(&s, out, err);
    out->offset = s.at;
    return status;
}
