/* SPDX-License-Identifier: Apache-2.0
 * The Huffman decoder, included once for each CPU level.  The includer defines
 * PFI_STORE8(q, values): 8 signed bytes to 8 coefficients at q. */
#include <string.h>

#include "src/codec/fastjpeg/scan.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A block's position where the data make no sense. */
#define BAD_POSITION 1000u

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

/* `n` may have more in its bits from 6 on. */
static inline void use(struct pfi_fast_bits *r, uint32_t n)
{
    r->bits <<= n & 63;
    r->n -= n & 63;
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

/* The symbol that a lookup found too long for it. */
static inline int take_symbol(struct pfi_fast_bits *r,
                              const struct pfi_fast_codes *codes,
                              uint32_t control)
{
    if (control & 63 || !PFI_FAST_LENGTH(control))
        return take_code(r, codes);
    use(r, PFI_FAST_LENGTH(control));
    return (int)(control >> 8 & 255);
}

/* One AC symbol, its long way.  Returns the position behind it; 64: the block
 * is complete. */
static uint32_t slow_ac(struct pfi_fast_bits *r,
                        const struct pfi_fast_coder *coder, uint32_t control,
                        int16_t *out, uint32_t position)
{
    const int symbol = take_symbol(r, &coder->ac, control);
    const uint32_t size = (uint32_t)symbol & 15;
    const uint32_t run = (uint32_t)symbol >> 4;

    if (symbol < 0)
        return BAD_POSITION;
    if (!size) {
        if (run == 0)
            return 64;
        return run == 15 && position + 16 < 64 ? position + 16 : BAD_POSITION;
    }
    position += run;
    if (position > 63)
        return BAD_POSITION;
    out[position] = (int16_t)take_value(r, size);
    return position + 1;
}

static bool slow_dc(struct pfi_fast_bits *r, const struct pfi_fast_coder *coder,
                    uint32_t control, int16_t *out)
{
    const int size = take_symbol(r, &coder->dc, control);

    if (size < 0)
        return false;
    out[0] = (int16_t)(size ? take_value(r, (uint32_t)size) : 0);
    return true;
}

/* One block to out[0..63]; out[0] is the DC difference.  What is stored behind
 * it is 0. */
static inline bool take_block(struct pfi_fast_bits *reader,
                              const struct pfi_fast_coder *coder, int16_t *out)
{
    struct pfi_fast_bits r = *reader;
    uint32_t position, c;
    size_t i;

    refill(&r);
    i = (size_t)(r.bits >> (64 - PFI_FAST_BITS));
    c = coder->first.control[i];
    if (LIKELY(c & 63)) {
        PFI_STORE8(out, coder->first.values[i]);
        use(&r, c);
        position = PFI_FAST_ADVANCE(c);
        if (c & PFI_FAST_END)
            position = 64;
    } else {
        if (!slow_dc(&r, coder, c, out))
            return false;
        position = 1;
        refill(&r);
    }
    while (position < 64) {
        i = (size_t)(r.bits >> (64 - PFI_FAST_BITS));
        c = coder->rest.control[i];
        if (LIKELY((c & 63) && position + PFI_FAST_ADVANCE(c) < 64)) {
            PFI_STORE8(out + position + PFI_FAST_OFFSET(c),
                       coder->rest.values[i]);
            use(&r, c);
            position += PFI_FAST_ADVANCE(c);
            if (c & PFI_FAST_END)
                break;
        } else {
            position = slow_ac(&r, coder, c, out, position);
        }
        refill(&r);
    }
    *reader = r;
    return position <= 64;
}

/* pfi_fast_decode */
static inline bool decode(struct pfi_fast_scan *scan, uint32_t count,
                          int16_t *out)
{
    const bool wanted = out != NULL;
    struct pfi_fast_bits r = scan->reader;

    while (count--) {
        int16_t *block = wanted ? out : scan->unwanted;

        if (UNLIKELY(r.at >= scan->limit)) {
            scan->reader = r;
            if (!pfi_fast_scan_more(scan))
                return false;
            r = scan->reader;
        }
        for (int b = 0; b < scan->n_blocks; b++, block += 64) {
            int *const dc = &scan->dc[scan->component[b]];

            if (UNLIKELY(!take_block(&r, scan->coder[b], block)))
                return false;
            *dc += block[0];
            scan->doubt |= (uint32_t)(*dc + 32768) > 65535;
            block[0] = (int16_t)*dc;
        }
        out = wanted ? block : NULL;
    }
    scan->reader = r;
    return pfi_fast_scan_within(scan) && !scan->doubt;
}
