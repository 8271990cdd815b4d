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

/* Fills the 2^(bits - length) entries from `to` on that begin with a code of
 * `length` bits for `symbol`. */
static void fill_symbol(uint16_t *to, uint32_t bits, uint32_t length,
                        uint32_t symbol, uint16_t *room)
{
    const uint32_t run = symbol >> 4, size = symbol & 15;
    const uint32_t used = length + size, n = 1u << (bits - length);
    const uint32_t alone =
        used | (symbol ? run + 1 : PFI_FAST_END) << 8;
    const uint32_t left = used < bits ? bits - used : 0;
    const uint16_t *const next = level_of(room, left);

    if ((!size && run > 0 && run < 15) || used > PFI_FAST_SKIP_MOST)
        return;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t c = next[i & ((1u << left) - 1)];
        const bool joins = symbol && USED(c) &&
                           used + USED(c) <= PFI_FAST_SKIP_MOST &&
                           run + 1 + ADVANCE(c) < 64;

        to[i] = (uint16_t)(joins ? alone + c : alone);
    }
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

static void make_dc(uint16_t *to, const struct pfi_fast_huffman *h)
{
    size_t n = 0;

    memset(to, 0, sizeof(*to) << PFI_FAST_SKIP_DC_BITS);
    for (uint32_t length = 1; length <= PFI_FAST_SKIP_DC_BITS; length++)
        for (int i = 0; i < h->counts[length - 1]; i++, n++)
            for (uint32_t j = 0; j < 1u << (PFI_FAST_SKIP_DC_BITS - length);
                 j++)
                *to++ = (uint16_t)(length | (uint32_t)h->symbols[n] << 8);
}

void pfi_fast_skips_make(struct pfi_fast_skips *out,
                         const struct pfi_fast_huffman *dc,
                         const struct pfi_fast_huffman *ac, uint16_t *room)
{
    for (uint32_t bits = 0; bits <= PFI_FAST_SKIP_BITS; bits++)
        fill_level(room, bits, ac);
    memcpy(out->ac, level_of(room, PFI_FAST_SKIP_BITS), sizeof(out->ac));
    for (uint32_t i = 0; i < 1u << PFI_FAST_SKIP_BITS; i++)
        if (!USED(out->ac[i]))
            out->ac[i] = PFI_FAST_SPECIAL << 8;
    make_dc(out->dc, dc);
}
