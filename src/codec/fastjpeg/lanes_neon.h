/* SPDX-License-Identifier: Apache-2.0
 * Vectors of one 128-bit lane, for the loops that work lane by lane, of
 * AArch64. */
#ifndef PFI_CODEC_FASTJPEG_LANES_NEON_H
#define PFI_CODEC_FASTJPEG_LANES_NEON_H

#ifndef __AARCH64EL__
#error "these vectors are for little-endian AArch64; others have C"
#endif

#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES 1

typedef int16x8_t vec;

#define V_U8(a) vreinterpretq_u8_s16(a)
#define V_U16(a) vreinterpretq_u16_s16(a)
#define V_U32(a) vreinterpretq_u32_s16(a)
#define V_S32(a) vreinterpretq_s32_s16(a)
#define V_S64(a) vreinterpretq_s64_s16(a)
#define V_OF_U8(a) vreinterpretq_s16_u8(a)
#define V_OF_U16(a) vreinterpretq_s16_u16(a)
#define V_OF_U32(a) vreinterpretq_s16_u32(a)
#define V_OF_S32(a) vreinterpretq_s16_s32(a)
#define V_OF_S64(a) vreinterpretq_s16_s64(a)

#define v_or(a, b) vorrq_s16(a, b)
#define v_xor(a, b) veorq_s16(a, b)
#define v_andnot(a, b) vbicq_s16(b, a) /* ~a & b */
/* What may wrap is unsigned: GCC makes these of C's operators. */
#define v_add16(a, b) V_OF_U16(vaddq_u16(V_U16(a), V_U16(b)))
#define v_sub16(a, b) V_OF_U16(vsubq_u16(V_U16(a), V_U16(b)))
#define v_mullo16(a, b) V_OF_U16(vmulq_u16(V_U16(a), V_U16(b)))
#define v_subs_u16(a, b) V_OF_U16(vqsubq_u16(V_U16(a), V_U16(b)))
#define v_mulhrs16(a, b) vqrdmulhq_s16(a, b) /* but for -32768 squared */
#define v_abs16(a) vabsq_s16(a)
#define v_max16(a, b) vmaxq_s16(a, b)
#define v_min16(a, b) vminq_s16(a, b)
/* By a vector of counts, which need not be literals: those below 0 go right. */
#define v_srl16(a, n) V_OF_U16(vshlq_u16(V_U16(a), v_all16(-(n))))
#define v_sll16(a, n) vshlq_s16(a, v_all16(n))
#define v_sra16(a, n) vshlq_s16(a, v_all16(-(n)))
#define v_add32(a, b) V_OF_U32(vaddq_u32(V_U32(a), V_U32(b)))
#define v_sub32(a, b) V_OF_U32(vsubq_u32(V_U32(a), V_U32(b)))
#define v_sra32(a, n) V_OF_S32(vshlq_s32(V_S32(a), vdupq_n_s32(-(n))))
#define v_packs32(a, b) vqmovn_high_s32(vqmovn_s32(V_S32(a)), V_S32(b))
#define v_packs16(a, b) \
    vreinterpretq_s16_s8(vqmovn_high_s16(vqmovn_s16(a), b))
#define v_packus16(a, b) V_OF_U8(vqmovun_high_s16(vqmovun_s16(a), b))
#define v_low8(a, b) V_OF_U8(vzip1q_u8(V_U8(a), V_U8(b)))
#define v_high8(a, b) V_OF_U8(vzip2q_u8(V_U8(a), V_U8(b)))
#define v_low16(a, b) vzip1q_s16(a, b)
#define v_high16(a, b) vzip2q_s16(a, b)
#define v_low32(a, b) V_OF_S32(vzip1q_s32(V_S32(a), V_S32(b)))
#define v_high32(a, b) V_OF_S32(vzip2q_s32(V_S32(a), V_S32(b)))
#define v_low64(a, b) V_OF_S64(vzip1q_s64(V_S64(a), V_S64(b)))
#define v_high64(a, b) V_OF_S64(vzip2q_s64(V_S64(a), V_S64(b)))
#define v_shuffle8(a, b) V_OF_U8(vqtbl1q_u8(V_U8(a), V_U8(b)))
#define v_zero() vdupq_n_s16(0)
#define v_all8(x) V_OF_U8(vdupq_n_u8((uint8_t)(x)))
#define v_all16(x) vdupq_n_s16((int16_t)(x))
#define v_all32(x) V_OF_S32(vdupq_n_s32((int32_t)(x)))

/* Words of two vectors: the first four, or the last four.  They stay apart,
 * since a product's sum takes one vector after the other. */
typedef struct {
    int16x4_t a, b;
} v_pair;

static inline v_pair v_pair_low(vec a, vec b)
{
    return (v_pair){vget_low_s16(a), vget_low_s16(b)};
}

static inline v_pair v_pair_high(vec a, vec b)
{
    return (v_pair){vget_high_s16(a), vget_high_s16(b)};
}

/* a x + b y, as 32 bits. */
static inline vec v_dot(v_pair p, int16_t x, int16_t y)
{
    return V_OF_S32(vmlal_n_s16(vmull_n_s16(p.a, x), p.b, y));
}

static inline vec v_load(const void *p)
{
    return V_OF_U8(vld1q_u8(p));
}

static inline void v_store(void *p, vec a)
{
    vst1q_u8(p, V_U8(a));
}

/* The same 16 bytes in every lane. */
static inline vec v_same(const void *p)
{
    return v_load(p);
}

/* 16 bytes for each lane, lane i from p[i]. */
static inline vec v_gather(const int16_t *const *p, size_t offset)
{
    return vld1q_s16(p[0] + offset);
}

static inline bool v_any(vec a)
{
    return vmaxvq_u16(V_U16(a)) != 0;
}

/* Bytes to 16 bits, in order. */
static inline vec v_load_u8(const unsigned char *p)
{
    return V_OF_U16(vmovl_u8(vld1_u8(p)));
}

/* A lane's halves to two rows of its out[]. */
static inline void v_store_halves(unsigned char *const *out, size_t offset,
                                  size_t stride, vec rows)
{
    vst1_u8(out[0] + offset, vget_low_u8(V_U8(rows)));
    vst1_u8(out[0] + offset + stride, vget_high_u8(V_U8(rows)));
}

/* Channels' bytes in turn, of all lanes. */
static inline void v_store_rgb(unsigned char *rgb, vec r, vec g, vec b)
{
    const uint8x16x3_t channels = {{V_U8(r), V_U8(g), V_U8(b)}};

    vst3q_u8(rgb, channels);
}

#endif
