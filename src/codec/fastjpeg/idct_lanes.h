/* SPDX-License-Identifier: Apache-2.0
 * The inverse transform of idct_c.c, a block in each 128-bit lane.  Included
 * behind a lanes_*.h. */
#include "src/codec/fastjpeg/kernels.h"

/* Which word of a zigzag vector (8 coefficients) goes to which column. */
#define W(word) 2 * (word), 2 * (word) + 1
#define NO -1, -1

/* [row][zigzag vector] */
static const signed char order[8][8][16] = {
    [0][0] = {W(0), W(1), W(5), W(6), NO, NO, NO, NO},
    [0][1] = {NO, NO, NO, NO, W(6), W(7), NO, NO},
    [0][3] = {NO, NO, NO, NO, NO, NO, W(3), W(4)},
    [1][0] = {W(2), W(4), W(7), NO, NO, NO, NO, NO},
    [1][1] = {NO, NO, NO, W(5), NO, NO, NO, NO},
    [1][2] = {NO, NO, NO, NO, W(0), NO, NO, NO},
    [1][3] = {NO, NO, NO, NO, NO, W(2), W(5), NO},
    [1][5] = {NO, NO, NO, NO, NO, NO, NO, W(2)},
    [2][0] = {W(3), NO, NO, NO, NO, NO, NO, NO},
    [2][1] = {NO, W(0), W(4), NO, NO, NO, NO, NO},
    [2][2] = {NO, NO, NO, W(1), NO, NO, NO, NO},
    [2][3] = {NO, NO, NO, NO, W(1), W(6), NO, NO},
    [2][5] = {NO, NO, NO, NO, NO, NO, W(1), W(3)},
    [3][1] = {W(1), W(3), NO, NO, NO, NO, NO, NO},
    [3][2] = {NO, NO, W(2), NO, NO, NO, NO, NO},
    [3][3] = {NO, NO, NO, W(0), W(7), NO, NO, NO},
    [3][5] = {NO, NO, NO, NO, NO, W(0), W(4), NO},
    [3][6] = {NO, NO, NO, NO, NO, NO, NO, W(5)},
    [4][1] = {W(2), NO, NO, NO, NO, NO, NO, NO},
    [4][2] = {NO, W(3), W(7), NO, NO, NO, NO, NO},
    [4][4] = {NO, NO, NO, W(0), W(7), NO, NO, NO},
    [4][5] = {NO, NO, NO, NO, NO, W(5), NO, NO},
    [4][6] = {NO, NO, NO, NO, NO, NO, W(4), W(6)},
    [5][2] = {W(4), W(6), NO, NO, NO, NO, NO, NO},
    [5][4] = {NO, NO, W(1), W(6), NO, NO, NO, NO},
    [5][5] = {NO, NO, NO, NO, W(6), NO, NO, NO},
    [5][6] = {NO, NO, NO, NO, NO, W(3), W(7), NO},
    [5][7] = {NO, NO, NO, NO, NO, NO, NO, W(4)},
    [6][2] = {W(5), NO, NO, NO, NO, NO, NO, NO},
    [6][4] = {NO, W(2), W(5), NO, NO, NO, NO, NO},
    [6][5] = {NO, NO, NO, W(7), NO, NO, NO, NO},
    [6][6] = {NO, NO, NO, NO, W(2), NO, NO, NO},
    [6][7] = {NO, NO, NO, NO, NO, W(0), W(3), W(5)},
    [7][4] = {W(3), W(4), NO, NO, NO, NO, NO, NO},
    [7][6] = {NO, NO, W(0), W(1), NO, NO, NO, NO},
    [7][7] = {NO, NO, NO, NO, W(1), W(2), W(6), W(7)},
};

static const int16_t first_word[8] = {-1};

#define TAKE(row, source) v_shuffle8(zz[source], v_same(order[row][source]))

/* From eight zigzag vectors to the eight rows of a block. */
static inline void to_rows(vec *rows, const vec *zz)
{
    rows[0] = TAKE(0, 0);
    rows[0] = v_or(rows[0], TAKE(0, 1));
    rows[0] = v_or(rows[0], TAKE(0, 3));
    rows[1] = TAKE(1, 0);
    rows[1] = v_or(rows[1], TAKE(1, 1));
    rows[1] = v_or(rows[1], TAKE(1, 2));
    rows[1] = v_or(rows[1], TAKE(1, 3));
    rows[1] = v_or(rows[1], TAKE(1, 5));
    rows[2] = TAKE(2, 0);
    rows[2] = v_or(rows[2], TAKE(2, 1));
    rows[2] = v_or(rows[2], TAKE(2, 2));
    rows[2] = v_or(rows[2], TAKE(2, 3));
    rows[2] = v_or(rows[2], TAKE(2, 5));
    rows[3] = TAKE(3, 1);
    rows[3] = v_or(rows[3], TAKE(3, 2));
    rows[3] = v_or(rows[3], TAKE(3, 3));
    rows[3] = v_or(rows[3], TAKE(3, 5));
    rows[3] = v_or(rows[3], TAKE(3, 6));
    rows[4] = TAKE(4, 1);
    rows[4] = v_or(rows[4], TAKE(4, 2));
    rows[4] = v_or(rows[4], TAKE(4, 4));
    rows[4] = v_or(rows[4], TAKE(4, 5));
    rows[4] = v_or(rows[4], TAKE(4, 6));
    rows[5] = TAKE(5, 2);
    rows[5] = v_or(rows[5], TAKE(5, 4));
    rows[5] = v_or(rows[5], TAKE(5, 5));
    rows[5] = v_or(rows[5], TAKE(5, 6));
    rows[5] = v_or(rows[5], TAKE(5, 7));
    rows[6] = TAKE(6, 2);
    rows[6] = v_or(rows[6], TAKE(6, 4));
    rows[6] = v_or(rows[6], TAKE(6, 5));
    rows[6] = v_or(rows[6], TAKE(6, 6));
    rows[6] = v_or(rows[6], TAKE(6, 7));
    rows[7] = TAKE(7, 4);
    rows[7] = v_or(rows[7], TAKE(7, 6));
    rows[7] = v_or(rows[7], TAKE(7, 7));
}

/* The same where the last four are 0. */
static inline void half_to_rows(vec *rows, const vec *zz)
{
    rows[0] = TAKE(0, 0);
    rows[0] = v_or(rows[0], TAKE(0, 1));
    rows[0] = v_or(rows[0], TAKE(0, 3));
    rows[1] = TAKE(1, 0);
    rows[1] = v_or(rows[1], TAKE(1, 1));
    rows[1] = v_or(rows[1], TAKE(1, 2));
    rows[1] = v_or(rows[1], TAKE(1, 3));
    rows[2] = TAKE(2, 0);
    rows[2] = v_or(rows[2], TAKE(2, 1));
    rows[2] = v_or(rows[2], TAKE(2, 2));
    rows[2] = v_or(rows[2], TAKE(2, 3));
    rows[3] = TAKE(3, 1);
    rows[3] = v_or(rows[3], TAKE(3, 2));
    rows[3] = v_or(rows[3], TAKE(3, 3));
    rows[4] = TAKE(4, 1);
    rows[4] = v_or(rows[4], TAKE(4, 2));
    rows[5] = TAKE(5, 2);
    rows[6] = TAKE(6, 2);
    rows[7] = v_zero();
}

/* Half of what transform() of idct_c.c does to eight vectors. */
#define HALF(out, pair)                                                       \
    do {                                                                      \
        const v_pair x04 = pair(v[0], v[4]), x26 = pair(v[2], v[6]);          \
        const v_pair x13 = pair(v[1], v[3]), x57 = pair(v[5], v[7]);          \
        const vec h0 = v_add32(v_dot(x04, 8192, 8192), round);                \
        const vec h1 = v_add32(v_dot(x04, 8192, -8192), round);               \
        const vec h2 = v_dot(x26, 10703, 4433);                               \
        const vec h3 = v_dot(x26, 4433, -10704);                              \
        const vec o0 =                                                        \
            v_add32(v_dot(x13, 11363, 9633), v_dot(x57, 6437, 2260));         \
        const vec o1 =                                                        \
            v_add32(v_dot(x13, 9633, -2259), v_dot(x57, -11362, -6436));      \
        const vec o2 =                                                        \
            v_add32(v_dot(x13, 6437, -11362), v_dot(x57, 2261, 9633));        \
        const vec o3 =                                                        \
            v_add32(v_dot(x13, 2260, -6436), v_dot(x57, 9633, -11363));       \
        const vec e0 = v_add32(h0, h2), e3 = v_sub32(h0, h2);                 \
        const vec e1 = v_add32(h1, h3), e2 = v_sub32(h1, h3);                 \
                                                                              \
        (out)[0] = v_sra32(v_add32(e0, o0), shift);                           \
        (out)[7] = v_sra32(v_sub32(e0, o0), shift);                           \
        (out)[1] = v_sra32(v_add32(e1, o1), shift);                           \
        (out)[6] = v_sra32(v_sub32(e1, o1), shift);                           \
        (out)[2] = v_sra32(v_add32(e2, o2), shift);                           \
        (out)[5] = v_sra32(v_sub32(e2, o2), shift);                           \
        (out)[3] = v_sra32(v_add32(e3, o3), shift);                           \
        (out)[4] = v_sra32(v_sub32(e3, o3), shift);                           \
    } while (0)

static inline void transform(vec *v, const int shift)
{
    const vec round = v_all32(1u << (shift - 1));
    vec low[8], high[8];

    HALF(low, v_pair_low);
    HALF(high, v_pair_high);
    for (int i = 0; i < 8; i++)
        v[i] = v_packs32(low[i], high[i]);
}

/* Nonzero words where one of v is not in [-bound - 1, bound]. */
static inline vec beyond(const vec *v, int bound)
{
    vec most = v[0], least = v[0];

    for (int i = 1; i < 8; i++) {
        most = v_max16(most, v[i]);
        least = v_min16(least, v[i]);
    }
    /* -1 - least is not negative where least is; no 16-bit value wraps. */
    most = v_max16(most, v_xor(least, v_all16(-1)));
    return v_subs_u16(most, v_all16(bound));
}

static inline void transpose(vec *v)
{
    vec a[8], b[8];

    for (int i = 0; i < 4; i++) {
        a[2 * i] = v_low16(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = v_high16(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = v_low32(a[i], a[i + 2]);
        b[i + 1] = v_high32(a[i], a[i + 2]);
        b[i + 2] = v_low32(a[i + 1], a[i + 3]);
        b[i + 3] = v_high32(a[i + 1], a[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[2 * i] = v_low64(b[i], b[i + 4]);
        v[2 * i + 1] = v_high64(b[i], b[i + 4]);
    }
}

/* v[i] has column i, of 16-bit values around 0, its rows in turn. */
static inline void store_columns(unsigned char *const *out, size_t stride,
                                 const vec *v)
{
    vec p[4], q[4];

    for (int i = 0; i < 4; i++)
        p[i] = v_xor(v_packs16(v[i], v[i + 4]), v_all8(0x80));
    /* Columns 0 and 1, 4 and 5, 2 and 3, 6 and 7. */
    q[0] = v_low8(p[0], p[1]);
    q[1] = v_high8(p[0], p[1]);
    q[2] = v_low8(p[2], p[3]);
    q[3] = v_high8(p[2], p[3]);
    /* Columns 0 to 3 of rows 0 to 3 and 4 to 7; columns 4 to 7 likewise. */
    p[0] = v_low16(q[0], q[2]);
    p[1] = v_high16(q[0], q[2]);
    p[2] = v_low16(q[1], q[3]);
    p[3] = v_high16(q[1], q[3]);
    v_store_halves(out, 0, stride, v_low32(p[0], p[2]));
    v_store_halves(out, 2 * stride, stride, v_high32(p[0], p[2]));
    v_store_halves(out, 4 * stride, stride, v_low32(p[1], p[3]));
    v_store_halves(out, 6 * stride, stride, v_high32(p[1], p[3]));
}

/* Blocks of which only the DC coefficient is not 0, what the two passes come to
 * then.  Nonzero words: doubt. */
static inline vec store_flat(unsigned char *const *out, size_t stride, vec zz)
{
    const vec between = v_sll16(v_shuffle8(zz, v_all16(0x0100)), 2);
    const vec value = v_sra16(v_add16(between, v_all16(16)), 5);
    const vec bytes = v_xor(v_packs16(value, value), v_all8(0x80));
    vec both[8];

    for (size_t row = 0; row < 8; row += 2)
        v_store_halves(out, row * stride, stride, bytes);
    for (int i = 0; i < 8; i++)
        both[i] = between;
    const vec doubt = beyond(both, PFI_FAST_BETWEEN);
    for (int i = 0; i < 8; i++)
        both[i] = value;
    return v_or(doubt, beyond(both, PFI_FAST_RESULT));
}

/* A block in each lane.  Nonzero words: doubt. */
static inline vec blocks_at_once(const int16_t *const *blocks,
                                 unsigned char *const *out, size_t stride,
                                 const struct pfi_fast_quant *quant)
{
    const vec dc_word = v_same(first_word);
    vec zz[8], v[8], doubt = v_zero(), upper, lower;

    for (size_t i = 0; i < 8; i++) {
        const vec c = v_gather(blocks, 8 * i);

        doubt = v_or(doubt, v_subs_u16(v_abs16(c),
                                       v_same(quant->largest + 8 * i)));
        zz[i] = v_mullo16(c, v_same(quant->factor + 8 * i));
    }
    upper = v_or(v_or(zz[4], zz[5]), v_or(zz[6], zz[7]));
    lower = v_or(v_or(v_andnot(dc_word, zz[0]), zz[1]), v_or(zz[2], zz[3]));
    if (v_any(upper)) {
        to_rows(v, zz);
    } else if (v_any(lower)) {
        half_to_rows(v, zz);
    } else {
        return v_or(doubt, store_flat(out, stride, zz[0]));
    }
    transform(v, 11);
    doubt = v_or(doubt, beyond(v, PFI_FAST_BETWEEN));
    transpose(v);
    transform(v, 18);
    doubt = v_or(doubt, beyond(v, PFI_FAST_RESULT));
    store_columns(out, stride, v);
    return doubt;
}

static inline unsigned idct(const int16_t *const *blocks,
                            unsigned char *const *out, int count, size_t stride,
                            const struct pfi_fast_quant *quant)
{
    const int16_t *last_blocks[LANES];
    unsigned char *last_out[LANES];
    vec doubt = v_zero();
    int i = 0;

    for (; i + LANES <= count; i += LANES)
        doubt = v_or(doubt, blocks_at_once(blocks + i, out + i, stride, quant));
    if (i < count) {
        /* The lanes to spare do the last block again. */
        for (int lane = 0; lane < LANES; lane++) {
            const int j = i + lane < count ? i + lane : count - 1;

            last_blocks[lane] = blocks[j];
            last_out[lane] = out[j];
        }
        doubt = v_or(doubt,
                     blocks_at_once(last_blocks, last_out, stride, quant));
    }
    return v_any(doubt);
}
