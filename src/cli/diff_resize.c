/* SPDX-License-Identifier: Apache-2.0
 * Resizes in two steps: along a row's columns, then along the rows. */
#include "src/cli/diff_resize.h"

#include <math.h>
#include <stdlib.h>

/* What a pixel of the output takes from one axis of the picture. */
struct taps {
    int32_t first, n;
    float *weights; /* [n], in `all` of the axis */
};

struct axis {
    struct taps *taps; /* [outputs] */
    float *all;
};

static void set_linear(struct taps *t, double centre, int32_t size)
{
    const double position = centre < 0 ? 0 : centre;
    int32_t first = (int32_t)position;

    if (first > size - 1)
        first = size - 1;
    t->first = first;
    t->n = first + 1 < size ? 2 : 1;
    t->weights[1] = (float)(position - (double)first);
    t->weights[0] = t->n == 2 ? 1.0f - t->weights[1] : 1.0f;
}

static void set_area(struct taps *t, double from, double to, int32_t size)
{
    const int32_t first = (int32_t)from;
    int32_t end = (int32_t)ceil(to - 1e-9);

    end = end > size ? size : end;
    t->first = first;
    t->n = end > first ? end - first : 1;
    for (int32_t i = 0; i < t->n; i++) {
        const double low = fmax(from, (double)(first + i));
        const double high = fmin(to, (double)(first + i + 1));

        t->weights[i] = (float)((high - low) / (to - from));
    }
}

/* OpenCV's INTER_AREA is INTER_LINEAR where an axis grows. */
static bool make_axis(struct axis *axis, enum pfi_cli_resize how, int32_t size,
                      int32_t resized, int32_t start, int32_t outputs)
{
    /* As OpenCV has it: the reciprocal of a ratio that is rounded itself. */
    const double scale = 1.0 / ((double)resized / (double)size);
    const size_t room = (size_t)ceil(scale) + 3;

    axis->taps = calloc((size_t)outputs, sizeof(*axis->taps));
    axis->all = calloc((size_t)outputs * room, sizeof(*axis->all));
    if (!axis->taps || !axis->all)
        return false;
    for (int32_t i = 0; i < outputs; i++) {
        struct taps *const t = &axis->taps[i];
        const double at = (double)(start + i);

        t->weights = axis->all + (size_t)i * room;
        if (how == PFI_CLI_RESIZE_NEAREST) {
            const int32_t nearest = (int32_t)(at * scale);

            t->first = nearest < size ? nearest : size - 1;
            t->n = 1;
            t->weights[0] = 1.0f;
        } else if (how == PFI_CLI_RESIZE_AREA && scale > 1) {
            set_area(t, at * scale, fmin((at + 1) * scale, (double)size), size);
        } else {
            set_linear(t, (at + 0.5) * scale - 0.5, size);
        }
    }
    return true;
}

static float sum_row(const unsigned char *row, const struct taps *x, int c)
{
    float sum = 0;

    for (int32_t i = 0; i < x->n; i++)
        sum += x->weights[i] * (float)row[3 * (x->first + i) + c];
    return sum;
}

static void fill(const unsigned char *pixels,
                 const struct pfi_cli_resize_window *w, const struct axis *xs,
                 const struct axis *ys, float *out)
{
    const size_t stride = 3 * (size_t)w->width;

    for (int c = 0; c < 3; c++) {
        for (int32_t y = 0; y < w->out_height; y++) {
            const struct taps *const t = &ys->taps[y];

            for (int32_t x = 0; x < w->out_width; x++) {
                float sum = 0;

                for (int32_t i = 0; i < t->n; i++)
                    sum += t->weights[i] *
                           sum_row(pixels + stride * (size_t)(t->first + i),
                                   &xs->taps[x], c);
                *out++ = sum;
            }
        }
    }
}

bool pfi_cli_resize_window(const unsigned char *pixels,
                           const struct pfi_cli_resize_window *w,
                           enum pfi_cli_resize how, float *out)
{
    struct axis xs = {0}, ys = {0};
    bool good = w->left >= 0 && w->top >= 0 &&
                w->left + w->out_width <= w->resized_width &&
                w->top + w->out_height <= w->resized_height;

    if (good)
        good = make_axis(&xs, how, w->width, w->resized_width, w->left,
                         w->out_width) &&
               make_axis(&ys, how, w->height, w->resized_height, w->top,
                         w->out_height);
    if (good)
        fill(pixels, w, &xs, &ys, out);
    free(xs.taps);
    free(xs.all);
    free(ys.taps);
    free(ys.all);
    return good;
}
