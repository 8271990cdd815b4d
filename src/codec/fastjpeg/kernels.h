/* SPDX-License-Identifier: Apache-2.0
 * The fast JPEG decoder's inner loops at every CPU level.  The C functions are
 * the specification; the others give the same bytes. */
#ifndef PFI_CODEC_FASTJPEG_KERNELS_H
#define PFI_CODEC_FASTJPEG_KERNELS_H

#include "src/codec/fastjpeg/progress.h"

/* Bytes that a kernel may read or write behind the end of a row. */
#define PFI_FAST_ROW_SLACK 64

/* A quantisation table for the inverse transform, in zigzag order. */
struct pfi_fast_quant {
    _Alignas(64) int16_t factor[64];
    /* Largest coefficient whose product stays within PFI_FAST_DEQUANTISED. */
    int16_t largest[64];
};

/* Bounds within which libjpeg-turbo's C and SIMD transforms agree: beyond them
 * the latter wraps or saturates 16-bit values (jidctint-*.asm, where columns
 * without AC are shifted and pairs are added in 16 bits), and the former takes
 * its results modulo 1024 (jidctint.c, RANGE_MASK). */
#define PFI_FAST_DEQUANTISED 8191
#define PFI_FAST_BETWEEN 16383
#define PFI_FAST_RESULT 511

struct pfi_fast_kernels {
    const char *name;
    pfi_fast_decode *decode;
    pfi_fast_ac_scan *ac_first, *ac_refine;
    /* Inverse transform of `count` blocks of coefficients in zigzag order, each
     * to 8 x 8 samples at its out[i].  Nonzero: a value left the bounds. */
    unsigned (*idct)(const int16_t *const *blocks, unsigned char *const *out,
                     int count, size_t stride,
                     const struct pfi_fast_quant *quant);
    /* near * 3 + far, for a column's samples of two chroma rows. */
    void (*blend_rows)(uint16_t *sums, const unsigned char *near,
                       const unsigned char *far, size_t n);
    /* Doubles the columns of blended rows; sums[-1] and sums[n] are read.
     * out[2i] = (3 sums[i] + sums[i - 1] + 8) / 16, and with + 7 and i + 1. */
    void (*double_blended)(unsigned char *out, const uint16_t *sums, size_t n);
    /* Doubles a row's columns; in[-1] and in[n] are read.
     * out[2i] = (3 in[i] + in[i - 1] + 1) / 4, and with + 2 and i + 1. */
    void (*double_row)(unsigned char *out, const unsigned char *in, size_t n);
    /* To 3 bytes a pixel, no byte behind them. */
    void (*ycc_to_rgb)(unsigned char *rgb, const unsigned char *y,
                       const unsigned char *cb, const unsigned char *cr,
                       size_t n);
};

extern const struct pfi_fast_kernels pfi_fast_kernels_c;
#if defined(__x86_64__)
extern const struct pfi_fast_kernels pfi_fast_kernels_sse41;
extern const struct pfi_fast_kernels pfi_fast_kernels_avx2;
extern const struct pfi_fast_kernels pfi_fast_kernels_avx512;
#elif defined(__AARCH64EL__) /* those for NEON want little-endian words */
extern const struct pfi_fast_kernels pfi_fast_kernels_neon;
#endif

/* The best that this CPU has, up to `level` (enum pfi_cpu_level; 0 = any). */
const struct pfi_fast_kernels *pfi_fast_kernels_for(int32_t level);

/* All that this CPU has, the best first; NULL behind the last.  For tests. */
const struct pfi_fast_kernels *pfi_fast_kernels_at(int i);

pfi_fast_decode pfi_fast_decode_c;
pfi_fast_decode pfi_fast_decode_avx2;
pfi_fast_decode pfi_fast_decode_neon;
pfi_fast_ac_scan pfi_fast_ac_first_c, pfi_fast_ac_first_avx2;
pfi_fast_ac_scan pfi_fast_ac_refine_c, pfi_fast_ac_refine_avx2;
unsigned pfi_fast_idct_c(const int16_t *const *blocks, unsigned char *const *out,
                         int count, size_t stride,
                         const struct pfi_fast_quant *quant);
void pfi_fast_blend_rows_c(uint16_t *sums, const unsigned char *near,
                           const unsigned char *far, size_t n);
void pfi_fast_double_blended_c(unsigned char *out, const uint16_t *sums,
                               size_t n);
void pfi_fast_double_row_c(unsigned char *out, const unsigned char *in,
                           size_t n);
void pfi_fast_ycc_to_rgb_c(unsigned char *rgb, const unsigned char *y,
                           const unsigned char *cb, const unsigned char *cr,
                           size_t n);

#endif
