/* SPDX-License-Identifier: Apache-2.0
 * Pillow's resampling filters (src/libImaging/Resample.c, 13.0.0). */
#ifndef PFI_TRANSFORMS_FILTER_H
#define PFI_TRANSFORMS_FILTER_H

#include "src/base/error.h"

struct pfi_filter {
    double (*weight)(double x); /* NULL for nearest */
    double support;             /* half-width at scale 1 */
};

const struct pfi_filter *pfi_filter_get(pinfold_filter filter);

#endif
