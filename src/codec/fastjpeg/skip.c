/* SPDX-License-Identifier: Apache-2.0
 * Builds the tables for blocks that are stepped over.  As in huffman.c an entry
 * for m bits is its first symbol in front of the entry for what is left. */
#include "src/codec/fastjpeg/huffman.h"

#include <string.h>

#define USED(entry) ((entry) & 255u)
#define ADVANCE(entry) ((entry) >> 8 & 63u)

/* The entries for `bits` bits. */
static uint16_t *level_of(uint16_t *room, uint32_t bits)
{
    return room + (1u << bits);
}

/* Fills n entries with `first` in front of those of `next`, where both together
 * are not too much.  An entry of nothing is 0. */
static void prepend(uint16_t *to, const uint16_t *next, uint32_t n,
                    uint16_t first)
{
    const uint16_t used = (uint16_t)(PFI_FAST_SKIP_MOST - USED(first));
    const uint16_t advance = (uint16_t)(63 - ADVANCE(first));

    for (uint32_t i = 0; i < n; i++) {
        const bool joins = USED(next[i]) <= used && ADVANCE(next[i]) <= advance;

        to[i] = (uint16_t)(first + (joins ? next[i] : 0));
    }
}

/* Fills the 2^(bits - length) entries from `to` on that begin with a code of
 * `length` bits for `symbol`. */
static void fill_symbol(uint16_t *to, uint32_t bits, uint32_t length,
                        uint32_t symbol, uint16_t *room)
{
    const uint32_t run = symbol >> 4, size = symbol & 15;
    const uint32_t used = length + size;
    const uint32_t first = used | (symbol ? run + 1 : PFI_FAST_END) << 8;
    const uint16_t *const end = to + (1u << (bits - length));

    if ((!size && run > 0 && run < 15) || used > PFI_FAST_SKIP_MOST)
        return;
    if (!symbol || used >= bits) {
        while (to < end)
            *to++ = (uint16_t)first;
        return;
    }
    /* The same whatever the value is. */
    for (const uint32_t n = 1u << (bits - used); to < end; to += n)
        prepend(to, level_of(room, bits - used), n, (uint16_t)first);
}

static void fill_level(uint16_t *room, uint32_t bits,
                       const struct pfi_fast_huffman *h)
{
    uint16_t *to = level_of(room, bits);
    size_t n = 0;

    memset(to, 0, sizeof(*to) << bits);
    for (uint32_t length = 1; length <= bits; length++)
        for (int i = 0; i < h->counts[length - 1]; i++, n++) {
            fill_symbol(to, bits, length, h->symbols[n], room);
            to += 1u << (bits - length);
        }
}

void pfi_fast_skips_make(struct pfi_fast_skips *out,
                         const struct pfi_fast_huffman *ac, uint16_t *room)
{
    for (uint32_t bits = 0; bits <= PFI_FAST_SKIP_BITS; bits++)
        fill_level(room, bits, ac);
    memcpy(out->entry, level_of(room, PFI_FAST_SKIP_BITS), sizeof(out->entry));
    for (uint32_t i = 0; i < 1u << PFI_FAST_SKIP_BITS; i++)
        if (!USED(out->entry[i]))
            out->entry[i] = PFI_FAST_SPECIAL << 8;
}
