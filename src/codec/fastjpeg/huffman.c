/* SPDX-License-Identifier: Apache-2.0
 * Builds the lookup tables.  An entry for m bits is its first symbol in front
 * of the entry for the bits that this leaves, so all entries for 0, 1, 2, ...
 * bits are made in turn, each in constant time and without searching. */
#include "src/codec/fastjpeg/huffman.h"

#include <string.h>

/* While tables are being built an entry is, from its lowest bit on: 16 for the
 * control, 8 for the offset, 3 for the distance of the last of the values from
 * the first, a flag, and 4 for the tail.  0: nothing is known. */
#define USED(entry) ((entry) & 255)
#define ADVANCE(entry) ((entry) >> 8 & 63)
#define OFFSET(entry) ((entry) >> 16 & 255)
#define SPAN(entry) ((entry) >> 24 & 7)
#define HAS_VALUE 0x08000000u
#define ENDS (PFI_FAST_END << 8)
#define TAIL 0xF0000000u

/* One symbol with its value's bits. */
struct symbol {
    uint32_t bits; /* of code and value */
    uint32_t run, size;
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

/* The symbol as the last of an entry. */
static uint32_t alone(const struct symbol *s)
{
    const uint32_t advance = s->size || s->run ? s->run + 1 : PFI_FAST_END;

    return s->bits | advance << 8 | s->size << 28;
}

/* Fills the 2^left entries of `to` that begin with a symbol of value `value`, all
 * of which is there, and go on as those of `next`. */
static void prepend(struct level to, struct level next, uint32_t left,
                    const struct symbol *s, int value)
{
    const uint32_t low = s->size ? s->run << 16 | HAS_VALUE : 0;

    for (uint32_t i = 0; i < 1u << left; i++) {
        const uint32_t c = next.control[i];
        const uint32_t used = s->bits + USED(c);
        const uint32_t advance = s->run + 1 + ADVANCE(c);
        const uint32_t shift = OFFSET(c) + 1;
        const uint32_t both = used | advance << 8 | (c & (ENDS | TAIL));

        to.control[i] = alone(s);
        to.values[i] = 0;
        if (!c || used > PFI_FAST_REACH || advance > 63)
            continue;
        if (!(c & HAS_VALUE)) {
            to.control[i] = both | low;
            to.values[i] = (uint64_t)(value & 255);
        } else if (!s->size) {
            to.control[i] = both | (s->run + shift) << 16 |
                            (c & (7u << 24 | HAS_VALUE));
            to.values[i] = next.values[i];
        } else if (shift + SPAN(c) <= 7) {
            to.control[i] = both | low | (shift + SPAN(c)) << 24;
            to.values[i] = next.values[i] << 8 * shift | (uint64_t)(value & 255);
        }
    }
}

/* Fills the 2^left entries of `to` that begin with a code for `s`. */
static void fill_symbol(struct level to, uint32_t left, const struct symbol *s,
                        struct pfi_fast_building *room)
{
    /* Nothing is behind the end of a block, nor behind what is no byte or not all
     * there. */
    const bool last = !(s->size || s->run) || s->size > 7 || s->size > left;

    if (last) {
        for (uint32_t i = 0; i < 1u << left; i++)
            to.control[i] = alone(s);
        return;
    }
    left -= s->size;
    for (uint32_t v = 0; v < 1u << s->size; v++) {
        prepend(to, level_of(room, left), left, s, extend(v, s->size));
        to.control += 1u << left;
        to.values += 1u << left;
    }
}

/* Whether it has a meaning and a value that may be in an entry. */
static bool is_taken(const struct symbol *s, uint32_t largest)
{
    return s->size ? s->size <= largest && s->bits <= PFI_FAST_REACH
                   : s->run == 0 || s->run == 15;
}

static void fill_level(struct level to, uint32_t bits,
                       const struct pfi_fast_huffman *h, uint32_t largest,
                       struct pfi_fast_building *room)
{
    size_t n = 0;

    memset(to.control, 0, sizeof(*to.control) << bits);
    memset(to.values, 0, sizeof(*to.values) << bits);
    /* Codes are in the order of their entries. */
    for (uint32_t length = 1; length <= bits; length++)
        for (int i = 0; i < h->counts[length - 1]; i++, n++) {
            const uint32_t run = h->symbols[n] >> 4, size = h->symbols[n] & 15;
            const struct symbol s = {length + size, run, size};

            if (is_taken(&s, largest))
                fill_symbol(to, bits - length, &s, room);
            to.control += 1u << (bits - length);
            to.values += 1u << (bits - length);
        }
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
                         const struct pfi_fast_huffman *ac, uint32_t largest,
                         struct pfi_fast_building *room)
{
    const struct level top = level_of(room, PFI_FAST_BITS);

    for (uint32_t bits = 0; bits <= PFI_FAST_BITS; bits++)
        fill_level(level_of(room, bits), bits, ac, largest, room);
    for (size_t i = 0; i < PFI_FAST_ENTRIES; i++) {
        const uint32_t c = top.control[i];

        out->control[i] = (uint16_t)(c ? c & 0xFFFF : PFI_FAST_SPECIAL << 8);
        out->offset[i] = (uint8_t)OFFSET(c);
        out->tail[i] = (uint16_t)((1u << (c >> 28)) - 1);
    }
    memcpy(out->values, top.values, sizeof(out->values));
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
    pfi_fast_table_make(&out->ac, ac, 15, room);
    out->dc_from = *dc;
    out->ac_from = *ac;
    return true;
}
