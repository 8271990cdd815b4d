/* SPDX-License-Identifier: Apache-2.0
 * A checked recipe, its defaults filled in. */
#ifndef PFI_TRANSFORMS_RECIPE_H
#define PFI_TRANSFORMS_RECIPE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/limits.h"

enum pfi_resize { PFI_RESIZE_NONE, PFI_RESIZE_SHORT, PFI_RESIZE_EXACT };

struct pfi_recipe {
    enum pfi_resize resize;
    int32_t resize_short, max_size; /* RESIZE_SHORT; max_size 0 = none */
    int32_t resize_height, resize_width; /* RESIZE_EXACT */
    bool crop;
    int32_t height, width; /* of every output, cropped or not */
    pinfold_filter filter;
    pinfold_pillow pillow;
    pinfold_dtype dtype;
    pinfold_layout layout;
    pinfold_scale scale;
    float mean[3], stddev[3];
    bool exif;
    bool random_crop;
    float flip; /* probability */
    double area[2], aspect[2]; /* of random crops: least and most */
    uint64_t random_seed;
    int32_t cpu_level; /* enum pfi_cpu_level; 0 = the best */
    struct pfi_limits limits;
    size_t plane;        /* NCHW: elements from one channel to the next */
    size_t sample_bytes; /* of one output */
};

/* Checks `recipe` (NULL = defaults) and resolves it. */
pinfold_status pfi_recipe_resolve(struct pfi_recipe *out,
                                  const pinfold_recipe *recipe,
                                  pinfold_error *err);

/* Bytes of one element: 4, 2 or 1. */
size_t pfi_dtype_size(pinfold_dtype dtype);

#endif
