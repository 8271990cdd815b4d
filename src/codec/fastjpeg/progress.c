/* SPDX-License-Identifier: Apache-2.0
 * From scan to scan of a progressive JPEG: which coefficients each may bring,
 * and one row of blocks after the other. */
#include "src/codec/fastjpeg/fast.h"

#include <string.h>

/* -------------------------------------------------------------- opening --- */

/* Blocks of a component in the window. */
static size_t blocks_of(const struct pfi_fast_plane *p)
{
    return (size_t)(p->right - p->left) * (size_t)(p->bottom - p->top);
}

uint64_t pfi_fast_progress_bytes(const struct pfi_fast *f)
{
    uint64_t bytes = 0;

    for (int c = 0; c < f->header.n_components; c++) {
        const struct pfi_fast_plane *const p = &f->plane[c];
        const uint64_t across = ((uint64_t)p->width + 7) / 8;

        bytes += (uint64_t)blocks_of(p) * 64 * sizeof(int16_t);
        bytes += across * (((uint64_t)p->height + 7) / 8) * sizeof(uint64_t);
    }
    return bytes;
}

/* Hands out the parts of the two arrays. */
static void place_blocks(struct pfi_fast *f, int16_t *blocks, uint64_t *masks)
{
    struct pfi_fast_progress *const s = f->progress;

    for (int c = 0; c < f->header.n_components; c++) {
        s->blocks[c] = blocks;
        s->masks[c] = masks;
        blocks += blocks_of(&f->plane[c]) * 64;
        masks += (size_t)s->across[c] * (size_t)s->down[c];
    }
}

bool pfi_fast_progress_begin(struct pfi_fast *f, struct pfi_arena *arena,
                             struct pfi_fast_building *room)
{
    struct pfi_fast_progress *const s = pfi_fast_take(f, arena, 1, sizeof(*s));
    size_t n_blocks = 0, n_masks = 0;
    int16_t *blocks;
    uint64_t *masks;

    if (!s)
        return false;
    f->progress = s;
    s->room = room;
    for (int c = 0; c < f->header.n_components; c++) {
        const struct pfi_fast_plane *const p = &f->plane[c];

        s->across[c] = (p->width + 7) / 8;
        s->down[c] = (p->height + 7) / 8;
        n_masks += (size_t)s->across[c] * (size_t)s->down[c];
        n_blocks += blocks_of(p);
    }
    blocks = pfi_fast_take(f, arena, (n_blocks + 1) * 64, sizeof(*blocks));
    masks = pfi_fast_take(f, arena, n_masks, sizeof(*masks));
    s->dc_row = pfi_fast_take(f, arena, (size_t)f->across * PFI_FAST_MAX_BLOCKS,
                              sizeof(*s->dc_row));
    if (!blocks || !masks || !s->dc_row)
        return false;
    memset(blocks, 0, (n_blocks + 1) * 64 * sizeof(*blocks));
    memset(masks, 0, n_masks * sizeof(*masks));
    pfi_fast_scans_begin(&s->known);
    place_blocks(f, blocks, masks);
    pfi_fast_ac_coder_begin(&s->ac.coder);
    return true;
}

/* --------------------------------------------------- a scan's beginning --- */

static bool make_tables(struct pfi_fast *f)
{
    struct pfi_fast_progress *const s = f->progress;
    const struct pfi_fast_band *const b = &s->band;
    const struct pfi_fast_header *const h = &f->header;

    if (b->first)
        return b->ac[0] < 4 && h->acs >> b->ac[0] & 1 &&
               pfi_fast_ac_coder_make(&s->ac.coder, &h->ac[b->ac[0]],
                                      b->before > 0, (uint32_t)b->shift,
                                      s->room);
    for (int i = 0; !b->before && i < b->n; i++)
        if (b->dc[i] > 3 || !(h->dcs >> b->dc[i] & 1) ||
            !pfi_fast_dc_coder_make(&s->dc[b->component[i]], &h->dc[b->dc[i]]))
            return false;
    return true;
}

/* MCUs of the scan's: of one component a block each. */
static void set_mcu(struct pfi_fast *f)
{
    const struct pfi_fast_band *const b = &f->progress->band;
    int n = 0;

    for (int i = 0; i < b->n; i++) {
        const struct pfi_fast_plane *const p = &f->plane[b->component[i]];
        const int own = b->n == 1 ? 1 : p->h * p->v;

        for (int k = 0; k < own; k++)
            f->scan.component[n++] = b->component[i];
    }
    f->scan.n_blocks = n;
    f->scan.restart = f->header.restart;
}

/* ------------------------------------------------------------- its rows --- */

/* How many of `count` MCUs are in this segment, or else in the next; 0: libjpeg
 * must decide. */
static uint32_t in_segment(struct pfi_fast *f, uint32_t count)
{
    struct pfi_fast_scan *const scan = &f->scan;

    if (!scan->mcus_left &&
        (f->progress->ac.rest || !pfi_fast_scan_restart(scan)))
        return 0;
    if (count > scan->mcus_left)
        count = scan->mcus_left;
    if (scan->restart)
        scan->mcus_left -= count;
    return count;
}

/* `count` blocks of an AC scan, over the restart markers between them. */
static bool ac_blocks(struct pfi_fast *f, int32_t count, int16_t *out,
                      uint64_t *masks)
{
    pfi_fast_ac_scan *const decode =
        f->progress->band.before ? f->kernels->ac_refine : f->kernels->ac_first;
    uint32_t left = (uint32_t)count;

    while (left) {
        const uint32_t n = in_segment(f, left);

        if (!n || !decode(&f->scan, &f->progress->ac, n, out, masks))
            return false;
        if (out)
            out += (size_t)n * 64;
        masks += n;
        left -= n;
    }
    return true;
}

static bool ac_scan(struct pfi_fast *f)
{
    struct pfi_fast_progress *const s = f->progress;
    const int c = s->band.component[0];
    const struct pfi_fast_plane *const p = &f->plane[c];
    int16_t *out = s->blocks[c];
    uint64_t *masks = s->masks[c];

    s->ac.first = (uint32_t)s->band.first;
    s->ac.last = (uint32_t)s->band.last;
    s->ac.shift = (uint32_t)s->band.shift;
    for (int32_t y = 0; y < s->down[c]; y++, masks += s->across[c]) {
        const bool wanted = y >= p->top && y < p->bottom;

        if (!wanted && !ac_blocks(f, s->across[c], NULL, masks))
            return false;
        if (!wanted)
            continue;
        if (!ac_blocks(f, p->left, NULL, masks) ||
            !ac_blocks(f, p->right - p->left, out, masks + p->left) ||
            !ac_blocks(f, s->across[c] - p->right, NULL, masks + p->right))
            return false;
        out += (size_t)(p->right - p->left) * 64;
    }
    return true;
}

/* What a DC scan's row of MCUs y brings to component c, `at` blocks from each
 * MCU's first, h by v of them. */
static void spread(struct pfi_fast *f, int c, int at, int h, int v, int32_t y)
{
    struct pfi_fast_progress *const s = f->progress;
    const struct pfi_fast_plane *const p = &f->plane[c];
    const size_t across = (size_t)(p->right - p->left);

    for (int j = 0; j < v; j++) {
        const int32_t row = y * v + j - p->top;
        int16_t *to;

        if (row < 0 || row >= p->bottom - p->top)
            continue;
        to = s->blocks[c] + (size_t)row * across * 64;
        /* h is 1 or 2 */
        for (int32_t x = p->left; x < p->right; x++, to += 64)
            *to |= s->dc_row[(x >> (h - 1)) * f->scan.n_blocks + at + j * h +
                             (x & (h - 1))];
    }
}

static bool dc_row(struct pfi_fast *f, int32_t count)
{
    struct pfi_fast_progress *const s = f->progress;
    const uint32_t shift = (uint32_t)s->band.shift;
    uint32_t left = (uint32_t)count;
    int16_t *out = s->dc_row;

    while (left) {
        const uint32_t n = in_segment(f, left);

        if (!n || !(s->band.before
                        ? pfi_fast_dc_refine(&f->scan, shift, n, out)
                        : pfi_fast_dc_first(&f->scan, s->dc, shift, n, out)))
            return false;
        out += (size_t)n * (size_t)f->scan.n_blocks;
        left -= n;
    }
    return true;
}

static bool dc_scan(struct pfi_fast *f)
{
    const struct pfi_fast_progress *const s = f->progress;
    const struct pfi_fast_band *const b = &s->band;
    const int first = b->component[0];
    const int32_t across = b->n == 1 ? s->across[first] : f->across;
    const int32_t down = b->n == 1 ? s->down[first] : f->down;

    for (int32_t y = 0; y < down; y++) {
        int at = 0;

        if (!dc_row(f, across))
            return false;
        for (int i = 0; i < b->n; i++) {
            const struct pfi_fast_plane *const p = &f->plane[b->component[i]];
            const int h = b->n == 1 ? 1 : p->h, v = b->n == 1 ? 1 : p->v;

            spread(f, b->component[i], at, h, v, y);
            at += h * v;
        }
    }
    return true;
}

/* ---------------------------------------------------------- all of them --- */

const char *pfi_fast_progress_decode(struct pfi_fast *f)
{
    struct pfi_fast_progress *const s = f->progress;
    size_t at = f->header.scan_at;

    for (;;) {
        const char *const why = pfi_fast_scans_next(
            &f->header, &s->known, f->data, f->size, &at, &s->band);

        if (why || !s->band.n)
            return why;
        if (!make_tables(f))
            return "a damaged Huffman table";
        set_mcu(f);
        s->ac.rest = 0;
        pfi_fast_scan_begin(&f->scan, f->data + at, f->data + f->size);
        if (!(s->band.first ? ac_scan(f) : dc_scan(f)) || s->ac.rest ||
            !pfi_fast_scan_used_up(&f->scan))
            return "data that are damaged or unusual";
        at = (size_t)(f->scan.from - f->data);
    }
}
