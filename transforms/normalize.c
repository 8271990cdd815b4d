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

void pfi_norm_make(struct pfi_norm *norm, const struct pfi_recipe *recipe)
{
    memset(norm, 0, sizeof(*norm));
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

/* One channel of n pixels; `step` is 1 in planes and 3 in interleaved rows, and
 * the codes lie `codes_step` apart. */
static void store_channel(const struct pfi_recipe *recipe,
                          const struct pfi_norm *norm, int c, void *dst,
                          size_t at, size_t step, const unsigned char *codes,
                          size_t codes_step, int32_t n)
{
    const float *const f32 = norm->channel[c].f32;
    const uint16_t *const u16 = norm->channel[c].u16;
    const size_t count = (size_t)n;

    if (recipe->dtype == PINFOLD_F32) {
        float *const out = (float *)dst + at;

        for (size_t i = 0; i < count; i++)
            out[i * step] = f32[codes[i * codes_step]];
    } else if (recipe->dtype == PINFOLD_U8) {
        unsigned char *const out = (unsigned char *)dst + at;

        for (size_t i = 0; i < count; i++)
            out[i * step] = codes[i * codes_step];
    } else {
        uint16_t *const out = (uint16_t *)dst + at;

        for (size_t i = 0; i < count; i++)
            out[i * step] = u16[codes[i * codes_step]];
    }
}

static void store(const struct pfi_recipe *recipe, const struct pfi_norm *norm,
                  void *dst, int32_t y, int32_t x, const unsigned char *rgb,
                  size_t rgb_step, int32_t n)
{
    const size_t width = (size_t)recipe->width;
    const size_t plane = recipe->plane;
    const size_t pixel = (size_t)y * width + (size_t)x;
    const bool nchw = recipe->layout == PINFOLD_NCHW;

    for (size_t c = 0; c < 3; c++)
        store_channel(recipe, norm, (int)c, dst,
                      nchw ? c * plane + pixel : pixel * 3 + c, nchw ? 1 : 3,
                      rgb + (rgb_step ? c : 0), rgb_step, n);
}

void pfi_store_pixels(const struct pfi_recipe *recipe,
                      const struct pfi_norm *norm, void *dst, int32_t y,
                      int32_t x, const unsigned char *rgb, int32_t n)
{
    store(recipe, norm, dst, y, x, rgb, 3, n);
}

void pfi_store_black(const struct pfi_recipe *recipe,
                     const struct pfi_norm *norm, void *dst, int32_t y,
                     int32_t x, int32_t n)
{
    static const unsigned char black = 0;

    store(recipe, norm, dst, y, x, &black, 0, n);
}
