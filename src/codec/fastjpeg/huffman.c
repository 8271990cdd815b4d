/* SPDX-License-Identifier: Apache-2.0
 * Builds the lookup tables.  An entry for m bits is its first symbol in front
 * of the entry for the bits that this leaves, so all entries for 0, 1, 2, ...
 * bits are made in turn, each in constant time and without searching. */
#include "src/codec/fastjpeg/huffman.h"

#include <string.h>

/* While tables are being built an entry is, from its lowest bit on: 8 for the
 * bits used, 8 for the advance, 8 for the first value's offset, 3 for the
 * distance of the last value from the first, and two flags. */
#define USED(entry) ((entry) & 255)
#define ADVANCE(entry) ((entry) >> 8 & 255)
#define OFFSET(entry) ((entry) >> 16 & 255)
#define SPAN(entry) ((entry) >> 24 & 7)
#define HAS_VALUE 0x08000000u
#define ENDS 0x10000000u

/* One symbol with its value's bits. */
struct symbol {
    uint32_t bits;     /* of code and value */
    uint32_t run;
    bool has_value, end;
};

struct level {
    uint32_t *control;
    uint64_t *values;
};

/* The entries for `bits` bits. */
static struct level level_of(struct pfi_fast_building *room, uint32_t bits)
{
    return (struct level){room->control + (1u << bits),
                          room->values + (1u << bits)};
}

bool pfi_fast_codes_make(struct pfi_fast_codes *out,
                         const struct pfi_fast_huffman *h)
{
    uint32_t code = 0;
    int32_t n = 0;

    memcpy(out->symbols, h->symbols, sizeof(out->symbols));
    for (int length = 1; length <= 16; length++) {
        out->base[length] = n - (int32_t)code;
        code += h->counts[length - 1];
        n += h->counts[length - 1];
        /* No code may be all ones, nor longer than its length. */
        if (h->counts[length - 1] && code >= 1u << length)
            return false;
        out->limit[length] = code << (16 - length);
        code <<= 1;
    }
    return true;
}

bool pfi_fast_dc_symbols_allowed(const struct pfi_fast_huffman *h)
{
    size_t n = 0;

    for (int i = 0; i < 16; i++)
        n += h->counts[i];
    for (size_t i = 0; i < n; i++)
        if (h->symbols[i] > 15)
            return false;
    return true;
}

/* The value that `size` bits stand for (ITU-T T.81, F.2.2.1). */
static int extend(uint32_t bits, uint32_t size)
{
    return bits < (1u << size) / 2 ? (int)bits - (int)(1u << size) + 1
                                   : (int)bits;
}

/* Fills the 2^left entries that begin with a symbol of value `value`, where
 * `left` bits follow, which `next` holds the entries for. */
static void prepend(struct level to, struct level next, uint32_t left,
                    const struct symbol *s, int value)
{
    const uint32_t advance = s->run + s->has_value;
    const uint32_t alone = s->bits | advance << 8 |
                           (s->has_value ? s->run << 16 | HAS_VALUE : 0) |
                           (s->end ? ENDS : 0);
    const uint64_t low = s->has_value ? (uint64_t)(value & 255) : 0;

    for (uint32_t i = 0; i < 1u << left; i++) {
        const uint32_t c = next.control[i];
        const uint32_t total = advance + ADVANCE(c);
        const uint32_t shift = OFFSET(c) + s->has_value;
        const uint32_t span = shift + SPAN(c);
        const uint32_t sum = (s->bits + USED(c)) | total << 8 | (c & ENDS);

        to.control[i] = alone;
        to.values[i] = low;
        if (s->end || !USED(c) || total > 63)
            continue;
        if (!(c & HAS_VALUE)) {
            to.control[i] = sum | (alone & (0xFF0000 | HAS_VALUE));
        } else if (!s->has_value) {
            to.control[i] = sum | (s->run + OFFSET(c)) << 16 |
                            (c & (7u << 24 | HAS_VALUE));
            to.values[i] = next.values[i];
        } else if (span <= 7) {
            to.control[i] = sum | s->run << 16 | HAS_VALUE | span << 24;
            to.values[i] = low | next.values[i] << 8 * shift;
        }
    }
}

/* Fills the entries of `to`, for `bits` bits, that begin with `code`.  `room`
 * has the entries that AC symbols begin, for fewer bits. */
static void fill_symbol(struct level to, uint32_t bits, uint32_t code,
                        uint32_t length, int symbol,
                        struct pfi_fast_building *room)
{
    const uint32_t size = (uint32_t)symbol & 15, run = (uint32_t)symbol >> 4;
    struct symbol s = {length + size, run, true, false};

    if (size == 0) {
        if (run > 0 && run < 15)
            return; /* means nothing */
        s = (struct symbol){length, run ? 16 : 0, false, !run};
    }
    if (size > 7 || s.bits > bits)
        return;
    for (uint32_t v = 0; v < 1u << size; v++) {
        const uint32_t left = bits - s.bits;
        const uint32_t at = (code << size | v) << left;

        prepend((struct level){to.control + at, to.values + at},
                level_of(room, left), left, &s, extend(v, size));
    }
}

static void fill_level(struct level to, uint32_t bits,
                       const struct pfi_fast_huffman *h,
                       struct pfi_fast_building *room)
{
    uint32_t code = 0;
    size_t n = 0;

    memset(to.control, 0, sizeof(*to.control) << bits);
    memset(to.values, 0, sizeof(*to.values) << bits);
    for (uint32_t length = 1; length <= bits && length <= 16; length++) {
        for (int i = 0; i < h->counts[length - 1]; i++, code++, n++)
            fill_symbol(to, bits, code, length, h->symbols[n], room);
        code <<= 1;
    }
}

/* From an entry as it is built to one as it is used; it begins with `symbol`,
 * whose code has `length` bits. */
static uint32_t finished(uint32_t entry, uint32_t symbol, uint32_t length)
{
    const uint32_t end = entry & ENDS ? PFI_FAST_END << 8 : 0;

    if (!USED(entry))
        return PFI_FAST_SPECIAL << 8 | symbol << 16 | length << 24;
    return (entry & 0xFFFFFF) + end +
           (symbol == 0xF0 ? 0 : length << 28 | (symbol & 15) << 24);
}

static void finish(struct pfi_fast_table *table,
                   const struct pfi_fast_huffman *h)
{
    uint32_t *c = table->control;
    uint32_t *const end = c + PFI_FAST_ENTRIES;
    size_t n = 0;

    /* Codes are in the order of their entries. */
    for (uint32_t length = 1; length <= PFI_FAST_BITS; length++)
        for (int i = 0; i < h->counts[length - 1]; i++, n++)
            for (uint32_t j = 0; j < PFI_FAST_ENTRIES >> length; j++, c++)
                *c = finished(*c, h->symbols[n], length);
    while (c < end)
        *c++ = PFI_FAST_SPECIAL << 8;
}

static void make_sizes(struct pfi_fast_sizes *out,
                       const struct pfi_fast_huffman *h)
{
    uint16_t *to = out->entry;
    size_t n = 0;

    memset(out, 0, sizeof(*out));
    for (uint32_t length = 1; length <= PFI_FAST_DC_BITS; length++)
        for (int i = 0; i < h->counts[length - 1]; i++, n++)
            for (uint32_t j = 0; j < 1u << (PFI_FAST_DC_BITS - length); j++)
                *to++ = (uint16_t)(length | (uint32_t)h->symbols[n] << 8);
}

void pfi_fast_table_make(struct pfi_fast_table *out,
                         const struct pfi_fast_huffman *ac,
                         struct pfi_fast_building *room)
{
    const struct level top = level_of(room, PFI_FAST_BITS);

    for (uint32_t bits = 0; bits <= PFI_FAST_BITS; bits++)
        fill_level(level_of(room, bits), bits, ac, room);
    memcpy(out->control, top.control, sizeof(out->control));
    memcpy(out->values, top.values, sizeof(out->values));
    finish(out, ac);
}

bool pfi_fast_coder_make(struct pfi_fast_coder *out,
                         const struct pfi_fast_huffman *dc,
                         const struct pfi_fast_huffman *ac,
                         struct pfi_fast_building *room)
{
    out->used = 0;
    if (!pfi_fast_codes_make(&out->dc_codes, dc) ||
        !pfi_fast_codes_make(&out->ac_codes, ac) ||
        !pfi_fast_dc_symbols_allowed(dc))
        return false;
    make_sizes(&out->dc, dc);
    pfi_fast_table_make(&out->ac, ac, room);
    pfi_fast_skips_make(&out->skips, ac, room->skips);
    out->dc_from = *dc;
    out->ac_from = *ac;
    return true;
}
