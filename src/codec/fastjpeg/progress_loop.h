/* SPDX-License-Identifier: Apache-2.0
 * AC scans of progressive JPEGs, included behind entropy_loop.h, once for each
 * CPU level.  The includer defines
 * PFI_OR8(q, values, shift): 8 signed bytes, shifted, into 8 coefficients at q
 *   that are 0 where the bytes are not; a bit for each that is not 0;
 * PFI_REFINE(block, old, bits, fresh, negative, one): adds `one` to the
 *   magnitude of the coefficients in `old` whose bit is set in `bits`, the
 *   highest for the first, and sets those in `fresh`, which are 0. */
#include "src/codec/fastjpeg/progress.h"

/* ---------------------------------------------------------- first scans --- */

/* A band's last coefficient is held to be number 63, so that a block ends where
 * it would otherwise. */
static inline uint32_t lift_of(const struct pfi_fast_ac *ac)
{
    return 63 - ac->last;
}

static inline void take_band(struct pfi_fast_bits *r,
                             const struct pfi_fast_ac *ac, size_t entry,
                             uint32_t control, int16_t *out, uint32_t position,
                             uint32_t next, uint64_t *mask)
{
    const struct pfi_fast_table *const table = &ac->coder.table;
    const uint32_t used = PFI_FAST_USED(control), lift = lift_of(ac);
    const uint32_t at = position - lift + table->offset[entry];
    const uint64_t set = PFI_OR8(out + at, table->values[entry], ac->shift);

    *mask |= set << (at & 63);
    if (next <= 64) {
        const uint32_t last = next - 1 - lift;

        out[last] = (int16_t)(tail_of(r, table, entry, used) * (1 << ac->shift));
        *mask |= (uint64_t)(table->tail[entry] != 0) << last;
    }
    use(r, used);
}

/* One symbol, where a lookup will not do; the position behind it. */
static uint32_t slow_band_at(struct pfi_fast_bits *r, struct pfi_fast_ac *ac,
                             int16_t *out, uint32_t position, uint64_t *mask)
{
    const int symbol = take_code(r, &ac->coder.codes);
    const uint32_t size = (uint32_t)symbol & 15;
    const uint32_t run = (uint32_t)symbol >> 4;

    if (symbol < 0)
        return BAD_POSITION;
    if (!size && run < 15) {
        ac->rest = (1u << run) - 1 + (uint32_t)take_bits(r, run);
        return 64;
    }
    if (!size)
        return position + 16 < 64 ? position + 16 : BAD_POSITION;
    position += run;
    if (position > 63 || size + ac->shift > 15)
        return BAD_POSITION;
    out[position - lift_of(ac)] =
        (int16_t)(take_value(r, size) * (1 << ac->shift));
    *mask |= (uint64_t)1 << (position - lift_of(ac));
    return position + 1;
}

/* The same on copies, as slow_ac(). */
static inline uint32_t slow_band(struct pfi_fast_bits *r,
                                 struct pfi_fast_ac *ac, int16_t *out,
                                 uint32_t position, uint64_t *mask)
{
    struct pfi_fast_bits copy = *r;
    uint64_t mask_copy = *mask;

    refill(&copy);
    position = slow_band_at(&copy, ac, out, position, &mask_copy);
    *r = copy;
    *mask = mask_copy;
    return position;
}

static inline bool first_block(struct pfi_fast_bits *r, struct pfi_fast_ac *ac,
                               int16_t *out, uint64_t *mask)
{
    const struct pfi_fast_table *const table = &ac->coder.table;
    uint32_t position = lift_of(ac) + ac->first;

    for (;;) {
        refill(r);
        for (int i = 0; i < LOOKUPS; i++) {
            const size_t entry = entry_of(r);
            const uint32_t c = table->control[entry];
            const uint32_t next = position + PFI_FAST_ADVANCE(c);

            if (LIKELY(next < 64)) {
                take_band(r, ac, entry, c, out, position, next, mask);
                position = next;
            } else if (completes(next)) {
                take_band(r, ac, entry, c, out, position, next, mask);
                return true;
            } else {
                position = slow_band(r, ac, out, position, mask);
                if (position > 63)
                    return position == 64;
                break;
            }
        }
    }
}

/* pfi_fast_ac_scan */
static inline bool ac_first(struct pfi_fast_scan *scan, struct pfi_fast_ac *ac,
                            uint32_t count, int16_t *out, uint64_t *masks)
{
    const size_t step = out ? 64 : 0;
    struct pfi_fast_bits r = scan->reader;

    if (!out)
        out = scan->unwanted;
    while (count) {
        if (ac->rest) {
            const uint32_t n = ac->rest < count ? ac->rest : count;

            ac->rest -= n;
            count -= n;
            out += step * n;
            masks += n;
            continue;
        }
        uint64_t mask = *masks;

        if (!ready(scan, &r) || UNLIKELY(!first_block(&r, ac, out, &mask)))
            return false;
        *masks++ = mask;
        out += step;
        count--;
    }
    scan->reader = r;
    return pfi_fast_scan_within(scan);
}

/* ---------------------------------------------------------- later scans --- */

/* How a block changes. */
struct change {
    uint64_t bits;            /* of the known coefficients, the last lowest */
    uint64_t fresh, negative; /* those that were 0 */
};

/* How many bits of each byte and those below it are set. */
static inline uint64_t count_bits(uint64_t m)
{
    m -= m >> 1 & 0x5555555555555555u;
    m = (m & 0x3333333333333333u) + (m >> 2 & 0x3333333333333333u);
    return ((m + (m >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u;
}

/* The places of a mask's bits, lowest first; returns how many there are.  To
 * search for each place would be a loop whose end no CPU foresees. */
static inline uint32_t list_bits(const struct pfi_fast_ac_coder *coder,
                                 uint64_t mask, unsigned char *list)
{
    const uint64_t counts = count_bits(mask);
    uint32_t n = 0;

    for (uint32_t i = 0; i < 8; i++) {
        const uint64_t places = coder->places[mask >> 8 * i & 255] +
                                0x0101010101010101u * (uint64_t)(8 * i);

        memcpy(list + n, &places, sizeof(places));
        n = (uint32_t)(counts >> 8 * i & 255);
    }
    return n;
}

/* n more bits of known coefficients, after a refill. */
static inline void take_known(struct pfi_fast_bits *r, uint32_t n,
                              uint64_t *bits)
{
    if (UNLIKELY(n > 32)) {
        *bits = *bits << 32 | take_bits(r, 32);
        n -= 32;
        refill(r);
    }
    *bits = *bits << n | take_bits(r, n);
}

/* A symbol whose code the table has not got, as an entry that takes nothing. */
static uint32_t slow_refine_at(struct pfi_fast_bits *r,
                               const struct pfi_fast_ac_coder *coder)
{
    const int symbol = take_code(r, &coder->codes);
    const uint32_t run = (uint32_t)symbol >> 4 & 15;

    if (symbol < 0 || (symbol & 15) > 1)
        return (uint32_t)PFI_FAST_NO_MEANING << 16;
    if (symbol & 1)
        return run << 8 | (uint32_t)PFI_FAST_FRESH << 16 |
               (uint32_t)(take_bits(r, 1) ^ 1) << 24;
    return run << 8 | (uint32_t)(run == 15 ? PFI_FAST_ZEROS : PFI_FAST_REST)
                          << 16;
}

static inline uint32_t slow_refine(struct pfi_fast_bits *r,
                                   const struct pfi_fast_ac_coder *coder)
{
    struct pfi_fast_bits copy = *r;
    const uint32_t entry = slow_refine_at(&copy, coder);

    *r = copy;
    return entry;
}

/* The symbols of a block, of which `left` coefficients are known; those whose
 * bits have not been taken remain in *left. */
static inline bool refine_symbols(struct pfi_fast_bits *r,
                                  struct pfi_fast_ac *ac, uint64_t zeros,
                                  struct change *change, uint32_t *left)
{
    unsigned char list[64 + 8];
    const uint32_t n_zeros = list_bits(&ac->coder, zeros, list);
    uint32_t position = ac->first, zero = 0;

    while (position <= ac->last) {
        uint32_t entry, run, place, known;
        uint64_t fresh;

        refill(r);
        entry = ac->coder.refine[r->bits >> (64 - PFI_FAST_REFINE_BITS)];
        use(r, entry & 255);
        if (UNLIKELY(PFI_FAST_REFINE_KIND(entry) == PFI_FAST_LONG))
            entry = slow_refine(r, &ac->coder);
        run = PFI_FAST_REFINE_RUN(entry);
        if (PFI_FAST_REFINE_KIND(entry) >= PFI_FAST_REST) {
            ac->rest = (1u << run) - 1 + (uint32_t)take_bits(r, run);
            return PFI_FAST_REFINE_KIND(entry) == PFI_FAST_REST;
        }
        zero += run;
        if (UNLIKELY(zero >= n_zeros))
            return false;
        place = list[zero++];
        known = place - position - run;
        position = place + 1;
        fresh = (uint64_t)(PFI_FAST_REFINE_KIND(entry) == PFI_FAST_FRESH)
                << place;
        change->fresh |= fresh;
        change->negative |= PFI_FAST_REFINE_NEGATIVE(entry) ? fresh : 0;
        take_known(r, known, &change->bits);
        *left -= known;
    }
    return true;
}

/* pfi_fast_ac_scan */
static inline bool ac_refine(struct pfi_fast_scan *scan, struct pfi_fast_ac *ac,
                             uint32_t count, int16_t *out, uint64_t *masks)
{
    const uint64_t band =
        ~(uint64_t)0 << ac->first & ~(uint64_t)0 >> (63 - ac->last);
    const int16_t one = (int16_t)(1 << ac->shift);
    struct pfi_fast_bits r = scan->reader;

    for (; count; count--, masks++) {
        const uint64_t old = *masks & band;
        const uint32_t known = (uint32_t)(count_bits(old) >> 56);
        struct change change = {0, 0, 0};
        uint32_t left = known;

        if (!ready(scan, &r))
            return false;
        if (ac->rest)
            ac->rest--;
        else if (UNLIKELY(!refine_symbols(&r, ac, ~old & band, &change, &left)))
            return false;
        if (left) {
            refill(&r);
            take_known(&r, left, &change.bits);
        }
        *masks |= change.fresh;
        if (out) {
            if (known)
                change.bits <<= 64 - known;
            if (change.bits | change.fresh)
                PFI_REFINE(out, old, change.bits, change.fresh, change.negative,
                           one);
            out += 64;
        }
    }
    scan->reader = r;
    return pfi_fast_scan_within(scan);
}
