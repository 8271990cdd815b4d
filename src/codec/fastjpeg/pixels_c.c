/* SPDX-License-Identifier: Apache-2.0
 * Fancy upsampling (jdsample.c) and colours (jdcolor.c) of libjpeg-turbo. */
#include "src/codec/fastjpeg/kernels.h"

void pfi_fast_blend_rows_c(uint16_t *sums, const unsigned char *near,
                           const unsigned char *far, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] = (uint16_t)(3 * near[i] + far[i]);
}

/* At the picture's edge libjpeg leaves out the neighbour and counts the sample
 * itself four times; callers put a copy of it where the neighbour would be. */
void pfi_fast_double_blended_c(unsigned char *out, const uint16_t *sums,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = (unsigned char)((3 * sums[i] + *(sums + i - 1) + 8) >> 4);
        out[2 * i + 1] = (unsigned char)((3 * sums[i] + sums[i + 1] + 7) >> 4);
    }
}

void pfi_fast_double_row_c(unsigned char *out, const unsigned char *in,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = (unsigned char)((3 * in[i] + *(in + i - 1) + 1) >> 2);
        out[2 * i + 1] = (unsigned char)((3 * in[i] + in[i + 1] + 2) >> 2);
    }
}

static unsigned char clip8(int value)
{
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Factors in 1/65536: 1.402, 1.772, 0.71414, 0.34414. */
void pfi_fast_ycc_to_rgb_c(unsigned char *rgb, const unsigned char *y,
                           const unsigned char *cb, const unsigned char *cr,
                           size_t n)
{
    for (size_t i = 0; i < n; i++, rgb += 3) {
        const int b = cb[i] - 128, r = cr[i] - 128;

        rgb[0] = clip8(y[i] + ((91881 * r + 32768) >> 16));
        rgb[1] = clip8(y[i] + ((-22554 * b - 46802 * r + 32768) >> 16));
        rgb[2] = clip8(y[i] + ((116130 * b + 32768) >> 16));
    }
}
