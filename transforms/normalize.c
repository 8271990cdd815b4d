/* SPDX-License-Identifier: Apache-2.0
 * ToTensor and Normalize by table: x / 255, less the mean, over the deviation,
 * each rounded to f32 (torchvision 0.29.2 transforms/functional.py). */
#include "transforms/normalize.h"

#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* value >> shift, rounded to nearest, ties to even. */
static uint32_t shift_even(uint32_t value, unsigned shift)
{
    const uint32_t half = (uint32_t)1 << (shift - 1);
    const uint32_t rest = value & ((half << 1) - 1);
    const uint32_t down = value >> shift;

    return down + (rest > half || (rest == half && (down & 1)));
}

uint16_t pfi_f16_from_f32(float value)
{
    const uint32_t bits = bits_of(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t exponent = bits >> 23 & 0xFF;
    const uint32_t fraction = bits & 0x7FFFFFu;

    if (exponent == 0xFF)
        return (uint16_t)(sign | 0x7C00u | (fraction ? 0x200u : 0u));
    if (exponent < 102) /* below half of the smallest subnormal, 2^-25 */
        return (uint16_t)sign;
    if (exponent < 113) /* subnormal: below 2^-14 */
        return (uint16_t)(sign | shift_even(fraction | 0x800000u,
                                            13 + (113 - exponent)));
    if (exponent >= 143)
        return (uint16_t)(sign | 0x7C00u);
    /* A carry runs into the exponent, up to infinity, as it should. */
    return (uint16_t)(sign | shift_even((exponent - 112) << 23 | fraction, 13));
}

uint16_t pfi_bf16_from_f32(float value)
{
    const uint32_t bits = bits_of(value);

    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)shift_even(bits, 16);
}

/* What the stores of 2 and 4 bytes compute with. */
static void make_lanes(struct pfi_norm *norm, const struct pfi_recipe *recipe)
{
    for (int i = 0; i < PFI_NORM_LANES; i++) {
        const double inverse = 1.0 / (double)recipe->stddev[i % 3];

        norm->mean[i] = recipe->mean[i % 3];
        norm->inverse[i] = (float)inverse;
        norm->inverse_low[i] = (float)(inverse - (double)(float)inverse);
    }
}

void pfi_norm_make(struct pfi_norm *norm, const struct pfi_recipe *recipe)
{
    memset(norm, 0, sizeof(*norm));
    norm->dtype = recipe->dtype;
    make_lanes(norm, recipe);
    for (int c = 0; c < 3; c++) {
        for (int code = 0; code < 256; code++) {
            const float unit = recipe->scale == PINFOLD_MULTIPLY
                                   ? (float)code * (float)(1.0 / 255.0)
                                   : (float)code / 255.0f;
            const float centred = unit - recipe->mean[c];
            const float value = centred / recipe->stddev[c];

            if (recipe->dtype == PINFOLD_F32)
                norm->channel[c].f32[code] = value;
            else if (recipe->dtype == PINFOLD_F16)
                norm->channel[c].u16[code] = pfi_f16_from_f32(value);
            else if (recipe->dtype == PINFOLD_BF16)
                norm->channel[c].u16[code] = pfi_bf16_from_f32(value);
        }
    }
}

/* ------------------------------------------------------------------ stores --- */

static void f32_planes(void *dst, size_t plane, const unsigned char *rgb,
                       int32_t n, const struct pfi_norm *norm)
{
    for (size_t c = 0; c < 3; c++) {
        const float *const table = norm->channel[c].f32;
        float *const out = (float *)dst + c * plane;

        for (int32_t i = 0; i < n; i++)
            out[i] = table[rgb[3 * (size_t)i + c]];
    }
}

static void f32_interleaved(void *dst, size_t plane, const unsigned char *rgb,
                            int32_t n, const struct pfi_norm *norm)
{
    float *out = dst;

    (void)plane;
    for (int32_t i = 0; i < n; i++, rgb += 3, out += 3)
        for (size_t c = 0; c < 3; c++)
            out[c] = norm->channel[c].f32[rgb[c]];
}

static void u16_planes(void *dst, size_t plane, const unsigned char *rgb,
                       int32_t n, const struct pfi_norm *norm)
{
    for (size_t c = 0; c < 3; c++) {
        const uint16_t *const table = norm->channel[c].u16;
        uint16_t *const out = (uint16_t *)dst + c * plane;

        for (int32_t i = 0; i < n; i++)
            out[i] = table[rgb[3 * (size_t)i + c]];
    }
}

static void u16_interleaved(void *dst, size_t plane, const unsigned char *rgb,
                            int32_t n, const struct pfi_norm *norm)
{
    uint16_t *out = dst;

    (void)plane;
    for (int32_t i = 0; i < n; i++, rgb += 3, out += 3)
        for (size_t c = 0; c < 3; c++)
            out[c] = norm->channel[c].u16[rgb[c]];
}

static void u8_planes(void *dst, size_t plane, const unsigned char *rgb,
                      int32_t n, const struct pfi_norm *norm)
{
    (void)norm;
    for (size_t c = 0; c < 3; c++) {
        unsigned char *const out = (unsigned char *)dst + c * plane;

        for (int32_t i = 0; i < n; i++)
            out[i] = rgb[3 * (size_t)i + c];
    }
}

static void u8_interleaved(void *dst, size_t plane, const unsigned char *rgb,
                           int32_t n, const struct pfi_norm *norm)
{
    (void)plane;
    (void)norm;
    memcpy(dst, rgb, 3 * (size_t)n);
}

pfi_store_function *pfi_store_c(pinfold_dtype dtype, pinfold_layout layout)
{
    const bool planes = layout == PINFOLD_NCHW;

    if (dtype == PINFOLD_F32)
        return planes ? f32_planes : f32_interleaved;
    if (dtype == PINFOLD_U8)
        return planes ? u8_planes : u8_interleaved;
    return planes ? u16_planes : u16_interleaved;
}

void *pfi_store_place(const struct pfi_recipe *recipe, void *dst, int32_t y,
                      int32_t x)
{
    const size_t pixel = (size_t)y * (size_t)recipe->width + (size_t)x;
    const size_t element =
        recipe->layout == PINFOLD_NCHW ? pixel : 3 * pixel;

    return (unsigned char *)dst + element * pfi_dtype_size(recipe->dtype);
}

void pfi_store_black(const struct pfi_recipe *recipe,
                     const struct pfi_norm *norm, void *dst, int32_t y,
                     int32_t x, int32_t n)
{
    static const unsigned char black[3 * 64] = {0};
    pfi_store_function *const store =
        pfi_store_c(recipe->dtype, recipe->layout);

    for (int32_t i = 0; i < n; i += 64)
        store(pfi_store_place(recipe, dst, y, x + i), recipe->plane, black,
              n - i < 64 ? n - i : 64, norm);
}
