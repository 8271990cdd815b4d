/* SPDX-License-Identifier: Apache-2.0
 * DC scans of progressive JPEGs. */
#include "src/codec/fastjpeg/bits.h"
#include "src/codec/fastjpeg/progress.h"

static inline bool take_difference(struct pfi_fast_bits *r,
                                   const struct pfi_fast_dc_coder *coder,
                                   int *out)
{
    const uint32_t entry = coder->entry[r->bits >> (64 - PFI_FAST_BITS)];
    int size;

    if (LIKELY(entry)) {
        use(r, entry & 255);
        *out = (int32_t)entry >> 16;
        return true;
    }
    size = take_code(r, &coder->codes);
    if (size < 0)
        return false;
    *out = size ? take_value(r, (uint32_t)size) : 0;
    return true;
}

bool pfi_fast_dc_first(struct pfi_fast_scan *scan,
                       const struct pfi_fast_dc_coder *coders, uint32_t shift,
                       uint32_t count, int16_t *out)
{
    struct pfi_fast_bits r = scan->reader;

    while (count--) {
        if (!ready(scan, &r))
            return false;
        for (int b = 0; b < scan->n_blocks; b++) {
            const int c = scan->component[b];
            int difference, value;

            refill(&r);
            if (UNLIKELY(!take_difference(&r, &coders[c], &difference)))
                return false;
            scan->dc[c] += difference;
            value = scan->dc[c] * (1 << shift);
            /* Before what comes next could leave an int. */
            if (UNLIKELY((uint32_t)(value + 32768) > 65535))
                return false;
            *out++ = (int16_t)value;
        }
    }
    scan->reader = r;
    return pfi_fast_scan_within(scan);
}

bool pfi_fast_dc_refine(struct pfi_fast_scan *scan, uint32_t shift,
                        uint32_t count, int16_t *out)
{
    struct pfi_fast_bits r = scan->reader;

    while (count--) {
        if (!ready(scan, &r))
            return false;
        refill(&r);
        for (int b = 0; b < scan->n_blocks; b++)
            *out++ = (int16_t)(take_bits(&r, 1) << shift);
    }
    scan->reader = r;
    return pfi_fast_scan_within(scan);
}
