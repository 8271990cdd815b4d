/* SPDX-License-Identifier: Apache-2.0
 * What one picture may cost; beyond it is PINFOLD_E_LIMIT. */
#ifndef PFI_BASE_LIMITS_H
#define PFI_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct pfi_limits {
    uint64_t file;      /* bytes of the picture's file */
    uint64_t pixels;    /* width * height */
    uint64_t scratch;   /* bytes of memory, ours and the codec library's */
    uint64_t ancillary; /* bytes inflated in a chunk that holds no pixels */
    int32_t scans;      /* of a JPEG */
    int32_t side;       /* of the resized and of the output picture */
    bool whole;         /* decode more than the window, to compare */
    bool libjpeg;       /* decode JPEGs by libjpeg-turbo alone */
    int32_t cpu_level;  /* enum pfi_cpu_level, the most to use; 0 = the best */
};

/* Whether a picture's file of so many bytes may be read. */
static inline pinfold_status pfi_limit_file(uint64_t size, uint64_t limit,
                                            pinfold_error *err)
{
    if (size > limit)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "a file of %llu bytes, limit %llu",
                        (unsigned long long)size, (unsigned long long)limit);
    return PINFOLD_OK;
}

#endif
