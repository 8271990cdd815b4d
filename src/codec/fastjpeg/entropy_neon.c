/* SPDX-License-Identifier: Apache-2.0
 * The Huffman decoder for AArch64, with a store that widens. */
#include <arm_neon.h>
#include <stdint.h>

static inline void store8(int16_t *q, uint64_t values)
{
    vst1q_s16(q, vmovl_s8(vcreate_s8(values)));
}

#define PFI_STORE8(q, values) store8(q, values)

#include "src/codec/fastjpeg/entropy_loop.h"
#include "src/codec/fastjpeg/kernels.h"

bool pfi_fast_decode_neon(struct pfi_fast_scan *scan, uint32_t count,
                          int16_t *out)
{
    return decode(scan, count, out);
}
