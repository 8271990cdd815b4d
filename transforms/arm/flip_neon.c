/* SPDX-License-Identifier: Apache-2.0
 * Mirrors a row of RGB pixels, 16 at a time. */
#include <arm_neon.h>

#include "transforms/arm/kernels_arm.h"

static inline uint8x16_t reverse(uint8x16_t v)
{
    const uint8x16_t halves = vrev64q_u8(v);

    return vextq_u8(halves, halves, 8);
}

void pfi_flip_neon(unsigned char *out, const unsigned char *in, size_t n)
{
    for (; n >= 16; n -= 16, out += 48) {
        uint8x16x3_t v = vld3q_u8(in + 3 * (n - 16));

        for (int c = 0; c < 3; c++)
            v.val[c] = reverse(v.val[c]);
        vst3q_u8(out, v);
    }
    pfi_flip_c(out, in, n);
}
