/* SPDX-License-Identifier: Apache-2.0
 * The filters' weights, in the order of operations that gives Pillow's bits. */
#include "transforms/filter.h"

#include <math.h>

#define PFI_PI 3.14159265358979323846

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double bilinear(double x)
{
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

static double hamming(double x)
{
    x = fabs(x);
    if (x == 0.0)
        return 1.0;
    if (x >= 1.0)
        return 0.0;
    x *= PFI_PI;
    /* Pillow's constants are floats. */
    return sin(x) / x * ((double)0.54f + (double)0.46f * cos(x));
}

static double bicubic(double x)
{
    const double a = -0.5;

    x = fabs(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0)
        return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
}

static double sinc(double x)
{
    if (x == 0.0)
        return 1.0;
    x *= PFI_PI;
    return sin(x) / x;
}

static double lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

const struct pfi_filter *pfi_filter_get(pinfold_filter filter)
{
    static const struct pfi_filter filters[] = {
        [PINFOLD_BILINEAR] = {bilinear, 1.0}, [PINFOLD_NEAREST] = {NULL, 0.0},
        [PINFOLD_BOX] = {box, 0.5},           [PINFOLD_HAMMING] = {hamming, 1.0},
        [PINFOLD_BICUBIC] = {bicubic, 2.0},   [PINFOLD_LANCZOS] = {lanczos, 3.0},
    };

    return &filters[filter];
}
