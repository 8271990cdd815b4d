/* SPDX-License-Identifier: Apache-2.0
 * The Huffman decoder for any CPU. */
#include <stdint.h>

/* Of portable C; compilers make vectors of it. */
static inline void store8(int16_t *q, uint64_t values)
{
    for (int i = 0; i < 8; i++)
        q[i] = (int8_t)(values >> 8 * i & 255);
}

static inline uint64_t or8(int16_t *q, uint64_t values, uint32_t shift)
{
    uint64_t set = 0;

    for (int i = 0; i < 8; i++) {
        const int value = (int8_t)(values >> 8 * i & 255);

        q[i] = (int16_t)(q[i] | value * (1 << shift));
        set |= (uint64_t)(value != 0) << i;
    }
    return set;
}

static inline void refine(int16_t *block, uint64_t old, uint64_t bits,
                          uint64_t fresh, uint64_t negative, int16_t one)
{
    for (; old; old &= old - 1, bits <<= 1) {
        int16_t *const q = block + __builtin_ctzll(old);
        const int sign = *q >> 15, wanted = -(int)(bits >> 63);

        *q = (int16_t)(*q + (((one ^ sign) - sign) & wanted));
    }
    for (; fresh; fresh &= fresh - 1) {
        const int k = __builtin_ctzll(fresh);

        block[k] = (int16_t)(negative >> k & 1 ? -one : one);
    }
}

#define PFI_STORE8(q, values) store8(q, values)
#define PFI_OR8(q, values, shift) or8(q, values, shift)
#define PFI_REFINE refine

#include "src/codec/fastjpeg/entropy_loop.h"
/* Its bit reader and lookups serve this one, too. */
#include "src/codec/fastjpeg/progress_loop.h"
#include "src/codec/fastjpeg/kernels.h"

bool pfi_fast_decode_c(struct pfi_fast_scan *scan, uint32_t count, int16_t *out)
{
    return decode(scan, count, out);
}

bool pfi_fast_ac_first_c(struct pfi_fast_scan *scan, struct pfi_fast_ac *ac,
                         uint32_t count, int16_t *out, uint64_t *masks)
{
    return ac_first(scan, ac, count, out, masks);
}

bool pfi_fast_ac_refine_c(struct pfi_fast_scan *scan, struct pfi_fast_ac *ac,
                          uint32_t count, int16_t *out, uint64_t *masks)
{
    return ac_refine(scan, ac, count, out, masks);
}
