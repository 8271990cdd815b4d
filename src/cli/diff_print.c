/* SPDX-License-Identifier: Apache-2.0
 * The report of a diff, in words and in JSON. */
#include <math.h>
#include <string.h>

#include "src/cli/describe.h"
#include "src/cli/diff.h"
#include "src/cli/text.h"

static void copy_line(const struct pfi_cli_tensor *t, int64_t line, char *out,
                      size_t size)
{
    const char *at = t->paths, *const end = t->paths + t->paths_size;
    const char *stop;
    size_t length;

    for (; at && line > 0; line--) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    stop = at && at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    if (!stop)
        return;
    length = (size_t)(stop - at) < size ? (size_t)(stop - at) : size - 1;
    memcpy(out, at, length);
    out[length] = '\0';
}

void pfi_cli_diff_path(const struct pfi_cli_diff *d, int64_t sample, char *out,
                       size_t size)
{
    out[0] = '\0';
    if (d->dataset)
        (void)snprintf(out, size, "%s",
                       pinfold_dataset_path(d->dataset, sample));
    else if (d->paths)
        copy_line(d->paths, sample, out, size);
}

/* The limits of a bin, which holds low to high ulps. */
static void limits(int bin, long long *low, long long *high)
{
    *high = 1LL << bin;
    *low = bin ? *high / 2 + 1 : 1;
}

static void shape_in_words(char mark, const struct pfi_cli_side *s)
{
    const struct pfi_cli_shape *const p = &s->shape;

    (void)printf("%c  %s: %s, %lld x ", mark, s->name,
                 pfi_cli_dtype_name(s->dtype), (long long)p->n);
    if (!p->pictures)
        (void)printf("%lld values", (long long)p->w);
    else if (p->nhwc)
        (void)printf("%lld x %lld x %lld (NHWC)", (long long)p->h,
                     (long long)p->w, (long long)p->c);
    else
        (void)printf("%lld x %lld x %lld (NCHW)", (long long)p->c,
                     (long long)p->h, (long long)p->w);
    (void)puts(s->tensor ? "" : ", made from the tree");
}

static void print_numbers(const struct pfi_cli_diff *d)
{
    const struct pfi_cli_diff_count *const n = &d->count;
    const pinfold_dtype dtype =
        d->a.dtype == d->b.dtype ? d->a.dtype : PINFOLD_F32;

    if (n->largest > 0)
        (void)printf("largest difference %.9g: sample %lld, channel %lld, y "
                     "%lld, x %lld (A %.9g, B %.9g)\n",
                     n->largest, (long long)n->at_sample, (long long)n->at_c,
                     (long long)n->at_y, (long long)n->at_x,
                     (double)n->largest_a, (double)n->largest_b);
    (void)printf("by channel:");
    for (int c = 0; c < PFI_CLI_DIFF_CHANNELS && c < d->a.shape.c; c++)
        (void)printf(" %lld", (long long)n->channels[c]);
    (void)printf("\nby %s:", dtype == PINFOLD_U8    ? "codes"
                             : dtype == PINFOLD_F32 ? "ulps"
                             : dtype == PINFOLD_F16 ? "ulps of f16"
                                                    : "ulps of bf16");
    for (int i = 0; i < PFI_CLI_DIFF_BINS; i++) {
        long long low, high;

        limits(i, &low, &high);
        if (n->bins[i] && low == high)
            (void)printf(" %lld: %lld;", low, (long long)n->bins[i]);
        else if (n->bins[i])
            (void)printf(" %lld-%lld: %lld;", low, high, (long long)n->bins[i]);
    }
    (void)puts("");
}

static void print_samples(const struct pfi_cli_diff *d)
{
    const struct pfi_cli_diff_count *const n = &d->count;
    char path[512];

    for (int i = 0; i < n->n_first; i++) {
        (void)printf("sample %lld: %lld values", (long long)n->first[i],
                     (long long)n->first_differ[i]);
        pfi_cli_diff_path(d, n->first[i], path, sizeof(path));
        if (path[0]) {
            (void)fputs(", ", stdout);
            if (d->dataset)
                pfi_cli_print_name(stdout, path);
            else /* it has its escapes already */
                (void)fputs(path, stdout);
        }
        (void)puts("");
    }
    if (n->differing_samples > n->n_first)
        (void)printf("... and %lld more samples\n",
                     (long long)n->differing_samples - n->n_first);
}

static void print_causes(const struct pfi_cli_diff *d)
{
    for (int i = 0; i < d->n_causes; i++) {
        (void)printf("cause: %s", d->causes[i].text);
        if (d->causes[i].fits >= 0)
            (void)printf(" [in %d of the %d sample%s tried]", d->causes[i].fits,
                         d->n_pairs, pfi_cli_plural(d->n_pairs, "s"));
        (void)puts("");
    }
    if (!d->n_causes)
        (void)puts("cause: none of the known ones");
}

void pfi_cli_diff_print(const struct pfi_cli_diff *d)
{
    const struct pfi_cli_diff_count *const n = &d->count;

    shape_in_words('A', &d->a);
    shape_in_words('B', &d->b);
    if (d->mismatch[0])
        (void)printf("the shapes differ: %s\n", d->mismatch);
    if (!d->comparable)
        return;
    if (d->a.dtype != d->b.dtype)
        (void)puts("the types differ; the values were compared");
    (void)printf("%lld of %lld value%s differ, in %lld of %lld sample%s\n",
                 (long long)n->differ, (long long)n->values,
                 pfi_cli_plural(n->values, "s"),
                 (long long)n->differing_samples, (long long)n->samples,
                 pfi_cli_plural(n->samples, "s"));
    if (n->nan_a || n->nan_b || n->nan_both)
        (void)printf("NaN: %lld in A only, %lld in B only, %lld in both (these "
                     "count as equal)\n",
                     (long long)n->nan_a, (long long)n->nan_b,
                     (long long)n->nan_both);
    if (n->zero_signs)
        (void)printf("%lld zeros have another sign (these count as equal)\n",
                     (long long)n->zero_signs);
    if (d->bad)
        (void)printf("%lld pictures of the tree are bad, and zeros here\n",
                     (long long)d->bad);
    if (!n->differ)
        return;
    print_numbers(d);
    print_samples(d);
    print_causes(d);
}

/* ----------------------------------------------------------------- JSON --- */

static void json_number(double value)
{
    if (isfinite(value))
        (void)printf("%.9g", value);
    else
        (void)fputs(isnan(value) ? "\"NaN\""
                    : value > 0  ? "\"Infinity\""
                                 : "\"-Infinity\"",
                    stdout);
}

static void json_side(const char *key, const struct pfi_cli_side *s)
{
    const struct pfi_cli_shape *const p = &s->shape;

    (void)printf("\"%s\":{\"name\":", key);
    pfi_cli_print_json(stdout, s->name);
    (void)printf(",\"kind\":\"%s\",\"dtype\":\"%s\",",
                 s->tensor ? "tensor" : "tree", pfi_cli_dtype_name(s->dtype));
    if (!p->pictures)
        (void)printf("\"layout\":null,\"shape\":[%lld,%lld]}", (long long)p->n,
                     (long long)p->w);
    else if (p->nhwc)
        (void)printf("\"layout\":\"nhwc\",\"shape\":[%lld,%lld,%lld,%lld]}",
                     (long long)p->n, (long long)p->h, (long long)p->w,
                     (long long)p->c);
    else
        (void)printf("\"layout\":\"nchw\",\"shape\":[%lld,%lld,%lld,%lld]}",
                     (long long)p->n, (long long)p->c, (long long)p->h,
                     (long long)p->w);
}

static void json_numbers(const struct pfi_cli_diff *d)
{
    const struct pfi_cli_diff_count *const n = &d->count;
    bool first = true;

    if (n->largest > 0) {
        (void)fputs("\"largest\":{\"difference\":", stdout);
        json_number(n->largest);
        (void)printf(",\"sample\":%lld,\"channel\":%lld,\"y\":%lld,\"x\":%lld,"
                     "\"a\":",
                     (long long)n->at_sample, (long long)n->at_c,
                     (long long)n->at_y, (long long)n->at_x);
        json_number((double)n->largest_a);
        (void)fputs(",\"b\":", stdout);
        json_number((double)n->largest_b);
        (void)fputs("},", stdout);
    } else {
        (void)fputs("\"largest\":null,", stdout);
    }
    (void)fputs("\"channels\":[", stdout);
    for (int c = 0; c < PFI_CLI_DIFF_CHANNELS && c < d->a.shape.c; c++)
        (void)printf("%s%lld", c ? "," : "", (long long)n->channels[c]);
    (void)fputs("],\"ulps\":[", stdout);
    for (int i = 0; i < PFI_CLI_DIFF_BINS; i++) {
        long long low, high;

        limits(i, &low, &high);
        if (n->bins[i])
            (void)printf("%s{\"from\":%lld,\"to\":%lld,\"count\":%lld}",
                         first ? "" : ",", low, high, (long long)n->bins[i]);
        first = first && !n->bins[i];
    }
    (void)fputs("],", stdout);
}

static void json_lists(const struct pfi_cli_diff *d)
{
    char path[512];

    (void)fputs("\"first\":[", stdout);
    for (int i = 0; i < d->count.n_first; i++) {
        pfi_cli_diff_path(d, d->count.first[i], path, sizeof(path));
        (void)printf(
            "%s{\"sample\":%lld,\"values\":%lld,\"path\":", i ? "," : "",
            (long long)d->count.first[i], (long long)d->count.first_differ[i]);
        if (path[0])
            pfi_cli_print_json(stdout, path);
        else
            (void)fputs("null", stdout);
        (void)fputc('}', stdout);
    }
    (void)fputs("],\"causes\":[", stdout);
    for (int i = 0; i < d->n_causes; i++) {
        const struct pfi_cli_cause *const c = &d->causes[i];

        (void)printf("%s{\"id\":\"%s\",\"text\":", i ? "," : "", c->id);
        pfi_cli_print_json(stdout, c->text);
        if (c->fits < 0)
            (void)fputs(",\"fits\":null,\"tried\":null}", stdout);
        else
            (void)printf(",\"fits\":%d,\"tried\":%d}", c->fits, d->n_pairs);
    }
    (void)fputs("]}\n", stdout);
}

void pfi_cli_diff_print_json(const struct pfi_cli_diff *d)
{
    const struct pfi_cli_diff_count *const n = &d->count;

    (void)fputs("{\"schema\":1,", stdout);
    json_side("a", &d->a);
    (void)fputc(',', stdout);
    json_side("b", &d->b);
    (void)printf(",\"equal\":%s,\"shapes\":",
                 !n->differ && !d->mismatch[0] ? "true" : "false");
    if (d->mismatch[0])
        pfi_cli_print_json(stdout, d->mismatch);
    else
        (void)fputs("null", stdout);
    (void)printf(",\"values\":%lld,\"values_differ\":%lld,\"samples\":%lld,"
                 "\"samples_differ\":%lld,\"bad_samples\":%lld,\"nan_a\":%lld,"
                 "\"nan_b\":%lld,\"nan_both\":%lld,\"zero_signs\":%lld,",
                 (long long)n->values, (long long)n->differ,
                 (long long)n->samples, (long long)n->differing_samples,
                 (long long)d->bad, (long long)n->nan_a, (long long)n->nan_b,
                 (long long)n->nan_both, (long long)n->zero_signs);
    json_numbers(d);
    json_lists(d);
}
