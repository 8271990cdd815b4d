/* SPDX-License-Identifier: Apache-2.0
 * The bit reader: refills, values and single codes. */
#ifndef PFI_CODEC_FASTJPEG_BITS_H
#define PFI_CODEC_FASTJPEG_BITS_H

#include <string.h>

#include "src/codec/fastjpeg/scan.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline uint64_t load_be64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* At least 56 bits afterwards. */
static inline void refill(struct pfi_fast_bits *r)
{
    r->bits |= load_be64(r->at) >> r->n;
    r->at += (63 - r->n) >> 3;
    r->n |= 56;
}

static inline void use(struct pfi_fast_bits *r, uint32_t n)
{
    r->bits <<= n & 63;
    r->n -= n;
}

/* The value of `size` bits, 1 to 15, at the reader. */
static inline int take_value(struct pfi_fast_bits *r, uint32_t size)
{
    const int value = (int)(r->bits >> (64 - size));
    const int negative = (int)(r->bits >> 63) - 1;

    use(r, size);
    /* F.2.2.1: a first bit of 0 means value - (2^size - 1). */
    return value + (negative & (int)(1 - (1u << size)));
}

/* Takes a code of any length; -1: there is none. */
static inline int take_code(struct pfi_fast_bits *r,
                            const struct pfi_fast_codes *codes)
{
    const uint32_t peek = (uint32_t)(r->bits >> 48);

    for (uint32_t length = 1; length <= 16; length++) {
        if (peek < codes->limit[length]) {
            const int32_t code = (int32_t)(peek >> (16 - length));

            use(r, length);
            return codes->symbols[codes->base[length] + code];
        }
    }
    return -1;
}

/* The next n bits, 0 to 56. */
static inline uint64_t take_bits(struct pfi_fast_bits *r, uint32_t n)
{
    const uint64_t value = r->bits >> 1 >> (63 - n);

    use(r, n);
    return value;
}

/* Before a block: brings in more data where the reader needs them.  False where
 * it has read past the segment's end. */
static inline bool ready(struct pfi_fast_scan *scan, struct pfi_fast_bits *r)
{
    if (LIKELY(r->at < scan->limit))
        return true;
    scan->reader = *r;
    if (!pfi_fast_scan_more(scan))
        return false;
    *r = scan->reader;
    return true;
}

#endif
