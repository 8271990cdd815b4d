/* SPDX-License-Identifier: Apache-2.0
 * Horizontal pass: products of 32 bits, a tap of eight outputs at once. */
#include <arm_neon.h>
#include <string.h>

#include "transforms/arm/kernels_arm.h"

/* Four of the sums in a block. */
static inline int32x4_t sum_lanes(const unsigned char *in,
                                  const int32_t *offset,
                                  const unsigned char *cell, int32_t n_steps,
                                  int window, int32_t start)
{
    int32x4_t sum = vdupq_n_s32(start);

    for (int32_t s = 0; s < n_steps; s++, cell += 64, offset += 2) {
        const unsigned char *const c = cell + 16 * window;
        const uint8x16_t p =
            vqtbl1q_u8(vld1q_u8(in + offset[window]), vld1q_u8(c));

        sum = vmlaq_s32(sum, vreinterpretq_s32_u8(p),
                        vreinterpretq_s32_u8(vld1q_u8(c + 32)));
    }
    return sum;
}

void pfi_horizontal_neon(unsigned char *out, const unsigned char *in,
                         const struct pfi_pack *pack)
{
    const int32_t n_steps = pack->n_steps;
    const int32_t start = pack->wide ? 0 : PFI_HALF;
    const size_t size = pack->out_bytes;
    const size_t block = pack->wide ? 3 : 8;
    const unsigned char *cell = pack->cells;
    const int32_t *offset = pack->offsets;

    for (size_t at = 0; at < size; at += block) {
        int32x4_t a = sum_lanes(in, offset, cell, n_steps, 0, PFI_HALF);
        const int32x4_t b = sum_lanes(in, offset, cell, n_steps, 1, start);
        unsigned char bytes[8];
        uint8x8_t eight;

        if (pack->wide)
            a = vaddq_s32(a, b);
        eight = vqmovn_u16(
            vcombine_u16(vqmovun_s32(vshrq_n_s32(a, PFI_WEIGHT_BITS)),
                         vqmovun_s32(vshrq_n_s32(b, PFI_WEIGHT_BITS))));
        if (!pack->wide && size - at >= 8) {
            vst1_u8(out + at, eight);
        } else {
            vst1_u8(bytes, eight);
            memcpy(out + at, bytes, pack->wide ? 3 : size - at);
        }
        cell += (size_t)n_steps * 64;
        offset += (size_t)n_steps * 2;
    }
}
