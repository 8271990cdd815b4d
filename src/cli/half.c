/* SPDX-License-Identifier: Apache-2.0
 * Conversions by arithmetic on the bits, so that they are the same on every
 * CPU. */
#include "src/cli/half.h"

#include <math.h>
#include <string.h>

static uint32_t to_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

float pfi_cli_from_f16(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3FF;

    if (exponent == 31)
        return from_bits(sign | 0x7F800000 | fraction << 13);
    if (exponent)
        return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    return sign ? -ldexpf((float)fraction, -24) : ldexpf((float)fraction, -24);
}

float pfi_cli_from_bf16(uint16_t bits)
{
    return from_bits((uint32_t)bits << 16);
}

/* value >> shift, rounded to nearest even; shift is 1 to 31. */
static uint32_t shift_even(uint32_t value, int shift)
{
    const uint32_t kept = value >> shift, half = (uint32_t)1 << (shift - 1);
    const uint32_t rest = value & ((half << 1) - 1);

    return kept + (rest > half || (rest == half && kept & 1));
}

uint16_t pfi_cli_to_f16(float value)
{
    const uint32_t bits = to_bits(value), magnitude = bits & 0x7FFFFFFF;
    const uint32_t sign = bits >> 16 & 0x8000;
    const int exponent = (int)(magnitude >> 23);

    if (magnitude > 0x7F800000)
        return (uint16_t)(sign | 0x7E00);
    if (exponent >= 143) /* 2^16 and more */
        return (uint16_t)(sign | 0x7C00);
    if (exponent >= 113) /* the carry of a rounding may make it infinite */
        return (uint16_t)(sign | shift_even(magnitude - (112u << 23), 13));
    if (exponent < 102) /* below half of the least subnormal */
        return (uint16_t)sign;
    return (uint16_t)(sign | shift_even((magnitude & 0x7FFFFF) | 0x800000,
                                        126 - exponent));
}

uint16_t pfi_cli_to_bf16(float value)
{
    const uint32_t bits = to_bits(value);

    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)shift_even(bits, 16);
}
