/* SPDX-License-Identifier: Apache-2.0
 * The Huffman decoder, included once for each CPU level.  The includer defines
 * PFI_STORE8(q, values): 8 signed bytes to 8 coefficients at q. */
#include "src/codec/fastjpeg/bits.h"

/* A block's position where the data make no sense. */
#define BAD_POSITION 1000u

/* One AC symbol, where a lookup will not do.  Returns the position behind it;
 * 64: the block is complete. */
static uint32_t slow_ac_at(struct pfi_fast_bits *r,
                           const struct pfi_fast_coder *coder, int16_t *out,
                           uint32_t position)
{
    const int symbol = take_code(r, &coder->ac_codes);
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

/* The same, with bits enough for the longest symbol, on a copy: a reader whose
 * address goes nowhere stays in registers. */
static inline uint32_t slow_ac(struct pfi_fast_bits *r,
                               const struct pfi_fast_coder *coder,
                               int16_t *out, uint32_t position)
{
    struct pfi_fast_bits copy = *r;

    refill(&copy);
    position = slow_ac_at(&copy, coder, out, position);
    *r = copy;
    return position;
}

static inline size_t entry_of(const struct pfi_fast_bits *r)
{
    return (size_t)(r->bits >> (64 - PFI_FAST_BITS));
}

/* The value of a lookup's last symbol; `used` bits end with it. */
static inline int tail_of(const struct pfi_fast_bits *r,
                          const struct pfi_fast_table *table, size_t entry,
                          uint32_t used)
{
    const int ones = table->tail[entry];
    const int value = (int)(r->bits >> ((64 - used) & 63)) & ones;
    /* As take_value(), but 0 where there are no bits. */
    const int negative = (2 * value - ones) >> 31;

    return value - (ones & negative);
}

/* Stores what a lookup found and takes its bits; it goes on to `next`. */
static inline void take(struct pfi_fast_bits *r,
                        const struct pfi_fast_table *table, size_t entry,
                        uint32_t control, int16_t *out, size_t position,
                        size_t next)
{
    const uint32_t used = PFI_FAST_USED(control);

    PFI_STORE8(out + position + table->offset[entry], table->values[entry]);
    /* The end of a block has no value. */
    if (next <= 64)
        out[next - 1] = (int16_t)tail_of(r, table, entry, used);
    use(r, used);
}

/* Whether a block is complete where the position plus the advance is `next`: it
 * is full, or a lookup that says so ends it before that. */
static inline bool completes(size_t next)
{
    return next == 64 || next - PFI_FAST_END < 64;
}

/* Lookups from one refill's 56 bits to the next. */
#define LOOKUPS (56 / PFI_FAST_REACH)

/* The AC symbols of a block from `position` on, after a refill.  Returns the
 * position; 64: well. */
static inline size_t take_ac(struct pfi_fast_bits *r,
                             const struct pfi_fast_coder *coder, int16_t *out,
                             size_t position)
{
    const struct pfi_fast_table *const table = &coder->ac;

    for (;; refill(r)) {
        for (int i = 0; i < LOOKUPS; i++) {
            const size_t entry = entry_of(r);
            const uint32_t c = table->control[entry];
            const size_t next = position + PFI_FAST_ADVANCE(c);

            if (LIKELY(next < 64)) {
                take(r, table, entry, c, out, position, next);
                position = next;
            } else if (completes(next)) {
                take(r, table, entry, c, out, position, next);
                return 64;
            } else {
                position = slow_ac(r, coder, out, (uint32_t)position);
                if (position > 63)
                    return position;
                break;
            }
        }
    }
}

/* The DC difference; *bad where there is none. */
static inline int take_dc(struct pfi_fast_bits *r,
                          const struct pfi_fast_coder *coder, bool *bad)
{
    const uint32_t c =
        coder->dc.entry[r->bits >> (64 - PFI_FAST_DC_BITS)];
    int size = (int)(c >> 8);

    if (LIKELY(c & 255))
        use(r, c & 255);
    else
        size = take_code(r, &coder->dc_codes);
    *bad = size < 0;
    return size > 0 ? take_value(r, (uint32_t)size) : 0;
}

/* One block to out[0..63]; out[0] is the DC difference.  What is stored behind
 * it is 0. */
static inline bool take_block(struct pfi_fast_bits *r,
                              const struct pfi_fast_coder *coder, int16_t *out)
{
    bool bad;

    refill(r);
    out[0] = (int16_t)take_dc(r, coder, &bad);
    refill(r);
    return !bad && take_ac(r, coder, out, 1) == 64;
}

/* ------------------------------------------------------------- skipping --- */

/* Steps over the AC symbols of a block.  Returns as take_ac(). */
static inline uint32_t skip_ac(struct pfi_fast_bits *r,
                               const struct pfi_fast_coder *coder,
                               int16_t *spill)
{
    uint32_t position = 1;

    for (;;) {
        refill(r);
        for (int i = 0; i < LOOKUPS; i++) {
            const uint32_t c = coder->ac.control[entry_of(r)];
            const uint32_t next = position + PFI_FAST_ADVANCE(c);

            if (LIKELY(next < 64)) {
                use(r, PFI_FAST_USED(c));
                position = next;
            } else if (completes(next)) {
                use(r, PFI_FAST_USED(c));
                return 64;
            } else {
                position = slow_ac(r, coder, spill, position);
                if (position > 63)
                    return position;
                break;
            }
        }
    }
}

/* As pfi_fast_decode, where no block is wanted. */
static inline bool skip(struct pfi_fast_scan *scan, uint32_t count)
{
    struct pfi_fast_bits r = scan->reader;

    while (count--) {
        if (UNLIKELY(r.at >= scan->limit)) {
            scan->reader = r;
            if (!pfi_fast_scan_more(scan))
                return false;
            r = scan->reader;
        }
        for (int b = 0; b < scan->n_blocks; b++) {
            int *const dc = &scan->dc[scan->component[b]];
            bool bad;

            refill(&r);
            *dc += take_dc(&r, scan->coder[b], &bad);
            scan->doubt |= (uint32_t)(*dc + 32768) > 65535;
            if (UNLIKELY(bad ||
                         skip_ac(&r, scan->coder[b], scan->unwanted) != 64))
                return false;
        }
    }
    scan->reader = r;
    return pfi_fast_scan_within(scan) && !scan->doubt;
}

/* ------------------------------------------------------------- decoding --- */

/* As pfi_fast_decode, where all are. */
static inline bool keep(struct pfi_fast_scan *scan, uint32_t count,
                        int16_t *block)
{
    struct pfi_fast_bits r = scan->reader;

    while (count--) {
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
    }
    scan->reader = r;
    return pfi_fast_scan_within(scan) && !scan->doubt;
}

/* pfi_fast_decode */
static inline bool decode(struct pfi_fast_scan *scan, uint32_t count,
                          int16_t *out)
{
    return out ? keep(scan, count, out) : skip(scan, count);
}
