/* SPDX-License-Identifier: Apache-2.0
 * Builds the tables of a progressive JPEG's scans.  Every scan may bring its
 * own, so that they are simple. */
#include "src/codec/fastjpeg/progress_tables.h"

#include <string.h>

/* Writes `count` entries. */
static uint32_t *repeat(uint32_t *to, uint32_t entry, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = entry;
    return to + count;
}

/* All entries that begin with a code of `length` bits for `size`. */
static uint32_t *fill_dc(uint32_t *to, uint32_t length, uint32_t size)
{
    const uint32_t count = PFI_FAST_ENTRIES >> length;
    const int half = (1 << size) / 2;

    if (length + size > PFI_FAST_BITS)
        return repeat(to, 0, count);
    for (int v = 0; v < 1 << size; v++) {
        const int value = v < half ? v - 2 * half + 1 : v;

        to = repeat(to, (length + size) | (uint32_t)value << 16, count >> size);
    }
    return to;
}

bool pfi_fast_dc_coder_make(struct pfi_fast_dc_coder *out,
                            const struct pfi_fast_huffman *h)
{
    uint32_t *to = out->entry;
    size_t n = 0;

    if (!pfi_fast_codes_make(&out->codes, h) || !pfi_fast_dc_symbols_allowed(h))
        return false;
    for (uint32_t length = 1; length <= PFI_FAST_BITS; length++)
        for (int i = 0; i < h->counts[length - 1]; i++, n++)
            to = fill_dc(to, length, h->symbols[n]);
    (void)repeat(to, 0, (uint32_t)(out->entry + PFI_FAST_ENTRIES - to));
    return true;
}

static uint32_t refine_entry(uint32_t bits, uint32_t run,
                             enum pfi_fast_refine kind, bool negative)
{
    return bits | run << 8 | (uint32_t)kind << 16 | (uint32_t)negative << 24;
}

static uint32_t *fill_refine(uint32_t *to, uint32_t length, uint32_t symbol)
{
    const uint32_t count = PFI_FAST_REFINE_ENTRIES >> length;
    const uint32_t run = symbol >> 4, size = symbol & 15;

    if (size == 1 && length == PFI_FAST_REFINE_BITS)
        return repeat(to, 0, count);
    if (size == 1) {
        to = repeat(to, refine_entry(length + 1, run, PFI_FAST_FRESH, true),
                    count / 2);
        return repeat(to, refine_entry(length + 1, run, PFI_FAST_FRESH, false),
                      count / 2);
    }
    return repeat(to,
                  refine_entry(length, run,
                               size        ? PFI_FAST_NO_MEANING
                               : run == 15 ? PFI_FAST_ZEROS
                                           : PFI_FAST_REST,
                               false),
                  count);
}

static void make_refine(uint32_t *out, const struct pfi_fast_huffman *h)
{
    uint32_t *to = out;
    size_t n = 0;

    for (uint32_t length = 1; length <= PFI_FAST_REFINE_BITS; length++)
        for (int i = 0; i < h->counts[length - 1]; i++, n++)
            to = fill_refine(to, length, h->symbols[n]);
    (void)repeat(to, 0, (uint32_t)(out + PFI_FAST_REFINE_ENTRIES - to));
}

bool pfi_fast_ac_coder_make(struct pfi_fast_ac_coder *out,
                            const struct pfi_fast_huffman *h, bool refine,
                            uint32_t shift, struct pfi_fast_building *room)
{
    if (!pfi_fast_codes_make(&out->codes, h))
        return false;
    if (refine)
        make_refine(out->refine, h);
    else
        pfi_fast_table_make(&out->table, h, 15 - shift, room);
    return true;
}

void pfi_fast_ac_coder_begin(struct pfi_fast_ac_coder *out)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t n = 0;

        out->places[byte] = 0;
        for (uint64_t bit = 0; bit < 8; bit++)
            if (byte >> bit & 1)
                out->places[byte] |= bit << 8 * n++;
    }
}
