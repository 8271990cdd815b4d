/* SPDX-License-Identifier: Apache-2.0
 * What x86's vectors of any number of lanes do alike.  Included by lanes_*.h. */
#ifndef PFI_CODEC_FASTJPEG_LANES_X86_H
#define PFI_CODEC_FASTJPEG_LANES_X86_H

/* Words of two vectors in turn: each lane's first four, or its last four. */
typedef vec v_pair;

#define v_pair_low(a, b) v_low16(a, b)
#define v_pair_high(a, b) v_high16(a, b)

/* a x + b y, as 32 bits. */
#define v_dot(pair, x, y) \
    v_madd(pair, v_all32((uint32_t)(y) << 16 | ((uint32_t)(x) & 0xFFFF)))

/* A lane's halves to two rows of its out[]. */
static inline void v_store_halves(unsigned char *const *out, size_t offset,
                                  size_t stride, vec rows)
{
    for (int lane = 0; lane < LANES; lane++) {
        const __m128i two = v_lane(rows, lane);
        unsigned char *const to = out[lane] + offset;

        _mm_storel_epi64((__m128i *)to, two);
        _mm_storel_epi64((__m128i *)(to + stride),
                         _mm_unpackhi_epi64(two, two));
    }
}

/* [part of 16 bytes][channel]: which pixel's byte goes where. */
#define X (-1)
static const signed char spread[3][3][16] = {
    {{0, X, X, 1, X, X, 2, X, X, 3, X, X, 4, X, X, 5},
     {X, 0, X, X, 1, X, X, 2, X, X, 3, X, X, 4, X, X},
     {X, X, 0, X, X, 1, X, X, 2, X, X, 3, X, X, 4, X}},
    {{X, X, 6, X, X, 7, X, X, 8, X, X, 9, X, X, 10, X},
     {5, X, X, 6, X, X, 7, X, X, 8, X, X, 9, X, X, 10},
     {X, 5, X, X, 6, X, X, 7, X, X, 8, X, X, 9, X, X}},
    {{X, 11, X, X, 12, X, X, 13, X, X, 14, X, X, 15, X, X},
     {X, X, 11, X, X, 12, X, X, 13, X, X, 14, X, X, 15, X},
     {10, X, X, 11, X, X, 12, X, X, 13, X, X, 14, X, X, 15}},
};
#undef X

/* Channels' bytes in turn, of all lanes. */
static inline void v_store_rgb(unsigned char *rgb, vec r, vec g, vec b)
{
    for (int part = 0; part < 3; part++) {
        const vec bytes =
            v_or(v_or(v_shuffle8(r, v_same(spread[part][0])),
                      v_shuffle8(g, v_same(spread[part][1]))),
                 v_shuffle8(b, v_same(spread[part][2])));

        for (int lane = 0; lane < LANES; lane++)
            _mm_storeu_si128((__m128i *)(rgb + 48 * lane + 16 * part),
                             v_lane(bytes, lane));
    }
}

#endif
