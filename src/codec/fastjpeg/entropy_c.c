/* SPDX-License-Identifier: Apache-2.0
 * The Huffman decoder for any CPU. */
#include <stdint.h>

/* Of portable C; compilers make vectors of it. */
static inline void store8(int16_t *q, uint64_t values)
{
    for (int i = 0; i < 8; i++)
        q[i] = (int8_t)(values >> 8 * i & 255);
}

#define PFI_STORE8(q, values) store8(q, values)

#include "src/codec/fastjpeg/entropy_loop.h"
#include "src/codec/fastjpeg/kernels.h"

bool pfi_fast_decode_c(struct pfi_fast_scan *scan, uint32_t count, int16_t *out)
{
    return decode(scan, count, out);
}
