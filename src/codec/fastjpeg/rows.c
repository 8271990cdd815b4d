/* SPDX-License-Identifier: Apache-2.0
 * A row of pixels from the samples: upsampling and colours. */
#include <string.h>

#include "src/codec/fastjpeg/fast.h"

/* Row `y` of a component, column `x` first; both within its blocks. */
static const unsigned char *samples_at(const struct pfi_fast_plane *p,
                                       int32_t x, int32_t y)
{
    return p->samples + (size_t)(y - p->top * 8) * p->stride +
           (size_t)(x - p->left * 8);
}

/* The samples [first, end) of a row that the window's pixels lie on, and one
 * more at each side where the picture has it. */
struct span {
    int32_t first, end, with_left, with_right;
};

static struct span span_of(const struct pfi_fast *f,
                           const struct pfi_fast_plane *p)
{
    const int32_t first = f->window.left / 2;
    const int32_t end = (f->window.right - 1) / 2 + 1;

    return (struct span){first, end, first > 0 ? first - 1 : 0,
                         end < p->width ? end + 1 : p->width};
}

/* 4:2:0.  Rows beyond the picture are copies of its last. */
static void double_both(struct pfi_fast *f, const struct pfi_fast_plane *p,
                        int32_t y, unsigned char *out)
{
    const struct span s = span_of(f, p);
    const size_t n = (size_t)(s.end - s.first);
    const size_t lacking = (size_t)(s.with_left - (s.first - 1));
    const int32_t near = y / 2;
    int32_t far = y % 2 ? near + 1 : near - 1;

    far = far < 0 ? 0 : far >= p->height ? p->height - 1 : far;
    f->kernels->blend_rows(f->sums + lacking, samples_at(p, s.with_left, near),
                           samples_at(p, s.with_left, far),
                           (size_t)(s.with_right - s.with_left));
    if (lacking)
        f->sums[0] = f->sums[1];
    if (s.with_right == s.end)
        f->sums[n + 1] = f->sums[n];
    f->kernels->double_blended(out, f->sums + 1, n);
}

/* 4:2:2 */
static void double_columns(struct pfi_fast *f, const struct pfi_fast_plane *p,
                           int32_t y, unsigned char *out)
{
    const struct span s = span_of(f, p);
    const size_t n = (size_t)(s.end - s.first);
    const size_t lacking = (size_t)(s.with_left - (s.first - 1));

    memcpy(f->edged + lacking, samples_at(p, s.with_left, y),
           (size_t)(s.with_right - s.with_left));
    if (lacking)
        f->edged[0] = f->edged[1];
    if (s.with_right == s.end)
        f->edged[n + 1] = f->edged[n];
    f->kernels->double_row(out, f->edged + 1, n);
}

/* What libjpeg does where a row has one or two samples (jdsample.c). */
static void repeat(const struct pfi_fast *f, const struct pfi_fast_plane *p,
                   int32_t y, unsigned char *out)
{
    const struct span s = span_of(f, p);

    for (int32_t i = s.first; i < s.end; i++, out += 2)
        memset(out, *samples_at(p, i, y / p->shared_v), 2);
}

/* A component at the window's left edge, a sample for each pixel. */
static const unsigned char *full_row(struct pfi_fast *f, int c, int32_t y)
{
    const struct pfi_fast_plane *const p = &f->plane[c];
    unsigned char *out;

    if (p->shared_h == 1)
        return samples_at(p, f->window.left, y);
    out = f->chroma[c - 1];
    if (p->width <= 2)
        repeat(f, p, y, out);
    else if (p->shared_v == 2)
        double_both(f, p, y, out);
    else
        double_columns(f, p, y, out);
    return out + f->window.left % 2;
}

static void grey_to_rgb(unsigned char *rgb, const unsigned char *grey, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memset(rgb + 3 * i, grey[i], 3);
}

static void join(unsigned char *rgb, const unsigned char *const *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            rgb[3 * i + (size_t)c] = rows[c][i];
}

void pfi_fast_row(struct pfi_fast *f, unsigned char *rgb)
{
    const size_t n = (size_t)(f->window.right - f->window.left);
    const unsigned char *rows[PFI_FAST_MAX_COMPONENTS];

    for (int c = 0; c < f->header.n_components; c++)
        rows[c] = full_row(f, c, f->y);
    f->y++;
    if (f->header.n_components == 1)
        grey_to_rgb(rgb, rows[0], n);
    else if (f->header.rgb)
        join(rgb, rows, n);
    else
        f->kernels->ycc_to_rgb(rgb, rows[0], rows[1], rows[2], n);
}
