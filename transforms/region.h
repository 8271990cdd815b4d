/* SPDX-License-Identifier: Apache-2.0
 * Which part of a picture is resized, and whether it is mirrored: torchvision's
 * random crop and flip. */
#ifndef PFI_TRANSFORMS_REGION_H
#define PFI_TRANSFORMS_REGION_H

#include "transforms/recipe.h"

struct pfi_region {
    int32_t left, top, width, height;
    bool mirrored; /* left to right, after the resize */
};

/* The whole picture, unless the recipe is random: then what torchvision draws
 * from torch's generator after manual_seed(seed).  Equal but for torch.exp(),
 * which is not rounded correctly there: about one picture in ten million has
 * another crop. */
void pfi_region_draw(struct pfi_region *out, const struct pfi_recipe *recipe,
                     int32_t width, int32_t height, uint64_t seed);

#endif
