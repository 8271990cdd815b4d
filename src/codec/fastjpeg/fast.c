/* SPDX-License-Identifier: Apache-2.0
 * From the coded data to the samples of a window: which blocks it needs, and
 * one row of MCUs after the other. */
#include "src/codec/fastjpeg/fast.h"

#include <string.h>

#include "src/codec/fastjpeg/cache.h"

/* Bytes for a window's samples beyond which libjpeg, which holds a few rows
 * only, is the better choice. */
#define PFI_FAST_MOST ((uint64_t)6 << 20)

static const char out_of_memory[] = "no memory for its own decoder";

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t divide_up(int32_t a, int32_t b)
{
    return (a + b - 1) / b;
}

/* ------------------------------------------------------------ placement --- */

/* The blocks along one axis for the pixels [first, end), where `shared` pixels
 * lie on a sample, of which there are `size`, and upsampling looks at one more
 * sample to each side. */
static void blocks_of(int32_t first, int32_t end, int shared, int32_t size,
                      int32_t *begin_block, int32_t *end_block)
{
    int32_t a = first / shared, b = (end - 1) / shared;

    if (shared > 1) {
        a = most(a - 1, 0);
        b = least(b + 1, size - 1);
    }
    *begin_block = a / 8;
    *end_block = b / 8 + 1;
}

static void place(struct pfi_fast *f)
{
    const struct pfi_fast_component *const luma = &f->header.component[0];
    const struct pfi_window *const w = &f->window;

    f->across = divide_up(f->header.width, 8 * luma->h);
    f->down = divide_up(f->header.height, 8 * luma->v);
    f->left = f->across;
    f->top = f->down;
    for (int c = 0; c < f->header.n_components; c++) {
        struct pfi_fast_plane *const p = &f->plane[c];

        p->h = f->header.component[c].h;
        p->v = f->header.component[c].v;
        p->shared_h = luma->h / p->h;
        p->shared_v = luma->v / p->v;
        p->width = divide_up(f->header.width, p->shared_h);
        p->height = divide_up(f->header.height, p->shared_v);
        blocks_of(w->left, w->right, p->shared_h, p->width, &p->left,
                  &p->right);
        blocks_of(w->top, w->bottom, p->shared_v, p->height, &p->top,
                  &p->bottom);
        p->stride = (size_t)(p->right - p->left) * 8;
        f->left = least(f->left, p->left / p->h);
        f->right = most(f->right, divide_up(p->right, p->h));
        f->top = least(f->top, p->top / p->v);
        f->bottom = most(f->bottom, divide_up(p->bottom, p->v));
    }
}

/* Bytes of a plane; sides are 65500 at most. */
static uint64_t plane_bytes(const struct pfi_fast_plane *p)
{
    return (uint64_t)p->stride * (uint64_t)(p->bottom - p->top) * 8 +
           PFI_FAST_ROW_SLACK;
}

/* -------------------------------------------------------------- opening --- */

static void set_quant(struct pfi_fast_quant *out, const uint16_t *table)
{
    for (int i = 0; i < 64; i++) {
        const int q = table[i];

        out->factor[i] = (int16_t)q;
        out->largest[i] =
            (int16_t)(q ? PFI_FAST_DEQUANTISED / q : PFI_FAST_DEQUANTISED);
        /* No coefficient but 0 stays within bounds. */
        if (q > PFI_FAST_DEQUANTISED)
            out->factor[i] = 0;
    }
}

static void set_mcu(struct pfi_fast *f, const struct pfi_fast_coder **coders)
{
    int n = 0;

    for (int c = 0; c < f->header.n_components; c++) {
        const struct pfi_fast_component *const component =
            &f->header.component[c];

        f->plane[c].in_mcu = n;
        for (int i = 0; i < component->h * component->v; i++, n++) {
            f->scan.component[n] = c;
            f->scan.coder[n] = coders[c];
        }
    }
    f->scan.n_blocks = n;
    f->scan.restart = f->header.restart;
}

/* Takes `count` * `size` bytes; the counts are bounded by prepare(). */
static void *take(struct pfi_fast *f, struct pfi_arena *arena, size_t count,
                  size_t size)
{
    f->bytes += (uint64_t)count * size;
    return pfi_arena_array(arena, count, size);
}

static bool take_memory(struct pfi_fast *f, struct pfi_arena *arena)
{
    const size_t width = (size_t)(f->window.right - f->window.left);
    const size_t half = width / 2 + 4 + PFI_FAST_ROW_SLACK;
    const size_t blocks = (size_t)(f->right - f->left) *
                          (size_t)f->scan.n_blocks;
    bool all;

    f->blocks_bytes = blocks * 64 * sizeof(int16_t);
    f->blocks = take(f, arena, (blocks + 1) * 64, sizeof(int16_t));
    f->from = take(f, arena, blocks, sizeof(*f->from));
    f->to = take(f, arena, blocks, sizeof(*f->to));
    f->scan.chunk = take(f, arena, PFI_FAST_CHUNK + PFI_FAST_SLACK, 1);
    f->sums = take(f, arena, half, sizeof(*f->sums));
    f->edged = take(f, arena, half, 1);
    all = f->blocks && f->from && f->to && f->scan.chunk && f->sums && f->edged;
    for (int c = 0; c < 2; c++) {
        f->chroma[c] = take(f, arena, width + 4 + PFI_FAST_ROW_SLACK, 1);
        all = all && f->chroma[c];
    }
    for (int c = 0; all && c < f->header.n_components; c++) {
        struct pfi_fast_plane *const p = &f->plane[c];

        p->samples = take(f, arena, (size_t)plane_bytes(p), 1);
        all = p->samples != NULL;
    }
    return all;
}

static const char *prepare(struct pfi_fast *f, struct pfi_arena *arena,
                           const struct pfi_limits *limits)
{
    struct pfi_fast_cache *const cache = pfi_fast_cache_of(arena);
    const struct pfi_fast_coder *coders[PFI_FAST_MAX_COMPONENTS];
    const char *why;
    uint64_t bytes = 0;

    if (!cache)
        return out_of_memory;
    if (!f->kernels)
        f->kernels = pfi_fast_cache_kernels(cache, limits->cpu_level);
    place(f);
    for (int c = 0; c < f->header.n_components; c++)
        bytes += plane_bytes(&f->plane[c]);
    if (bytes > PFI_FAST_MOST)
        return "a window of very many pixels";
    if (bytes > limits->scratch || f->header.libjpeg_bytes > limits->scratch)
        return "more memory than is allowed";
    why = pfi_fast_cache_take(cache, &f->header, coders);
    if (why)
        return why;
    set_mcu(f, coders);
    for (int c = 0; c < f->header.n_components; c++)
        set_quant(&f->plane[c].quant,
                  f->header.quant[f->header.component[c].quant]);
    return take_memory(f, arena) ? NULL : out_of_memory;
}

const char *pfi_fast_open(struct pfi_fast **out, struct pfi_arena *arena,
                          const unsigned char *data, size_t size,
                          const struct pfi_window *window,
                          const struct pfi_limits *limits,
                          const struct pfi_fast_kernels *kernels)
{
    struct pfi_fast *const f = pfi_arena_alloc(arena, sizeof(*f));
    const char *why;

    if (!f)
        return out_of_memory;
    memset(f, 0, sizeof(*f));
    why = pfi_fast_header_read(&f->header, data, size);
    if (why)
        return why;
    f->kernels = kernels;
    f->bytes = sizeof(*f);
    f->window = *window;
    why = prepare(f, arena, limits);
    if (why)
        return why;
    f->y = window->top;
    pfi_fast_scan_begin(&f->scan, data + f->header.data_at, data + size);
    *out = f;
    return NULL;
}

/* -------------------------------------------------------------- decoding --- */

/* Decodes `count` MCUs, over the restart markers between them. */
static bool decode(struct pfi_fast *f, int32_t count, int16_t *out)
{
    struct pfi_fast_scan *const scan = &f->scan;
    uint32_t left = (uint32_t)count;

    while (left) {
        uint32_t n;

        if (!scan->mcus_left && !pfi_fast_scan_restart(scan))
            return false;
        n = left < scan->mcus_left ? left : scan->mcus_left;
        if (!f->kernels->decode(scan, n, out))
            return false;
        if (out)
            out += (size_t)n * (size_t)scan->n_blocks * 64;
        if (scan->restart)
            scan->mcus_left -= n;
        left -= n;
    }
    return true;
}

bool pfi_fast_mcu_row(struct pfi_fast *f)
{
    const int32_t row = f->row++;

    if (row < f->top)
        return decode(f, f->across, NULL);
    memset(f->blocks, 0, f->blocks_bytes);
    if (!decode(f, f->left, NULL) ||
        !decode(f, f->right - f->left, f->blocks))
        return false;
    /* Nothing is wanted behind the last row. */
    return row + 1 == f->bottom || decode(f, f->across - f->right, NULL);
}

/* Transforms the blocks that component c has in the row of MCUs `row`. */
static bool transform(struct pfi_fast *f, int c, int32_t row)
{
    struct pfi_fast_plane *const p = &f->plane[c];
    const int32_t across = p->right - p->left;
    int count = 0;

    for (int j = 0; j < p->v; j++) {
        const int32_t y = row * p->v + j - p->top;

        if (y < 0 || y >= p->bottom - p->top)
            continue;
        for (int32_t x = 0; x < across; x++, count++) {
            const int32_t column = p->left + x;
            const int32_t mcu = column / p->h - f->left;
            const int in_mcu = p->in_mcu + j * p->h + column % p->h;

            f->from[count] =
                f->blocks +
                ((size_t)mcu * (size_t)f->scan.n_blocks + (size_t)in_mcu) * 64;
            f->to[count] =
                p->samples + (size_t)y * 8 * p->stride + (size_t)x * 8;
        }
    }
    return !f->kernels->idct(f->from, f->to, count, p->stride, &p->quant);
}

const char *pfi_fast_decode_window(struct pfi_fast *f)
{
    while (f->row < f->bottom) {
        const int32_t row = f->row;

        if (!pfi_fast_mcu_row(f))
            return "data that are damaged or unusual";
        for (int c = 0; row >= f->top && c < f->header.n_components; c++)
            if (!transform(f, c, row))
                return "coefficients beyond what a picture has";
    }
    if (!pfi_fast_scan_finish(&f->scan, f->bottom == f->down &&
                                            f->right == f->across))
        return "an end that is missing or unusual";
    return NULL;
}
