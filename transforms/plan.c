/* SPDX-License-Identifier: Apache-2.0
 * Sizes, crops and windows, by torchvision's arithmetic (0.29.2
 * transforms/functional.py). */
#include "transforms/plan.h"

#include <inttypes.h>

#include "transforms/filter.h"
#include "transforms/pack.h"

/* For the tables of both axes; a filter as wide as a picture of millions of
 * columns would need more. */
#define PFI_TABLES_MAX ((size_t)256 << 20)

/* _compute_resized_output_size(): both divisions truncate. */
static void resized_size(const struct pfi_recipe *r, int64_t width,
                         int64_t height, struct pfi_plan *plan, int64_t *out_w,
                         int64_t *out_h)
{
    const bool wide = width > height;
    const int64_t shorter = wide ? height : width;
    const int64_t longer = wide ? width : height;
    int64_t new_short = r->resize_short;
    int64_t new_long = new_short * longer / shorter;
    double exact_short = (double)new_short;
    double exact_long = (double)(new_short * longer) / (double)shorter;

    if (r->max_size && new_long > r->max_size) {
        exact_short = (double)r->max_size * (double)new_short / (double)new_long;
        exact_long = r->max_size;
        new_short = r->max_size * new_short / new_long;
        new_long = r->max_size;
    }
    *out_w = wide ? new_long : new_short;
    *out_h = wide ? new_short : new_long;
    plan->x.exact = wide ? exact_long : exact_short;
    plan->y.exact = wide ? exact_short : exact_long;
}

static pinfold_status plan_resize(struct pfi_plan *plan,
                                  const struct pfi_recipe *r, int32_t width,
                                  int32_t height, pinfold_error *err)
{
    int64_t new_w = width, new_h = height;

    plan->x.exact = width;
    plan->y.exact = height;
    if (r->resize == PFI_RESIZE_SHORT) {
        resized_size(r, width, height, plan, &new_w, &new_h);
    } else if (r->resize == PFI_RESIZE_EXACT) {
        new_w = r->resize_width;
        new_h = r->resize_height;
        plan->x.exact = (double)new_w;
        plan->y.exact = (double)new_h;
    }
    const int32_t side = r->resize == PFI_RESIZE_NONE ? INT32_MAX
                                                      : r->limits.side;

    if (new_w < 1 || new_h < 1 || new_w > side || new_h > side)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "resized to %" PRId64 " x %" PRId64
                        " pixels, a side must be 1 to %d",
                        new_w, new_h, side);
    plan->x.source = width;
    plan->x.resized = (int32_t)new_w;
    plan->y.source = height;
    plan->y.resized = (int32_t)new_h;
    return PINFOLD_OK;
}

/* CenterCrop: pads first, then crops at round(d / 2), half to even. */
static void crop_axis(struct pfi_axis *axis, int32_t crop, bool mirrored)
{
    const int32_t missing = crop > axis->resized ? crop - axis->resized : 0;
    const int32_t extra = crop < axis->resized ? axis->resized - crop : 0;
    int32_t offset = extra / 2;

    if (extra % 2 && offset % 2)
        offset++;
    /* The flip comes after the crop and turns its padding, too. */
    axis->pad_before = mirrored ? missing - missing / 2 : missing / 2;
    axis->pad_after = missing - axis->pad_before;
    axis->crop_offset = offset;
    axis->first = offset;
    axis->count = crop - missing;
}

/* The window and the number of taps; `filter` is not nearest. */
static void window_filtered(struct pfi_axis *axis, double support)
{
    const int64_t last = (int64_t)axis->first + axis->count - 1;
    int32_t first, end;

    pfi_taps_span(axis, support, axis->first, &axis->window_first, &end);
    pfi_taps_span(axis, support, last, &first, &axis->window_end);
    axis->max_taps = 1;
    for (int64_t i = axis->first; i <= last; i++) {
        pfi_taps_span(axis, support, i, &first, &end);
        if (end - first > axis->max_taps)
            axis->max_taps = end - first;
    }
}

static void window_axis(struct pfi_axis *axis, const struct pfi_filter *filter)
{
    axis->max_taps = 1;
    if (axis->source == axis->resized) {
        axis->window_first = axis->first;
        axis->window_end = axis->first + axis->count;
    } else if (filter->weight) {
        window_filtered(axis, filter->support);
    } else {
        int32_t low, high;

        pfi_taps_nearest(axis, NULL, &low, &high);
        /* Where rounding put every output outside, one pixel is decoded. */
        axis->window_first = high < 0 ? axis->source - 1 : low;
        axis->window_end = high < 0 ? axis->source : high + 1;
    }
}

/* What pfi_stream_init() takes: tables, packed ones in the format that takes
 * most, one row of doubles an axis, the ring and its rows' addresses, and two
 * rows; 64 bytes of rounding each. */
static pinfold_status plan_scratch(struct pfi_plan *plan, pinfold_error *err)
{
    const size_t x = pfi_taps_bytes(&plan->x), y = pfi_taps_bytes(&plan->y);
    const size_t window =
        (size_t)(plan->x.window_end - plan->x.window_first) * 3;
    const size_t crop = (size_t)plan->x.count * 3;
    const size_t row = plan->vertical_first ? window : crop;
    size_t tables, ring;

    if (!pfi_add(x, y, &tables) || tables > PFI_TABLES_MAX)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "the filter's tables would take more than %zu bytes",
                        PFI_TABLES_MAX);
    if (!pfi_mul(row, (size_t)plan->y.max_taps, &ring))
        return pfi_fail(err, PINFOLD_E_LIMIT, 0, "rows of %zu bytes", row);
    plan->scratch_bytes = tables + pfi_pack_bytes(&plan->x) + ring +
                          (window > crop ? window : crop) + crop +
                          ((size_t)plan->x.max_taps + (size_t)plan->y.max_taps) *
                              sizeof(double) +
                          (size_t)plan->y.max_taps * sizeof(void *) + 1024;
    return PINFOLD_OK;
}

/* 13.0.0, Resample.c: where rows shrink by more than twice as many pixels as
 * columns.  12.3.0 and before, Image.py: in pictures more than a hundred times
 * as high as wide that lose rows. */
static bool rows_first(pinfold_pillow pillow, const struct pfi_axis *x,
                       const struct pfi_axis *y)
{
    const int64_t less_w = (int64_t)x->source - x->resized;
    const int64_t less_h = (int64_t)y->source - y->resized;

    if (pillow == PINFOLD_PILLOW_12)
        return less_h > 0 && y->source > (int64_t)x->source * 100;
    return less_h > 0 && less_h > 2 * less_w;
}

pinfold_status pfi_plan_make(struct pfi_plan *plan,
                             const struct pfi_recipe *recipe,
                             const struct pfi_region *region,
                             pinfold_error *err)
{
    const struct pfi_filter *const filter = pfi_filter_get(recipe->filter);
    pinfold_status status;

    *plan = (struct pfi_plan){.filter = recipe->filter,
                              .left = region->left,
                              .top = region->top,
                              .mirrored = region->mirrored};
    status = plan_resize(plan, recipe, region->width, region->height, err);
    if (status)
        return status;
    crop_axis(&plan->x, recipe->crop ? recipe->width : plan->x.resized,
              region->mirrored);
    crop_axis(&plan->y, recipe->crop ? recipe->height : plan->y.resized,
              false);
    plan->vertical_first = rows_first(recipe->pillow, &plan->x, &plan->y);
    window_axis(&plan->x, filter);
    window_axis(&plan->y, filter);
    return plan_scratch(plan, err);
}
