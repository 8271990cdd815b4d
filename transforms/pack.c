/* SPDX-License-Identifier: Apache-2.0
 * Tables of taps in the shape that vector kernels load. */
#include "transforms/pack.h"

#include <string.h>

/* Larger ones would be read from memory for every row. */
#define PFI_PACK_MAX ((size_t)8 << 20)

struct format {
    int32_t lanes, window_lanes, taps, window, cell_bytes;
};

static const struct format formats[] = {
    [PFI_PACK_16] = {8, 4, 2, 16, 96},
    [PFI_PACK_8] = {16, 16, 4, 64, 256},
    [PFI_PACK_32] = {8, 4, 1, 16, 64},
};

#define PFI_FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

/* Up to here the outputs of a window lie near enough together: 2 in 16 bytes, 6
 * in 64 bytes, with the taps of one step. */
static bool is_wide(const struct pfi_axis *axis)
{
    return axis->source > (int64_t)axis->resized * 3;
}

static int32_t ceil_div(int64_t a, int64_t b)
{
    return (int32_t)((a + b - 1) / b);
}

/* Blocks and steps for `taps` taps an output. */
static void measure(const struct format *f, const struct pfi_axis *axis,
                    int32_t taps, struct pfi_pack *pack)
{
    pack->wide = is_wide(axis);
    pack->in_bytes = 3 * (size_t)(axis->window_end - axis->window_first);
    pack->out_bytes = 3 * (size_t)axis->count;
    pack->n_blocks = pack->wide
                         ? axis->count
                         : ceil_div((int64_t)axis->count * 3, f->lanes);
    pack->n_steps =
        ceil_div(taps, pack->wide ? f->taps * (f->lanes / 4) : f->taps);
}

/* False where it would exceed PFI_PACK_MAX. */
static bool sizes(const struct format *f, const struct pfi_pack *pack,
                  size_t *offsets, size_t *cells)
{
    const size_t windows = (size_t)(f->lanes / f->window_lanes);
    size_t steps;

    if (!pfi_mul((size_t)pack->n_blocks, (size_t)pack->n_steps, &steps) ||
        steps > PFI_PACK_MAX / (size_t)f->cell_bytes)
        return false;
    *offsets = steps * windows * sizeof(int32_t);
    *cells = steps * (size_t)f->cell_bytes;
    return true;
}

size_t pfi_pack_bytes(const struct pfi_axis *axis)
{
    size_t most = 0;

    for (int i = PFI_PACK_NONE + 1; i < PFI_FORMATS; i++) {
        struct pfi_pack pack;
        size_t offsets, cells;

        measure(&formats[i], axis, axis->max_taps, &pack);
        if (sizes(&formats[i], &pack, &offsets, &cells) &&
            offsets + cells + 128 > most)
            most = offsets + cells + 128;
    }
    return most;
}

/* What lane `lane` sums in step `step` of block `block`: `n` taps from `at`,
 * which is the first one's byte in the input. */
struct part {
    int64_t at;
    int32_t n;
    const int32_t *weights;
};

static struct part part_of(const struct format *f, const struct pfi_pack *pack,
                           const struct pfi_taps *taps, int32_t block,
                           int32_t step, int32_t lane)
{
    const int64_t byte = (int64_t)block * f->lanes + lane;
    const int64_t i = pack->wide ? block : byte / 3;
    const int32_t channel = pack->wide ? lane % 4 : (int32_t)(byte % 3);
    const int32_t groups = pack->wide ? f->lanes / 4 : 1;
    const int32_t tap =
        (step * groups + (pack->wide ? lane / 4 : 0)) * f->taps;
    struct part part = {0};

    if (i >= taps->n || channel == 3 || tap >= taps->count[i])
        return part;
    part.at = 3 * ((int64_t)taps->first[i] + tap) + channel;
    part.n = taps->count[i] - tap;
    part.n = part.n < f->taps ? part.n : f->taps;
    part.weights = taps->weights + (size_t)i * (size_t)taps->stride + tap;
    return part;
}

static void put_16(unsigned char *cell, int32_t lane, const struct part *part,
                   int64_t base)
{
    for (int32_t k = 0; k < part->n; k++) {
        const uint32_t w = (uint32_t)part->weights[k];
        const uint16_t low = (uint16_t)w;
        const uint16_t high = (uint16_t)((w + 0x8000u) >> 16);
        const int32_t at = 2 * lane + k;

        cell[2 * at] = (unsigned char)(part->at + 3 * k - base);
        memcpy(cell + 32 + 2 * at, &low, sizeof(low));
        memcpy(cell + 64 + 2 * at, &high, sizeof(high));
    }
}

static void put_8(unsigned char *cell, int32_t lane, const struct part *part,
                  int64_t base)
{
    for (int32_t k = 0; k < part->n; k++) {
        /* Adding 128 at each place carries what makes a digit negative. */
        const uint32_t w = (uint32_t)part->weights[k] + 0x808080u;
        unsigned char *const at = cell + 4 * lane + k;

        at[0] = (unsigned char)(part->at + 3 * k - base);
        at[64] = (unsigned char)((w & 0xFF) ^ 0x80);
        at[128] = (unsigned char)((w >> 8 & 0xFF) ^ 0x80);
        at[192] = (unsigned char)((w >> 16 & 0xFF) ^ 0x80);
    }
}

static void put_32(unsigned char *cell, int32_t lane, const struct part *part,
                   int64_t base)
{
    cell[4 * lane] = (unsigned char)(part->at - base);
    memcpy(cell + 32 + 4 * lane, part->weights, sizeof(int32_t));
}

/* One window's lanes; false where their bytes do not fit into it. */
static bool fill_window(const struct format *f, enum pfi_pack_format format,
                        const struct pfi_pack *pack, const struct part *parts,
                        unsigned char *cell, int32_t lane, int32_t *offset)
{
    const int64_t limit = (int64_t)pack->in_bytes - f->window;
    int64_t base = limit, end = 0;

    for (int32_t l = 0; l < f->window_lanes; l++) {
        const int64_t last = parts[l].at + 3 * (parts[l].n - 1) + 1;

        if (!parts[l].n)
            continue;
        base = parts[l].at < base ? parts[l].at : base;
        end = last > end ? last : end;
    }
    if (end > base + f->window)
        return false;
    *offset = (int32_t)base;
    for (int32_t l = 0; l < f->window_lanes; l++) {
        if (!parts[l].n)
            continue;
        if (format == PFI_PACK_16)
            put_16(cell, lane + l, &parts[l], base);
        else if (format == PFI_PACK_8)
            put_8(cell, lane + l, &parts[l], base);
        else
            put_32(cell, lane + l, &parts[l], base);
    }
    return true;
}

static bool fill(const struct format *f, enum pfi_pack_format format,
                 struct pfi_pack *pack, const struct pfi_taps *taps)
{
    const size_t picks = (size_t)(f->lanes * (format == PFI_PACK_8 ? 0 : 4));
    unsigned char *cell = pack->cells;
    int32_t *offset = pack->offsets;
    struct part parts[16];

    for (int32_t block = 0; block < pack->n_blocks; block++) {
        for (int32_t step = 0; step < pack->n_steps; step++) {
            memset(cell, 0x80, picks);
            memset(cell + picks, 0, (size_t)f->cell_bytes - picks);
            for (int32_t l = 0; l < f->lanes; l += f->window_lanes) {
                for (int32_t k = 0; k < f->window_lanes; k++)
                    parts[k] = part_of(f, pack, taps, block, step, l + k);
                if (!fill_window(f, format, pack, parts, cell, l, offset++))
                    return false;
            }
            cell += f->cell_bytes;
        }
    }
    return true;
}

/* Whether three signed digits of 8 bits hold each weight. */
static bool fits_8(const struct pfi_taps *taps)
{
    for (int32_t i = 0; i < taps->n; i++) {
        const int32_t *const w =
            taps->weights + (size_t)i * (size_t)taps->stride;

        for (int32_t k = 0; k < taps->count[i]; k++)
            if (w[k] > 0x7F7F7F || w[k] < -0x808080)
                return false;
    }
    return true;
}

static int32_t most_taps(const struct pfi_taps *taps)
{
    int32_t most = 1;

    for (int32_t i = 0; i < taps->n; i++)
        most = taps->count[i] > most ? taps->count[i] : most;
    return most;
}

pinfold_status pfi_pack_make(struct pfi_pack *pack, struct pfi_arena *arena,
                             const struct pfi_axis *axis,
                             const struct pfi_taps *taps,
                             enum pfi_pack_format format)
{
    const struct format *const f = &formats[format];
    size_t offsets, cells;

    if (format == PFI_PACK_NONE || (format == PFI_PACK_8 && !fits_8(taps)))
        return PINFOLD_E_UNSUPPORTED;
    measure(f, axis, most_taps(taps), pack);
    if (pack->in_bytes < (size_t)f->window || pack->in_bytes > INT32_MAX ||
        !sizes(f, pack, &offsets, &cells))
        return PINFOLD_E_UNSUPPORTED;
    pack->offsets = pfi_arena_alloc(arena, offsets);
    pack->cells = pfi_arena_alloc(arena, cells);
    if (!pack->offsets || !pack->cells)
        return PINFOLD_E_MEMORY;
    return fill(f, format, pack, taps) ? PINFOLD_OK : PINFOLD_E_UNSUPPORTED;
}
