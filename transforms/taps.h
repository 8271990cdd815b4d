/* SPDX-License-Identifier: Apache-2.0
 * Which source pixels make an output pixel, and with what weights. */
#ifndef PFI_TRANSFORMS_TAPS_H
#define PFI_TRANSFORMS_TAPS_H

#include <stdint.h>

#include "src/base/memory.h"
#include "transforms/plan.h"

/* Weights are fixed point: 32 bits less 8 of the pixel and 2 of headroom. */
#define PFI_WEIGHT_BITS 22
#define PFI_WEIGHT_ONE ((int32_t)1 << PFI_WEIGHT_BITS)

/* What sums start at, to be rounded by the shift. */
#define PFI_HALF ((int32_t)1 << (PFI_WEIGHT_BITS - 1))

/* Output i is the sum of source pixels first[i] .. first[i] + count[i] - 1
 * with the weights at weights + i * stride. */
struct pfi_taps {
    int32_t n, stride;
    int32_t *first, *count, *weights;
};

/* Source interval [*first, *end) of the resized pixel `i`; equals what
 * pfi_taps_make() uses.  Not for nearest. */
void pfi_taps_span(const struct pfi_axis *axis, double support, int64_t i,
                   int32_t *first, int32_t *end);

/* Source pixel of each wanted output under nearest, count entries; one outside
 * the picture is -1.  `first` may be NULL; *low and *high become the smallest
 * and largest that is inside. */
void pfi_taps_nearest(const struct pfi_axis *axis, int32_t *first, int32_t *low,
                      int32_t *high);

/* Bytes that pfi_taps_make() takes for an axis; SIZE_MAX where too many. */
size_t pfi_taps_bytes(const struct pfi_axis *axis);

/* Tables for the wanted outputs of the axis, from the arena; false when out of
 * memory.  Positions count from the axis's window_first. */
bool pfi_taps_make(struct pfi_taps *taps, struct pfi_arena *arena,
                   const struct pfi_axis *axis, pinfold_filter filter);

#endif
