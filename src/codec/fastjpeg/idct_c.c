/* SPDX-License-Identifier: Apache-2.0
 * The inverse transform that libjpeg calls ISLOW (jidctint.c): columns, then
 * rows, 13 bits of fraction, 2 of them kept in between. */
#include <string.h>

#include "src/codec/fastjpeg/kernels.h"

#define FRACTION 13
#define KEPT 2

static const unsigned char natural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/* The factors of jidctint.c, in 1/8192, added up for each input: its rotations
 * round nothing before the end, so that this sum is the same number. */
static const int even[2][2] = {{10703, 4433}, {4433, -10704}};
static const int odd[4][4] = {{11363, 9633, 6437, 2260},
                              {9633, -2259, -11362, -6436},
                              {6437, -11362, 2261, 9633},
                              {2260, -6436, 9633, -11363}};

/* Eight values, `step` apart, in place. */
static void transform(int *v, int step, int shift)
{
    const int round = 1 << (shift - 1);
    int e[4], half[4];

    half[0] = (v[0] + v[4 * step]) * (1 << FRACTION) + round;
    half[1] = (v[0] - v[4 * step]) * (1 << FRACTION) + round;
    half[2] = v[2 * step] * even[0][0] + v[6 * step] * even[0][1];
    half[3] = v[2 * step] * even[1][0] + v[6 * step] * even[1][1];
    e[0] = half[0] + half[2];
    e[1] = half[1] + half[3];
    e[2] = half[1] - half[3];
    e[3] = half[0] - half[2];
    int o[4];
    for (int i = 0; i < 4; i++)
        o[i] = v[step] * odd[i][0] + v[3 * step] * odd[i][1] +
               v[5 * step] * odd[i][2] + v[7 * step] * odd[i][3];
    for (int i = 0; i < 4; i++) {
        v[i * step] = (e[i] + o[i]) >> shift;
        v[(7 - i) * step] = (e[i] - o[i]) >> shift;
    }
}

static unsigned beyond(int value, int bound)
{
    return value < -bound - 1 || value > bound;
}

static unsigned char sample(int value)
{
    value += 128;
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static unsigned one_block(const int16_t *block, unsigned char *out,
                          size_t stride, const struct pfi_fast_quant *quant)
{
    int v[64];
    unsigned doubt = 0;

    for (int i = 0; i < 64; i++) {
        doubt |= block[i] > quant->largest[i] || block[i] < -quant->largest[i];
        v[natural[i]] = block[i] * quant->factor[i];
    }
    if (doubt) /* what follows might not fit */
        return doubt;
    for (int i = 0; i < 8; i++)
        transform(v + i, 8, FRACTION - KEPT);
    for (int i = 0; i < 64; i++)
        doubt |= beyond(v[i], PFI_FAST_BETWEEN);
    if (doubt)
        return doubt;
    for (int i = 0; i < 8; i++)
        transform(v + 8 * i, 1, FRACTION + KEPT + 3);
    for (int i = 0; i < 64; i++) {
        doubt |= beyond(v[i], PFI_FAST_RESULT);
        out[(size_t)(i / 8) * stride + (size_t)(i % 8)] = sample(v[i]);
    }
    return doubt;
}

unsigned pfi_fast_idct_c(const int16_t *const *blocks, unsigned char *const *out,
                         int count, size_t stride,
                         const struct pfi_fast_quant *quant)
{
    unsigned doubt = 0;

    for (int i = 0; i < count; i++)
        doubt |= one_block(blocks[i], out[i], stride, quant);
    return doubt;
}
