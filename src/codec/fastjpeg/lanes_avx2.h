/* SPDX-License-Identifier: Apache-2.0
 * Vectors of two 128-bit lanes, for the loops that work lane by lane. */
#ifndef PFI_CODEC_FASTJPEG_LANES_AVX2_H
#define PFI_CODEC_FASTJPEG_LANES_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES 2

typedef __m256i vec;

#define v_or(a, b) _mm256_or_si256(a, b)
#define v_xor(a, b) _mm256_xor_si256(a, b)
#define v_andnot(a, b) _mm256_andnot_si256(a, b) /* ~a & b */
#define v_add16(a, b) _mm256_add_epi16(a, b)
#define v_sub16(a, b) _mm256_sub_epi16(a, b)
#define v_subs_u16(a, b) _mm256_subs_epu16(a, b)
#define v_mullo16(a, b) _mm256_mullo_epi16(a, b)
#define v_mulhrs16(a, b) _mm256_mulhrs_epi16(a, b)
#define v_abs16(a) _mm256_abs_epi16(a)
#define v_max16(a, b) _mm256_max_epi16(a, b)
#define v_min16(a, b) _mm256_min_epi16(a, b)
#define v_srl16(a, n) _mm256_srli_epi16(a, n)
#define v_sll16(a, n) _mm256_slli_epi16(a, n)
#define v_sra16(a, n) _mm256_srai_epi16(a, n)
#define v_add32(a, b) _mm256_add_epi32(a, b)
#define v_sub32(a, b) _mm256_sub_epi32(a, b)
#define v_sra32(a, n) _mm256_srai_epi32(a, n)
#define v_madd(a, b) _mm256_madd_epi16(a, b)
#define v_packs32(a, b) _mm256_packs_epi32(a, b)
#define v_packs16(a, b) _mm256_packs_epi16(a, b)
#define v_packus16(a, b) _mm256_packus_epi16(a, b)
#define v_low8(a, b) _mm256_unpacklo_epi8(a, b)
#define v_high8(a, b) _mm256_unpackhi_epi8(a, b)
#define v_low16(a, b) _mm256_unpacklo_epi16(a, b)
#define v_high16(a, b) _mm256_unpackhi_epi16(a, b)
#define v_low32(a, b) _mm256_unpacklo_epi32(a, b)
#define v_high32(a, b) _mm256_unpackhi_epi32(a, b)
#define v_low64(a, b) _mm256_unpacklo_epi64(a, b)
#define v_high64(a, b) _mm256_unpackhi_epi64(a, b)
#define v_shuffle8(a, b) _mm256_shuffle_epi8(a, b)
#define v_zero() _mm256_setzero_si256()
#define v_all8(x) _mm256_set1_epi8((char)(x))
#define v_all16(x) _mm256_set1_epi16((short)(x))
#define v_all32(x) _mm256_set1_epi32((int)(x))

/* The same 16 bytes in every lane. */
static inline vec v_same(const void *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(p));
}

/* 16 bytes for each lane, lane i from p[i]. */
static inline vec v_gather(const int16_t *const *p, size_t offset)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(p[0] + offset));
    const __m128i b = _mm_loadu_si128((const __m128i *)(p[1] + offset));

    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

static inline __m128i v_lane(vec a, int lane)
{
    return lane ? _mm256_extracti128_si256(a, 1) : _mm256_castsi256_si128(a);
}

static inline bool v_any(vec a)
{
    return !_mm256_testz_si256(a, a);
}

static inline vec v_load(const void *p)
{
    return _mm256_loadu_si256(p);
}

static inline void v_store(void *p, vec a)
{
    _mm256_storeu_si256(p, a);
}

/* Bytes to 16 bits, in order. */
static inline vec v_load_u8(const unsigned char *p)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p));
}

#include "src/codec/fastjpeg/lanes_x86.h"

#endif
