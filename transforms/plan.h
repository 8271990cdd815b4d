/* SPDX-License-Identifier: Apache-2.0
 * What a recipe does to a picture of a given size: pure arithmetic, made before
 * any pixel is decoded. */
#ifndef PFI_TRANSFORMS_PLAN_H
#define PFI_TRANSFORMS_PLAN_H

#include "transforms/region.h"

/* One axis of the region.  The resized picture has `resized` pixels, of which the output
 * shows first .. first + count - 1, after pad_before and before pad_after black
 * ones. */
struct pfi_axis {
    int32_t source, resized;
    int32_t first, count;
    int32_t pad_before, pad_after;
    int32_t crop_offset; /* of the crop in the padded picture */
    int32_t window_first, window_end; /* source pixels that are used */
    int32_t max_taps;    /* most source pixels that one output uses */
    double exact;        /* resized size before truncation */
};

struct pfi_plan {
    struct pfi_axis x, y;
    int32_t left, top; /* of the region in the picture; both axes start there */
    bool mirrored;
    bool vertical_first;
    pinfold_filter filter;
    size_t scratch_bytes; /* that pfi_stream_init() takes from the arena */
};

/* PINFOLD_E_LIMIT where a side or the filter's tables would be beyond reason. */
pinfold_status pfi_plan_make(struct pfi_plan *plan,
                             const struct pfi_recipe *recipe,
                             const struct pfi_region *region,
                             pinfold_error *err);

#endif
