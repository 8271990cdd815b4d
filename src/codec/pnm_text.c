/* SPDX-License-Identifier: Apache-2.0
 * Takes numbers and comments from text as PpmPlainDecoder of Pillow 13.0.0
 * does.  A comment goes with the end of its line, so that what stands before
 * and behind it is one number. */
#include "src/codec/pnm_text.h"

#include <string.h>

#include "src/codec/pnm_number.h"

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "PPM: %s", why);
}

static void enter_block(struct pfi_pnm_text *t)
{
    const size_t left = t->size - t->at;

    t->block = t->at;
    t->block_end = t->at + (left < PFI_PNM_BLOCK ? left : PFI_PNM_BLOCK);
}

void pfi_pnm_text_start(struct pfi_pnm_text *text, const unsigned char *data,
                        size_t size, size_t offset, bool bits, unsigned maxval)
{
    *text = (struct pfi_pnm_text){.data = data,
                                  .size = size,
                                  .at = offset,
                                  .bits = bits,
                                  .maxval = maxval};
    enter_block(text);
}

/* Goes behind the line end that ends a comment, if the block has one. */
static bool leave_comment(struct pfi_pnm_text *t)
{
    const unsigned char *const from = t->data + t->at;
    const size_t n = t->block_end - t->at;
    const unsigned char *const lf = memchr(from, '\n', n);
    const unsigned char *const cr = memchr(from, '\r', n);
    const unsigned char *end = !lf || (cr && cr < lf) ? cr : lf;

    if (!end)
        return false;
    /* Pillow multiplies the two positions to see whether there are both. */
    if (end == t->data + t->block && lf && cr)
        end = end == lf ? cr : lf;
    t->at = (size_t)(end + 1 - t->data);
    return true;
}

/* The next character of the current block that is in no comment, or -1; a
 * comment that goes on behind the block takes the reader there where `follow`
 * is set. */
static int next_in_block(struct pfi_pnm_text *t, bool follow)
{
    while (t->at < t->block_end) {
        if (t->data[t->at] != '#')
            return t->data[t->at++];
        while (!leave_comment(t)) {
            t->at = t->block_end;
            if (!follow || t->at == t->size)
                return -1;
            enter_block(t);
        }
    }
    return -1;
}

/* As above in all of the file; -1 at its end. */
static int next(struct pfi_pnm_text *t)
{
    for (;;) {
        const int c = next_in_block(t, true);

        if (c >= 0 || t->at == t->size)
            return c;
        enter_block(t);
    }
}

static pinfold_status next_bit(struct pfi_pnm_text *t, unsigned *value,
                               pinfold_error *err)
{
    int c;

    do
        c = next(t);
    while (pfi_pnm_is_space(c));
    if (c < 0)
        return corrupt(err, "the file is cut short");
    if (c != '0' && c != '1')
        return corrupt(err, "neither 0 nor 1");
    *value = (unsigned)(c - '0');
    return PINFOLD_OK;
}

pinfold_status pfi_pnm_text_next(struct pfi_pnm_text *text, unsigned *value,
                                 pinfold_error *err)
{
    unsigned char token[PFI_PNM_TOKEN_MAX];
    size_t n = 0;
    int64_t number;
    int c;

    if (text->bits)
        return next_bit(text, value, err);
    do
        c = next(text);
    while (pfi_pnm_is_space(c));
    for (; c >= 0 && !pfi_pnm_is_space(c); c = next(text)) {
        if (n == PFI_PNM_TOKEN_MAX)
            return corrupt(err, "a number of more than 10 characters");
        token[n++] = (unsigned char)c;
    }
    if (!n)
        return corrupt(err, "the file is cut short");
    if (!pfi_pnm_int(token, n, &number))
        return corrupt(err, "not a number");
    if (number < 0 || number > text->maxval)
        return corrupt(err, "a number out of range");
    *value = (unsigned)number;
    return PINFOLD_OK;
}

pinfold_status pfi_pnm_text_end(struct pfi_pnm_text *text, pinfold_error *err)
{
    size_t n = 0;
    int c;

    while ((c = next_in_block(text, false)) >= 0) {
        n = pfi_pnm_is_space(c) ? 0 : n + 1;
        if (text->bits && n && c != '0' && c != '1')
            return corrupt(err, "neither 0 nor 1 behind the picture");
    }
    if (!text->bits && n > PFI_PNM_TOKEN_MAX)
        return corrupt(err, "a number of more than 10 characters");
    return PINFOLD_OK;
}
