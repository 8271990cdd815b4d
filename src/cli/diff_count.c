/* SPDX-License-Identifier: Apache-2.0
 * Counts how two samples differ. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/diff.h"
#include "src/cli/half.h"

static float widen(pinfold_dtype dtype, const unsigned char *p)
{
    uint16_t half;
    float value;

    switch (dtype) {
    case PINFOLD_U8: return (float)*p;
    case PINFOLD_F16:
    case PINFOLD_BF16:
        memcpy(&half, p, sizeof(half));
        return dtype == PINFOLD_F16 ? pfi_cli_from_f16(half)
                                    : pfi_cli_from_bf16(half);
    case PINFOLD_F32: break;
    }
    memcpy(&value, p, sizeof(value));
    return value;
}

void pfi_cli_diff_widen(const struct pfi_cli_side *side, const void *data,
                        float *out)
{
    static const size_t sizes[] = {4, 2, 1, 2};
    const struct pfi_cli_shape *const s = &side->shape;
    const size_t item = sizes[side->dtype];
    const unsigned char *p = data;

    if (!s->nhwc) {
        for (int64_t i = 0; i < s->c * s->h * s->w; i++, p += item)
            out[i] = widen(side->dtype, p);
        return;
    }
    for (int64_t i = 0; i < s->h * s->w; i++)
        for (int64_t c = 0; c < s->c; c++, p += item)
            out[c * s->h * s->w + i] = widen(side->dtype, p);
}

/* A number that grows by 1 from one value of the type to the next. */
static int64_t place(pinfold_dtype dtype, float value)
{
    uint32_t bits;
    int64_t magnitude;

    if (dtype == PINFOLD_U8)
        return (int64_t)value;
    memcpy(&bits, &value, sizeof(bits));
    magnitude = bits & 0x7FFFFFFF;
    if (dtype == PINFOLD_F16)
        magnitude = pfi_cli_to_f16(value) & 0x7FFF;
    else if (dtype == PINFOLD_BF16)
        magnitude >>= 16;
    return bits >> 31 ? -magnitude : magnitude;
}

/* Bin 0 holds 1, bin 1 holds 2, bin k from 2^(k-1) + 1 to 2^k. */
static int bin_of(int64_t ulps)
{
    int bin = 0;

    while (bin < PFI_CLI_DIFF_BINS - 1 && ((int64_t)1 << bin) < ulps)
        bin++;
    return bin;
}

static void count_value(struct pfi_cli_diff *d, int64_t sample, int64_t i,
                        float a, float b)
{
    const struct pfi_cli_shape *const s = &d->a.shape;
    struct pfi_cli_diff_count *const n = &d->count;
    const pinfold_dtype dtype =
        d->a.dtype == d->b.dtype ? d->a.dtype : PINFOLD_F32;
    const int64_t c = i / (s->h * s->w);
    const double difference = fabs((double)a - (double)b);

    n->differ++;
    n->channels[c < PFI_CLI_DIFF_CHANNELS ? c : PFI_CLI_DIFF_CHANNELS - 1]++;
    if (isnan(a) || isnan(b)) {
        n->nan_a += isnan(a) != 0;
        n->nan_b += isnan(b) != 0;
        return;
    }
    n->bins[bin_of(llabs(place(dtype, a) - place(dtype, b)))]++;
    if (difference > n->largest) {
        n->largest = difference;
        n->largest_a = a;
        n->largest_b = b;
        n->at_sample = sample;
        n->at_c = c;
        n->at_y = i / s->w % s->h;
        n->at_x = i % s->w;
    }
}

/* FNV-1a over words of 32 bits, its halves mixed at the end of each. */
static uint64_t hash(const float *values, int64_t n)
{
    uint64_t h = 0xCBF29CE484222325;

    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof(bits));
        h = (h ^ bits) * 0x100000001B3;
        h ^= h >> 29;
    }
    return h;
}

static bool keep_pair(struct pfi_cli_diff *d, int64_t sample, const float *a,
                      const float *b)
{
    const size_t bytes = (size_t)d->values * sizeof(float);
    struct pfi_cli_pair *const pair = &d->pairs[d->n_pairs];

    pair->sample = sample;
    pair->a = malloc(bytes);
    pair->b = malloc(bytes);
    if (!pair->a || !pair->b) {
        free(pair->a);
        free(pair->b);
        *pair = (struct pfi_cli_pair){0};
        return false;
    }
    memcpy(pair->a, a, bytes);
    memcpy(pair->b, b, bytes);
    d->n_pairs++;
    return true;
}

bool pfi_cli_diff_add(struct pfi_cli_diff *d, int64_t sample, const float *a,
                      const float *b)
{
    struct pfi_cli_diff_count *const n = &d->count;
    const int64_t before = n->differ;

    n->samples++;
    n->values += d->values;
    for (int64_t i = 0; i < d->values; i++) {
        if (a[i] == b[i])
            n->zero_signs += a[i] == 0.0f && !signbit(a[i]) != !signbit(b[i]);
        else if (isnan(a[i]) && isnan(b[i]))
            n->nan_both++;
        else
            count_value(d, sample, i, a[i], b[i]);
    }
    d->hashes[0][sample] = hash(a, d->values);
    d->hashes[1][sample] = hash(b, d->values);
    if (n->differ == before)
        return true;
    if (n->n_first < PFI_CLI_DIFF_FIRST) {
        n->first[n->n_first] = sample;
        n->first_differ[n->n_first++] = n->differ - before;
    }
    n->differing_samples++;
    return d->n_pairs == PFI_CLI_DIFF_PAIRS || keep_pair(d, sample, a, b);
}

void pfi_cli_diff_cause(struct pfi_cli_diff *d, const char *id, int fits,
                        const char *format, ...)
{
    struct pfi_cli_cause *cause;
    va_list arguments;

    if (d->n_causes == PFI_CLI_DIFF_CAUSES)
        return;
    cause = &d->causes[d->n_causes++];
    cause->id = id;
    cause->fits = fits;
    va_start(arguments, format);
    (void)vsnprintf(cause->text, sizeof(cause->text), format, arguments);
    va_end(arguments);
}
