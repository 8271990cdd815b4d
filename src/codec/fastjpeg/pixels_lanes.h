/* SPDX-License-Identifier: Apache-2.0
 * Upsampling and colours of pixels_c.c, in vectors.  Included behind a
 * lanes_*.h.  What the C functions leave alone behind a row's end these may
 * overwrite, PFI_FAST_ROW_SLACK bytes at most, but for RGB. */
#include "src/codec/fastjpeg/kernels.h"

#define WORDS (LANES * 8u)
#define BYTES (LANES * 16u)

static inline void blend_rows(uint16_t *sums, const unsigned char *near,
                              const unsigned char *far, size_t n)
{
    const vec three = v_all16(3);

    for (size_t i = 0; i < n; i += WORDS)
        v_store(sums + i, v_add16(v_mullo16(v_load_u8(near + i), three),
                                  v_load_u8(far + i)));
}

/* Words of two bytes each: the left and the right output of an input. */
static inline vec both(vec middle, vec before, vec after, int left, int right,
                       const int shift)
{
    const vec thrice = v_mullo16(middle, v_all16(3));
    const vec a = v_add16(v_add16(thrice, before), v_all16(left));
    const vec b = v_add16(v_add16(thrice, after), v_all16(right));

    return v_or(v_srl16(a, shift), v_sll16(v_srl16(b, shift), 8));
}

static inline void double_blended(unsigned char *out, const uint16_t *sums,
                                  size_t n)
{
    for (size_t i = 0; i < n; i += WORDS)
        v_store(out + 2 * i, both(v_load(sums + i), v_load(sums + i - 1),
                                  v_load(sums + i + 1), 8, 7, 4));
}

static inline void double_row(unsigned char *out, const unsigned char *in,
                              size_t n)
{
    for (size_t i = 0; i < n; i += WORDS)
        v_store(out + 2 * i, both(v_load_u8(in + i), v_load_u8(in + i - 1),
                                  v_load_u8(in + i + 1), 1, 2, 2));
}

struct words3 {
    vec r, g, b;
};

/* The factors of pixels_c.c with their whole parts taken off, so that they fit
 * in 16 bits; v_mulhrs16() has one bit less, and is right for all 256 values
 * (the unit tests try them). */
static inline struct words3 colour(vec y, vec cb, vec cr)
{
    const vec b = v_sub16(cb, v_all16(128)), r = v_sub16(cr, v_all16(128));
    const vec half = v_all32(32768);
    const vec low = v_add32(v_dot(v_pair_low(b, r), -22554, 18734), half);
    const vec high =
        v_add32(v_dot(v_pair_high(b, r), -22554, 18734), half);
    const vec green = v_packs32(v_sra32(low, 16), v_sra32(high, 16));

    return (struct words3){
        v_add16(v_add16(y, r), v_mulhrs16(r, v_all16(13173))),
        v_add16(v_sub16(y, r), green),
        v_add16(v_add16(y, v_add16(b, b)), v_mulhrs16(b, v_all16(-7471))),
    };
}

static inline void ycc_at(unsigned char *rgb, const unsigned char *y,
                          const unsigned char *cb, const unsigned char *cr)
{
    const vec zero = v_zero();
    const vec ys = v_load(y), bs = v_load(cb), rs = v_load(cr);
    const struct words3 low = colour(v_low8(ys, zero), v_low8(bs, zero),
                                     v_low8(rs, zero));
    const struct words3 high = colour(v_high8(ys, zero), v_high8(bs, zero),
                                      v_high8(rs, zero));

    v_store_rgb(rgb, v_packus16(low.r, high.r), v_packus16(low.g, high.g),
                v_packus16(low.b, high.b));
}

static inline void ycc_to_rgb(unsigned char *rgb, const unsigned char *y,
                              const unsigned char *cb, const unsigned char *cr,
                              size_t n)
{
    size_t i = 0;

    if (n < BYTES) {
        pfi_fast_ycc_to_rgb_c(rgb, y, cb, cr, n);
        return;
    }
    for (; i + BYTES <= n; i += BYTES)
        ycc_at(rgb + 3 * i, y + i, cb + i, cr + i);
    /* The last vector begins earlier, over pixels that are done. */
    i = n - BYTES;
    ycc_at(rgb + 3 * i, y + i, cb + i, cr + i);
}
