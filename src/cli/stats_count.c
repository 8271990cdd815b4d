/* SPDX-License-Identifier: Apache-2.0
 * Bars, medians, mean and std of what was looked at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/stats.h"

/* Bars that numbers are counted in: about so many. */
enum { BARS = 10 };

const char *pfi_cli_group_title(enum pfi_cli_group group)
{
    static const char *const titles[] = {
        "samples a class", "formats",    "modes", "width in pixels",
        "height in pixels", "pixels", "bytes of a file"};

    return titles[group];
}

const char *pfi_cli_group_key(enum pfi_cli_group group)
{
    static const char *const keys[] = {"classes", "formats", "modes", "width",
                                       "height",  "pixels",  "bytes"};

    return keys[group];
}

void pfi_cli_short_number(char text[24], double number)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    int unit = 0;

    if (number >= 10000)
        for (; number >= 1000 && unit < 4; unit++)
            number /= 1000;
    (void)snprintf(text, 24, "%.4g%s", number, units[unit]);
}

void pfi_cli_count_label(char label[PFI_CLI_LABEL],
                         const struct pfi_cli_counts *counts, int64_t i)
{
    const struct pfi_cli_count *const bar = &counts->bars[i];
    char from[24], to[24];

    pfi_cli_short_number(from, bar->from);
    pfi_cli_short_number(to, bar->to);
    if (bar->name)
        pfi_cli_label(label, bar->name);
    else if (counts->n == 1)
        (void)snprintf(label, PFI_CLI_LABEL, "all");
    else if (i == 0)
        (void)snprintf(label, PFI_CLI_LABEL, "below %s", to);
    else if (i == counts->n - 1)
        (void)snprintf(label, PFI_CLI_LABEL, "%s on", from);
    else
        (void)snprintf(label, PFI_CLI_LABEL, "%s - %s", from, to);
}

/* ----------------------------------------------------------------- numbers --- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the numbers. */
static void summarize(struct pfi_cli_counts *counts, double *numbers, int64_t n)
{
    double sum = 0;

    if (!n)
        return;
    qsort(numbers, (size_t)n, sizeof(*numbers), compare);
    for (int64_t i = 0; i < n; i++)
        sum += numbers[i];
    counts->min = numbers[0];
    counts->max = numbers[n - 1];
    counts->median = (numbers[(n - 1) / 2] + numbers[n / 2]) / 2;
    counts->mean = sum / (double)n;
}

/* 1, 2 or 5 times a power of ten. */
static double nice_step(double raw)
{
    const double power = pow(10, floor(log10(raw)));
    const double lead = raw / power;

    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* What the bars part: the middle nine tenths, and what is no farther away from
 * the middle half than 1.5 times its width.  The rest is in the first and the
 * last one. */
static void find_range(const double *sorted, int64_t n, double *low,
                       double *high)
{
    const double a = sorted[n / 4], b = sorted[n - 1 - n / 4];

    *low = fmax(fmin(sorted[n / 20], a - 1.5 * (b - a)), sorted[0]);
    *high = fmin(fmax(sorted[n - 1 - n / 20], b + 1.5 * (b - a)),
                 sorted[n - 1]);
}

static bool count_numbers(struct pfi_cli_counts *counts, const double *sorted,
                          int64_t n)
{
    double low = 0, high = 0;

    if (n)
        find_range(sorted, n, &low, &high);
    const double step = nice_step(high - low > BARS ? (high - low) / BARS : 1);
    const double first = floor(low / step);

    counts->n = high > low ? (int64_t)(floor(high / step) - first) + 1 : 1;
    counts->bars = calloc((size_t)counts->n, sizeof(*counts->bars));
    for (int64_t i = 0; counts->bars && i < counts->n; i++) {
        counts->bars[i].from = (first + (double)i) * step;
        counts->bars[i].to = (first + (double)i + 1) * step;
    }
    for (int64_t i = 0; counts->bars && i < n; i++) {
        const double at = floor(sorted[i] / step) - first;
        const double last = (double)(counts->n - 1);

        counts->bars[(int64_t)(at < 0 ? 0 : at > last ? last : at)].count++;
    }
    return counts->bars;
}

static double number_of(const struct pfi_cli_looked *file,
                        enum pfi_cli_group group)
{
    switch (group) {
    case PFI_CLI_WIDTHS: return file->width;
    case PFI_CLI_HEIGHTS: return file->height;
    case PFI_CLI_PIXELS: return (double)file->width * file->height;
    default: return (double)file->bytes;
    }
}

static bool count_sizes(struct pfi_cli_dataset_stats *s)
{
    const int64_t all = pinfold_dataset_size(s->dataset);
    double *const numbers = calloc((size_t)all + 1, sizeof(*numbers));
    bool good = numbers;

    for (int g = PFI_CLI_WIDTHS; good && g < PFI_CLI_GROUPS; g++) {
        int64_t n = 0;

        for (int64_t i = 0; i < all; i++)
            if (!s->files[i].status)
                numbers[n++] = number_of(&s->files[i], (enum pfi_cli_group)g);
        summarize(&s->groups[g], numbers, n);
        good = count_numbers(&s->groups[g], numbers, n);
    }
    free(numbers);
    return good;
}

/* ------------------------------------------------------------------- names --- */

static bool count_classes(struct pfi_cli_dataset_stats *s)
{
    struct pfi_cli_counts *const c = &s->groups[PFI_CLI_CLASSES];
    double *sizes;

    c->n = pinfold_dataset_class_count(s->dataset);
    c->bars = calloc((size_t)c->n + 1, sizeof(*c->bars));
    sizes = calloc((size_t)c->n + 1, sizeof(*sizes));
    if (!c->bars || !sizes) {
        free(sizes);
        return false;
    }
    for (int64_t i = 0; i < c->n; i++)
        c->bars[i].name = pinfold_dataset_class_name(s->dataset, i);
    for (int64_t i = 0; i < pinfold_dataset_size(s->dataset); i++)
        c->bars[pinfold_dataset_label(s->dataset, i)].count++;
    for (int64_t i = 0; i < c->n; i++)
        sizes[i] = (double)c->bars[i].count;
    summarize(c, sizes, c->n);
    free(sizes);
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct pfi_cli_count *const x = a, *const y = b;

    return x->count != y->count ? (x->count < y->count ? 1 : -1)
                                : strcmp(x->name, y->name);
}

/* Formats and modes are few: the most common one first. */
static bool count_names(struct pfi_cli_dataset_stats *s,
                        enum pfi_cli_group group)
{
    enum { ROOM = 64 };
    struct pfi_cli_counts *const c = &s->groups[group];

    c->bars = calloc(ROOM, sizeof(*c->bars));
    for (int64_t i = 0; c->bars && i < pinfold_dataset_size(s->dataset); i++) {
        const struct pfi_cli_looked *const file = &s->files[i];
        const char *const name =
            group == PFI_CLI_FORMATS ? file->format : file->mode;
        int64_t at = 0;

        if (file->status)
            continue;
        while (at < c->n && strcmp(c->bars[at].name, name) != 0)
            at++;
        at = at < ROOM ? at : ROOM - 1;
        c->bars[at].name = name;
        c->bars[at].count++;
        c->n = at < c->n ? c->n : at + 1;
    }
    if (c->bars)
        qsort(c->bars, (size_t)c->n, sizeof(*c->bars), compare_counts);
    return c->bars;
}

/* ------------------------------------------------------------------ values --- */

/* Of all pixels together, as one population. */
static void count_values(struct pfi_cli_dataset_stats *s)
{
    for (int c = 0; c < 3; c++) {
        const uint64_t *const count = s->values.count[c];
        uint64_t n = 0, sum = 0;
        double mean, squares = 0;

        for (uint64_t v = 0; v < 256; v++) {
            n += count[v];
            sum += count[v] * v;
        }
        s->pixels = n;
        if (!n)
            return;
        mean = (double)sum / (double)n;
        for (int v = 0; v < 256; v++)
            squares += (double)count[v] * (v - mean) * (v - mean);
        s->mean[c] = mean / 255;
        s->std[c] = sqrt(squares / (double)n) / 255;
    }
}

bool pfi_cli_stats_count(struct pfi_cli_dataset_stats *s)
{
    count_values(s);
    return count_classes(s) && count_names(s, PFI_CLI_FORMATS) &&
           count_names(s, PFI_CLI_MODES) && count_sizes(s);
}
