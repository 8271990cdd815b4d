/* SPDX-License-Identifier: Apache-2.0
 * Tables of taps, as Pillow's precompute_coeffs() and
 * normalize_coeffs_8bpc() make them (src/libImaging/Resample.c, 13.0.0), for
 * the outputs that are wanted. */
#include "transforms/taps.h"

#include "transforms/filter.h"

static double scale_of(const struct pfi_axis *axis)
{
    /* Pillow's box edges are floats. */
    return (double)(float)axis->source / axis->resized;
}

/* The filter never narrows below one source pixel. */
static double filter_scale(const struct pfi_axis *axis)
{
    const double scale = scale_of(axis);

    return scale < 1.0 ? 1.0 : scale;
}

void pfi_taps_span(const struct pfi_axis *axis, double support, int64_t i,
                   int32_t *first, int32_t *end)
{
    const double reach = support * filter_scale(axis);
    const double center = 0.0 + ((double)i + 0.5) * scale_of(axis);
    const double low = center - reach + 0.5, high = center + reach + 0.5;

    *first = low < 0.0 ? 0 : (int32_t)low;
    *end = high > axis->source ? axis->source : (int32_t)high;
}

void pfi_taps_nearest(const struct pfi_axis *axis, int32_t *first, int32_t *low,
                      int32_t *high)
{
    /* Pillow adds the step again and again (Geometry.c, ImagingScaleAffine), so
     * its rounding adds up from pixel 0 on. */
    const double step = (double)(float)axis->source / axis->resized;
    const int64_t end = (int64_t)axis->first + axis->count;
    double position = step * 0.5;

    *low = axis->source;
    *high = -1;
    for (int64_t i = 0; i < end; i++, position += step) {
        if (i < axis->first)
            continue;
        const bool inside = position >= 0.0 && position < axis->source;
        const int32_t at = inside ? (int32_t)position : -1;

        if (first)
            first[i - axis->first] = at;
        if (inside && at < *low)
            *low = at;
        if (inside && at > *high)
            *high = at;
    }
}

size_t pfi_taps_bytes(const struct pfi_axis *axis)
{
    size_t cells, bytes;

    if (!pfi_add((size_t)axis->max_taps, 2, &cells) ||
        !pfi_mul(cells, (size_t)axis->count, &cells) ||
        !pfi_mul(cells, sizeof(int32_t), &bytes) || !pfi_add(bytes, 192, &bytes))
        return SIZE_MAX;
    return bytes;
}

static void make_copy(struct pfi_taps *taps, const struct pfi_axis *axis)
{
    for (int32_t i = 0; i < taps->n; i++) {
        taps->first[i] = axis->first + i - axis->window_first;
        taps->count[i] = 1;
        taps->weights[i] = PFI_WEIGHT_ONE;
    }
}

static void make_nearest(struct pfi_taps *taps, const struct pfi_axis *axis)
{
    int32_t low, high;

    pfi_taps_nearest(axis, taps->first, &low, &high);
    for (int32_t i = 0; i < taps->n; i++) {
        const bool inside = taps->first[i] >= 0;

        taps->count[i] = inside;
        taps->first[i] = inside ? taps->first[i] - axis->window_first : 0;
        taps->weights[i * taps->stride] = PFI_WEIGHT_ONE;
    }
}

static int32_t to_fixed(double weight)
{
    return weight < 0 ? (int32_t)(-0.5 + weight * PFI_WEIGHT_ONE)
                      : (int32_t)(0.5 + weight * PFI_WEIGHT_ONE);
}

/* The weights of one output; `scratch` holds them as doubles. */
static void make_one(const struct pfi_axis *axis,
                     const struct pfi_filter *filter, int64_t i, int32_t first,
                     int32_t n, double *scratch, int32_t *weights)
{
    const double center = 0.0 + ((double)i + 0.5) * scale_of(axis);
    const double inverse = 1.0 / filter_scale(axis);
    double sum = 0.0;

    for (int32_t x = 0; x < n; x++) {
        scratch[x] = filter->weight(((x + first) - center + 0.5) * inverse);
        sum += scratch[x];
    }
    for (int32_t x = 0; x < n; x++)
        weights[x] = to_fixed(sum != 0.0 ? scratch[x] / sum : scratch[x]);
}

bool pfi_taps_make(struct pfi_taps *taps, struct pfi_arena *arena,
                   const struct pfi_axis *axis, pinfold_filter filter)
{
    const struct pfi_filter *const f = pfi_filter_get(filter);
    double *scratch;

    taps->n = axis->count;
    taps->stride = axis->max_taps;
    taps->first = pfi_arena_array(arena, (size_t)taps->n, sizeof(int32_t));
    taps->count = pfi_arena_array(arena, (size_t)taps->n, sizeof(int32_t));
    taps->weights = pfi_arena_array(arena, (size_t)taps->n,
                                    (size_t)taps->stride * sizeof(int32_t));
    scratch = pfi_arena_array(arena, (size_t)taps->stride, sizeof(*scratch));
    if (!taps->first || !taps->count || !taps->weights || !scratch)
        return false;
    if (axis->source == axis->resized) {
        make_copy(taps, axis);
    } else if (!f->weight) {
        make_nearest(taps, axis);
    } else {
        for (int32_t i = 0; i < taps->n; i++) {
            const int64_t at = (int64_t)axis->first + i;
            int32_t end;

            pfi_taps_span(axis, f->support, at, &taps->first[i], &end);
            taps->count[i] = end - taps->first[i];
            make_one(axis, f, at, taps->first[i], taps->count[i], scratch,
                     taps->weights + (size_t)i * (size_t)taps->stride);
            taps->first[i] -= axis->window_first;
        }
    }
    return true;
}
