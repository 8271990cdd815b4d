/* SPDX-License-Identifier: Apache-2.0
 * Causes that change each value by itself: types, arithmetic, mean and standard
 * deviation. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/diff.h"
#include "src/cli/half.h"

/* In a sample of fewer, a rounding may fit by chance. */
#define MIN_VALUES 16

static bool same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

static float round_to(pinfold_dtype dtype, float value)
{
    return dtype == PINFOLD_F16    ? pfi_cli_from_f16(pfi_cli_to_f16(value))
           : dtype == PINFOLD_BF16 ? pfi_cli_from_bf16(pfi_cli_to_bf16(value))
                                   : value;
}

/* ---------------------------------------------------------------- types --- */

static int count_rounded(const struct pfi_cli_diff *d, pinfold_dtype dtype,
                         bool a_is_rounded)
{
    int fits = 0;

    for (int k = 0; k < d->n_pairs; k++) {
        const float *const narrow =
            a_is_rounded ? d->pairs[k].a : d->pairs[k].b;
        const float *const wide = a_is_rounded ? d->pairs[k].b : d->pairs[k].a;
        int64_t i = 0;

        while (i < d->values && same(narrow[i], round_to(dtype, wide[i])))
            i++;
        fits += i == d->values;
    }
    return fits;
}

static void try_types(struct pfi_cli_diff *d)
{
    static const pinfold_dtype dtypes[] = {PINFOLD_F16, PINFOLD_BF16};
    static const char *const names[] = {"f16", "bf16"};

    for (int t = 0; t < 2; t++) {
        const int a = count_rounded(d, dtypes[t], true);
        const int b = count_rounded(d, dtypes[t], false);

        if (a || b)
            pfi_cli_diff_cause(d, "rounded", a > b ? a : b,
                               "%s is %s, rounded to %s", a >= b ? "A" : "B",
                               a >= b ? "B" : "A", names[t]);
    }
}

/* ----------------------------------------------------------- arithmetic --- */

struct step {
    float mean, stddev;
    double exact_mean, exact_stddev; /* of the decimals that were meant */
};

static float divided(float x, const struct step *s)
{
    const float scaled = x / 255.0f;

    return (scaled - s->mean) / s->stddev;
}

static float multiplied(float x, const struct step *s)
{
    const float scaled = x * (1.0f / 255.0f);

    return (scaled - s->mean) / s->stddev;
}

static float by_reciprocal(float x, const struct step *s)
{
    const float scaled = x / 255.0f;

    return (scaled - s->mean) * (1.0f / s->stddev);
}

static float by_two_reciprocals(float x, const struct step *s)
{
    const float scaled = x * (1.0f / 255.0f);

    return (scaled - s->mean) * (1.0f / s->stddev);
}

static float one_product(float x, const struct step *s)
{
    const float scale = 1.0f / (255.0f * s->stddev);
    const float product = x * scale;

    return product + -s->mean / s->stddev;
}

static float one_fused(float x, const struct step *s)
{
    return fmaf(x, 1.0f / (255.0f * s->stddev), -s->mean / s->stddev);
}

static float in_codes(float x, const struct step *s)
{
    const float mean = s->mean * 255.0f, stddev = s->stddev * 255.0f;

    return (x - mean) / stddev;
}

static float in_codes_by_reciprocal(float x, const struct step *s)
{
    const float mean = s->mean * 255.0f, stddev = s->stddev * 255.0f;

    return (x - mean) * (1.0f / stddev);
}

static float in_double(float x, const struct step *s)
{
    return (float)(((double)x / 255.0 - s->exact_mean) / s->exact_stddev);
}

/* The first two are pinfold's own, in the order of pinfold_scale. */
static const struct {
    const char *words;
    float (*value)(float, const struct step *);
} arithmetics[] = {
    {"(x / 255 - mean) / std", divided},
    {"(x * (1 / 255) - mean) / std", multiplied},
    {"(x / 255 - mean) * (1 / std)", by_reciprocal},
    {"(x * (1 / 255) - mean) * (1 / std)", by_two_reciprocals},
    {"x * scale + bias", one_product},
    {"fma(x, scale, bias)", one_fused},
    {"(x - 255 mean) / (255 std)", in_codes},
    {"(x - 255 mean) * (1 / (255 std))", in_codes_by_reciprocal},
    {"float64, rounded once", in_double},
};

#define N_ARITHMETICS (sizeof(arithmetics) / sizeof(arithmetics[0]))

static double decimal(float value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%.6g", (double)value);
    return strtod(text, NULL);
}

/* Whether every value of `plain` is a code as the recipe computes it, and every
 * value of `other` the same code by the arithmetic. */
static bool is_arithmetic(const struct pfi_cli_diff *d, const float *plain,
                          const float *other, const struct step steps[3],
                          float (*value)(float, const struct step *))
{
    const int64_t plane = d->a.shape.h * d->a.shape.w;
    float (*const own)(float, const struct step *) =
        arithmetics[d->o->recipe.scale].value;
    float from[3][256], to[3][256];

    for (int c = 0; c < 3; c++) {
        for (int x = 0; x < 256; x++) {
            from[c][x] = round_to(d->a.dtype, own((float)x, &steps[c]));
            to[c][x] = round_to(d->a.dtype, value((float)x, &steps[c]));
        }
    }
    for (int64_t i = 0; i < 3 * plane; i++) {
        const int64_t c = i / plane;
        const float code =
            roundf((plain[i] * steps[c].stddev + steps[c].mean) * 255.0f);

        if (!(code >= 0.0f && code <= 255.0f) ||
            from[c][(int)code] != plain[i] || to[c][(int)code] != other[i])
            return false;
    }
    return true;
}

static void make_steps(const pinfold_recipe *r, struct step steps[3])
{
    for (int c = 0; c < 3; c++)
        steps[c] = (struct step){
            .mean = r->mean[c],
            .stddev = r->stddev[c],
            .exact_mean = decimal(r->mean[c]),
            .exact_stddev = decimal(r->stddev[c]),
        };
}

static void try_arithmetic(struct pfi_cli_diff *d)
{
    const size_t own = (size_t)d->o->recipe.scale;
    struct step steps[3];

    make_steps(&d->o->recipe, steps);
    for (size_t i = 0; i < N_ARITHMETICS; i++) {
        int a = 0, b = 0;

        for (int k = 0; i != own && k < d->n_pairs; k++) {
            const struct pfi_cli_pair *const p = &d->pairs[k];

            a += is_arithmetic(d, p->b, p->a, steps, arithmetics[i].value);
            b += is_arithmetic(d, p->a, p->b, steps, arithmetics[i].value);
        }
        if (a || b)
            pfi_cli_diff_cause(d, "arithmetic", a > b ? a : b,
                               "%s was computed by %s, %s by %s%s",
                               a >= b ? "A" : "B", arithmetics[i].words,
                               a >= b ? "B" : "A", arithmetics[own].words,
                               i < 2 ? " (1 ulp in 126 of the 256 codes)" : "");
    }
}

/* --------------------------------------------------- mean and deviation --- */

struct line {
    double slope, offset, worst;
    bool found;
};

/* The line from B's channel `from` to A's channel `to`, by least squares over
 * all pairs, and how far the worst value lies from it. */
static struct line fit_line(const struct pfi_cli_diff *d, int from, int to)
{
    const int64_t plane = d->a.shape.h * d->a.shape.w;
    double n = 0, sa = 0, sb = 0, sab = 0, sbb = 0;
    struct line line = {.found = false};

    for (int k = 0; k < d->n_pairs; k++) {
        const float *const a = d->pairs[k].a + to * plane;
        const float *const b = d->pairs[k].b + from * plane;

        for (int64_t i = 0; i < plane; i++) {
            n++;
            sa += (double)a[i];
            sb += (double)b[i];
            sab += (double)a[i] * (double)b[i];
            sbb += (double)b[i] * (double)b[i];
        }
    }
    const double variance = n * sbb - sb * sb;

    if (!(variance > 1e-9 * n * sbb)) /* one colour alone, or a NaN */
        return line;
    line.slope = (n * sab - sa * sb) / variance;
    line.offset = (sa - line.slope * sb) / n;
    if (!isfinite(line.slope) || !isfinite(line.offset))
        return line;
    for (int k = 0; k < d->n_pairs; k++) {
        for (int64_t i = 0; i < plane; i++) {
            const double a = (double)d->pairs[k].a[to * plane + i];
            const double b = (double)d->pairs[k].b[from * plane + i];

            line.worst =
                fmax(line.worst, fabs(a - line.slope * b - line.offset));
        }
    }
    line.found = true;
    return line;
}

/* How far from the line a value may lie by the roundings of both types, in
 * codes of 0..255. */
static double tolerance(const struct pfi_cli_diff *d)
{
    static const double codes[] = {0.01, 0.3, 0.51, 2.0};

    return codes[d->a.dtype] + codes[d->b.dtype];
}

/* B's own normalisation, of codes on 0..1. */
static void normalisation(const struct pfi_cli_diff *d, int c, double *mean,
                          double *stddev)
{
    const bool codes = d->b.dtype == PINFOLD_U8;

    *mean = codes ? 0 : decimal(d->o->recipe.mean[c]);
    *stddev = codes ? 1.0 / 255.0 : decimal(d->o->recipe.stddev[c]);
}

static bool near(const double values[3], double wanted)
{
    for (int c = 0; c < 3; c++)
        if (fabs(values[c] - wanted) > 2e-3 * wanted + 1e-4)
            return false;
    return true;
}

static void report_lines(struct pfi_cli_diff *d, const double mean[3],
                         const double stddev[3], bool reversed)
{
    const char *const order =
        reversed ? "A's channels are reversed (BGR), and it is " : "A is ";
    const char *const id = reversed ? "channels-and-mean" : "mean";

    if (near(mean, 0) && near(stddev, 1))
        pfi_cli_diff_cause(d, id, d->n_pairs, "%snot normalised: 0 to 1",
                           order);
    else if (near(mean, 0) && near(stddev, 1.0 / 255.0))
        pfi_cli_diff_cause(d, id, d->n_pairs,
                           "%snot divided by 255, nor normalised: 0 to 255",
                           order);
    else
        pfi_cli_diff_cause(d, id, d->n_pairs,
                           "%snormalised by mean %.4g,%.4g,%.4g and std "
                           "%.4g,%.4g,%.4g",
                           order, mean[0], mean[1], mean[2], stddev[0],
                           stddev[1], stddev[2]);
}

/* A = slope * B + offset in each channel, where B is (x - mean) / std. */
static bool try_lines(struct pfi_cli_diff *d, bool reversed)
{
    double mean[3], stddev[3];
    bool other = false;

    for (int c = 0; c < 3; c++) {
        const int from = reversed ? 2 - c : c;
        const struct line line = fit_line(d, from, c);
        double m, s;

        normalisation(d, from, &m, &s);
        if (!line.found || fabs(line.slope) < 1e-6)
            return false;
        stddev[c] = s / line.slope;
        mean[c] = m - line.offset * stddev[c];
        if (line.worst * fabs(stddev[c]) * 255.0 > tolerance(d))
            return false;
        /* In codes: what is next to B itself is a rounding, no other mean. */
        other = other || fabs(line.slope - 1) * 255.0 > 0.05 ||
                fabs(line.offset) * s * 255.0 > 0.05;
    }
    if (!other && !reversed)
        return false;
    report_lines(d, mean, stddev, reversed);
    return true;
}

/* ---------------------------------------------------- next to the codes --- */

static double code_of(const struct pfi_cli_diff *d, pinfold_dtype dtype,
                      float value, int64_t c)
{
    const pinfold_recipe *const r = &d->o->recipe;

    if (dtype == PINFOLD_U8)
        return (double)value;
    return ((double)value * (double)r->stddev[c] + (double)r->mean[c]) * 255.0;
}

/* Whether A's codes are B's or their neighbours; both round, each in its own
 * way, once for each of the two passes. */
static void try_neighbours(struct pfi_cli_diff *d)
{
    const int64_t plane = d->a.shape.h * d->a.shape.w;
    const double slack = tolerance(d);
    int whole = 0, between = 0;

    for (int k = 0; k < d->n_pairs; k++) {
        int64_t fractions = 0, i;

        for (i = 0; i < 3 * plane; i++) {
            const double a =
                code_of(d, d->a.dtype, d->pairs[k].a[i], i / plane);
            const double b =
                code_of(d, d->b.dtype, d->pairs[k].b[i], i / plane);

            if (!(fabs(a - b) < 1.25 + slack) || fabs(b - round(b)) > slack)
                break;
            fractions += fabs(a - round(a)) > slack;
        }
        if (i == 3 * plane)
            *(10 * fractions > i ? &between : &whole) += 1;
    }
    if (between)
        pfi_cli_diff_cause(d, "unrounded", between,
                           "A was resized in floats and not rounded to the "
                           "codes 0 to 255, as B was");
    if (whole)
        pfi_cli_diff_cause(
            d, "neighbours", whole,
            "no code of A is further than 1 from B's: the resize "
            "rounds otherwise (torchvision's of tensors does), "
            "or the decoder");
}

void pfi_cli_diff_try_values(struct pfi_cli_diff *d)
{
    const bool rgb = d->a.shape.pictures && d->a.shape.c == 3;
    const bool floats = d->a.dtype != PINFOLD_U8 && d->b.dtype != PINFOLD_U8;

    if (floats && d->values >= MIN_VALUES)
        try_types(d);
    if (rgb && floats && d->a.dtype == d->b.dtype)
        try_arithmetic(d);
    if (rgb && !d->n_causes && !try_lines(d, false))
        (void)try_lines(d, true);
}

void pfi_cli_diff_try_neighbours(struct pfi_cli_diff *d)
{
    if (d->a.shape.pictures && d->a.shape.c == 3 &&
        d->a.dtype != PINFOLD_BF16 && d->b.dtype != PINFOLD_BF16)
        try_neighbours(d);
}
