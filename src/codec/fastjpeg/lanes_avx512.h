/* SPDX-License-Identifier: Apache-2.0
 * Vectors of four 128-bit lanes, for the loops that work lane by lane. */
#ifndef PFI_CODEC_FASTJPEG_LANES_AVX512_H
#define PFI_CODEC_FASTJPEG_LANES_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES 4

typedef __m512i vec;

#define v_or(a, b) _mm512_or_si512(a, b)
#define v_xor(a, b) _mm512_xor_si512(a, b)
#define v_andnot(a, b) _mm512_andnot_si512(a, b) /* ~a & b */
#define v_add16(a, b) _mm512_add_epi16(a, b)
#define v_sub16(a, b) _mm512_sub_epi16(a, b)
#define v_subs_u16(a, b) _mm512_subs_epu16(a, b)
#define v_mullo16(a, b) _mm512_mullo_epi16(a, b)
#define v_mulhrs16(a, b) _mm512_mulhrs_epi16(a, b)
#define v_abs16(a) _mm512_abs_epi16(a)
#define v_max16(a, b) _mm512_max_epi16(a, b)
#define v_min16(a, b) _mm512_min_epi16(a, b)
/* By a vector of counts: GCC and Clang differ in an immediate's type. */
#define v_srl16(a, n) _mm512_srlv_epi16(a, v_all16(n))
#define v_sll16(a, n) _mm512_sllv_epi16(a, v_all16(n))
#define v_sra16(a, n) _mm512_srav_epi16(a, v_all16(n))
#define v_add32(a, b) _mm512_add_epi32(a, b)
#define v_sub32(a, b) _mm512_sub_epi32(a, b)
#define v_sra32(a, n) _mm512_srav_epi32(a, v_all32(n))
#define v_madd(a, b) _mm512_madd_epi16(a, b)
#define v_packs32(a, b) _mm512_packs_epi32(a, b)
#define v_packs16(a, b) _mm512_packs_epi16(a, b)
#define v_packus16(a, b) _mm512_packus_epi16(a, b)
#define v_low8(a, b) _mm512_unpacklo_epi8(a, b)
#define v_high8(a, b) _mm512_unpackhi_epi8(a, b)
#define v_low16(a, b) _mm512_unpacklo_epi16(a, b)
#define v_high16(a, b) _mm512_unpackhi_epi16(a, b)
#define v_low32(a, b) _mm512_unpacklo_epi32(a, b)
#define v_high32(a, b) _mm512_unpackhi_epi32(a, b)
#define v_low64(a, b) _mm512_unpacklo_epi64(a, b)
#define v_high64(a, b) _mm512_unpackhi_epi64(a, b)
#define v_shuffle8(a, b) _mm512_shuffle_epi8(a, b)
#define v_zero() _mm512_setzero_si512()
#define v_all8(x) _mm512_set1_epi8((char)(x))
#define v_all16(x) _mm512_set1_epi16((short)(x))
#define v_all32(x) _mm512_set1_epi32((int)(x))

/* The same 16 bytes in every lane. */
static inline vec v_same(const void *p)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128(p));
}

/* 16 bytes for each lane, lane i from p[i]. */
static inline vec v_gather(const int16_t *const *p, size_t offset)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(p[0] + offset));
    const __m128i b = _mm_loadu_si128((const __m128i *)(p[1] + offset));
    const __m128i c = _mm_loadu_si128((const __m128i *)(p[2] + offset));
    const __m128i d = _mm_loadu_si128((const __m128i *)(p[3] + offset));
    const __m256i ab =
        _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    const __m256i cd =
        _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);

    return _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1);
}

static inline __m128i v_lane(vec a, int lane)
{
    const __m256i half = lane < 2 ? _mm512_castsi512_si256(a)
                                  : _mm512_extracti64x4_epi64(a, 1);

    return lane % 2 ? _mm256_extracti128_si256(half, 1)
                    : _mm256_castsi256_si128(half);
}

static inline bool v_any(vec a)
{
    return _mm512_test_epi32_mask(a, a) != 0;
}

static inline vec v_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

static inline void v_store(void *p, vec a)
{
    _mm512_storeu_si512(p, a);
}

/* Bytes to 16 bits, in order. */
static inline vec v_load_u8(const unsigned char *p)
{
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p));
}

#include "src/codec/fastjpeg/lanes_x86.h"

#endif
