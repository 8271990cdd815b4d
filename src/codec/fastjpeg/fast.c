/* SPDX-License-Identifier: Apache-2.0
 * From the coded data to the samples of a window: which blocks it needs, and
 * one row of MCUs after the other. */
#include "src/codec/fastjpeg/fast.h"

#include <string.h>

#include "src/codec/fastjpeg/cache.h"
#include "src/codec/jpeg_header.h"

/* Bytes for a window's samples beyond which libjpeg, which holds a few rows
 * only, is the better choice. */
#define PFI_FAST_MOST ((uint64_t)32 << 20)
/* The same for a progressive picture's coefficients and masks. */
#define PFI_FAST_MOST_PROGRESS ((uint64_t)64 << 20)

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

/* coders[c] == NULL: progressive, no coder for the whole picture. */
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

/* The counts are bounded by prepare(). */
void *pfi_fast_take(struct pfi_fast *f, struct pfi_arena *arena, size_t count,
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

    if (!f->header.progressive) {
        f->blocks_bytes = blocks * 64 * sizeof(int16_t);
        f->blocks = pfi_fast_take(f, arena, (blocks + 1) * 64, sizeof(int16_t));
        if (!f->blocks)
            return false;
    }
    f->from = pfi_fast_take(f, arena, blocks, sizeof(*f->from));
    f->to = pfi_fast_take(f, arena, blocks, sizeof(*f->to));
    f->scan.chunk = pfi_fast_take(f, arena, PFI_FAST_CHUNK + PFI_FAST_SLACK, 1);
    f->sums = pfi_fast_take(f, arena, half, sizeof(*f->sums));
    f->edged = pfi_fast_take(f, arena, half, 1);
    all = f->from && f->to && f->scan.chunk && f->sums && f->edged;
    for (int c = 0; c < 2; c++) {
        f->chroma[c] =
            pfi_fast_take(f, arena, width + 4 + PFI_FAST_ROW_SLACK, 1);
        all = all && f->chroma[c];
    }
    for (int c = 0; all && c < f->header.n_components; c++) {
        struct pfi_fast_plane *const p = &f->plane[c];

        p->samples = pfi_fast_take(f, arena, (size_t)plane_bytes(p), 1);
        all = p->samples != NULL;
    }
    return all;
}

/* Before any is taken. */
static const char *check_memory(const struct pfi_fast *f,
                                const struct pfi_limits *limits)
{
    const uint64_t coefficients =
        f->header.progressive ? pfi_fast_progress_bytes(f) : 0;
    uint64_t samples = 0;

    for (int c = 0; c < f->header.n_components; c++)
        samples += plane_bytes(&f->plane[c]);
    if (samples > PFI_FAST_MOST || coefficients > PFI_FAST_MOST_PROGRESS)
        return "a window of very many pixels";
    if (samples + coefficients > limits->scratch ||
        f->header.libjpeg_bytes > limits->scratch)
        return "more memory than is allowed";
    return NULL;
}

/* A file whose scans are not to be decoded is found before any of them is. */
static const char *check_scans(const struct pfi_fast *f,
                               const struct pfi_limits *limits)
{
    const int32_t allowed = pfi_jpeg_most_scans(limits->scans, f->header.width,
                                                f->header.height);

    if (!f->header.progressive)
        return NULL;
    return pfi_fast_scans_check(&f->header, f->data, f->size,
                                least(allowed, PFI_FAST_SCANS));
}

static const char *prepare(struct pfi_fast *f, struct pfi_arena *arena,
                           const struct pfi_limits *limits)
{
    struct pfi_fast_cache *const cache = pfi_fast_cache_of(arena);
    const struct pfi_fast_coder *coders[PFI_FAST_MAX_COMPONENTS] = {NULL};
    const char *why;

    if (!cache)
        return out_of_memory;
    if (!f->kernels)
        f->kernels = pfi_fast_cache_kernels(cache, limits->cpu_level);
    place(f);
    why = check_memory(f, limits);
    if (!why)
        why = check_scans(f, limits);
    if (!why && !f->header.progressive)
        why = pfi_fast_cache_take(cache, &f->header, coders);
    if (why)
        return why;
    set_mcu(f, coders);
    for (int c = 0; c < f->header.n_components; c++)
        set_quant(&f->plane[c].quant,
                  f->header.quant[f->header.component[c].quant]);
    if (!take_memory(f, arena) ||
        (f->header.progressive &&
         !pfi_fast_progress_begin(f, arena, &cache->room)))
        return out_of_memory;
    return NULL;
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
    f->data = data;
    f->size = size;
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
    const int16_t *const kept = f->progress ? f->progress->blocks[c] : NULL;
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
                kept ? kept + ((size_t)y * (size_t)across + (size_t)x) * 64
                     : f->blocks + ((size_t)mcu * (size_t)f->scan.n_blocks +
                                    (size_t)in_mcu) * 64;
            f->to[count] =
                p->samples + (size_t)y * 8 * p->stride + (size_t)x * 8;
        }
    }
    return !f->kernels->idct(f->from, f->to, count, p->stride, &p->quant);
}

/* Transforms all that the row of MCUs has of the window. */
static bool transform_row(struct pfi_fast *f, int32_t row)
{
    for (int c = 0; c < f->header.n_components; c++)
        if (!transform(f, c, row))
            return false;
    return true;
}

static const char beyond[] = "coefficients beyond what a picture has";

static const char *decode_progressive(struct pfi_fast *f)
{
    const char *const why = pfi_fast_progress_decode(f);

    if (why)
        return why;
    for (f->row = f->top; f->row < f->bottom; f->row++)
        if (!transform_row(f, f->row))
            return beyond;
    return NULL;
}

const char *pfi_fast_decode_window(struct pfi_fast *f)
{
    if (f->progress)
        return decode_progressive(f);
    while (f->row < f->bottom) {
        const int32_t row = f->row;

        if (!pfi_fast_mcu_row(f))
            return "data that are damaged or unusual";
        if (row >= f->top && !transform_row(f, row))
            return beyond;
    }
    if (!pfi_fast_scan_finish(&f->scan, f->bottom == f->down &&
                                            f->right == f->across))
        return "an end that is missing or unusual";
    return NULL;
}
