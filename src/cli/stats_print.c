/* SPDX-License-Identifier: Apache-2.0
 * Statistics as bars of text, and as JSON. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/live.h"
#include "src/cli/stats.h"
#include "src/cli/term.h"
#include "src/cli/text.h"

/* Of many classes so many of the largest and of the smallest are shown. */
enum { SHOWN = 8, LABEL = 24, NUMBER = 9 };

struct page {
    int bar; /* cells of the longest one */
    bool colours;
};

/* -------------------------------------------------------------------- text --- */

static struct page page_of(void)
{
    struct pfi_cli_terminal terminal;
    struct page page;

    (void)pfi_cli_terminal_find(&terminal, PFI_CLI_TERM_BLOCKS);
    page.bar = terminal.columns - LABEL - NUMBER - 6;
    page.bar = page.bar < 8 ? 8 : page.bar > 60 ? 60 : page.bar;
    page.colours = terminal.colours && isatty(STDOUT_FILENO);
    return page;
}

static void print_title(const struct page *page, const char *title)
{
    (void)printf("\n%s%s%s", page->colours ? "\033[1m" : "", title,
                 page->colours ? "\033[0m" : "");
}

static void print_bar(const struct page *page,
                      const struct pfi_cli_counts *counts, int64_t i,
                      int64_t most)
{
    const int64_t count = counts->bars[i].count;
    char label[PFI_CLI_LABEL];

    pfi_cli_count_label(label, counts, i);
    pfi_cli_shorten_name(label, LABEL);
    (void)printf("  %-*s %*lld", LABEL, label, NUMBER, (long long)count);
    (void)fputs(!count ? "" : page->colours ? "  \033[36m" : "  ", stdout);
    (void)pfi_cli_gauge(stdout, (double)count / (double)most, page->bar);
    (void)fputs(page->colours && count ? "\033[0m\n" : "\n", stdout);
}

static void print_summary(const struct pfi_cli_counts *counts)
{
    (void)printf(": min %.10g, median %.10g, mean %.6g, max %.10g\n",
                 counts->min, counts->median, counts->mean, counts->max);
}

static void print_group(const struct page *page,
                        const struct pfi_cli_dataset_stats *s,
                        enum pfi_cli_group group)
{
    const struct pfi_cli_counts *const counts = &s->groups[group];
    int64_t most = 1;

    print_title(page, pfi_cli_group_title(group));
    if (group == PFI_CLI_FORMATS || group == PFI_CLI_MODES)
        (void)fputc('\n', stdout);
    else
        print_summary(counts);
    for (int64_t i = 0; i < counts->n; i++)
        most = counts->bars[i].count > most ? counts->bars[i].count : most;
    for (int64_t i = 0; i < counts->n; i++)
        print_bar(page, counts, i, most);
}

static int by_count(const void *a, const void *b)
{
    const struct pfi_cli_count *const x = a, *const y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Falls back to all of them where there is no memory to sort them in. */
static void print_classes(const struct page *page,
                          const struct pfi_cli_dataset_stats *s)
{
    const struct pfi_cli_counts *const all = &s->groups[PFI_CLI_CLASSES];
    struct pfi_cli_counts sorted = *all;
    const size_t size = (size_t)all->n * sizeof(*all->bars);

    sorted.bars = all->n > 2 * SHOWN + 4 ? malloc(size) : NULL;
    if (!sorted.bars) {
        print_group(page, s, PFI_CLI_CLASSES);
        return;
    }
    memcpy(sorted.bars, all->bars, size);
    qsort(sorted.bars, (size_t)sorted.n, sizeof(*sorted.bars), by_count);
    print_title(page, pfi_cli_group_title(PFI_CLI_CLASSES));
    print_summary(all);
    for (int64_t i = 0; i < sorted.n; i++) {
        if (i == SHOWN)
            (void)printf("  ... %lld more ...\n",
                         (long long)(sorted.n - 2 * SHOWN));
        if (i < SHOWN || i >= sorted.n - SHOWN)
            print_bar(page, &sorted, i,
                      sorted.bars[0].count ? sorted.bars[0].count : 1);
    }
    free(sorted.bars);
}

static void print_channels(const char *option, const double value[3],
                           const char *end)
{
    (void)printf("--%s %.9f,%.9f,%.9f%s", option, value[0], value[1], value[2],
                 end);
}

/* Normalisation divides by std. */
static void print_values(const struct page *page,
                         const struct pfi_cli_dataset_stats *s)
{
    print_title(page, "mean and std");
    if (!s->pixels) {
        (void)fputs(s->o->no_pixels ? ": not known, by --no-pixels\n"
                                    : ": not known, since there is no pixel\n",
                    stdout);
        return;
    }
    (void)printf(" of the %llu pixels that the recipe leaves\n",
                 (unsigned long long)s->pixels);
    print_channels("mean", s->mean, " \\\n");
    print_channels("std", s->std, "\n");
    for (int c = 0; c < 3; c++)
        if (s->std[c] <= 0) {
            (void)puts("A channel whose pixels are all equal cannot be "
                       "divided by its std.");
            return;
        }
}

void pfi_cli_stats_print(const struct pfi_cli_dataset_stats *s)
{
    const struct page page = page_of();

    const long long samples = pinfold_dataset_size(s->dataset);
    const long long classes = s->groups[PFI_CLI_CLASSES].n;

    (void)printf("%lld sample%s in %lld class%s", samples,
                 pfi_cli_plural(samples, "s"), classes,
                 pfi_cli_plural(classes, "es"));
    if (s->bad)
        (void)printf(", %lld bad, which count%s for the class only",
                     (long long)s->bad, s->bad == 1 ? "s" : "");
    (void)fputc('\n', stdout);
    print_classes(&page, s);
    for (int g = PFI_CLI_FORMATS; g < PFI_CLI_GROUPS; g++)
        print_group(&page, s, (enum pfi_cli_group)g);
    print_values(&page, s);
}

/* -------------------------------------------------------------------- JSON --- */

static void print_json_bars(const struct pfi_cli_counts *counts)
{
    for (int64_t i = 0; i < counts->n; i++) {
        const struct pfi_cli_count *const bar = &counts->bars[i];

        (void)fputs(i ? "," : "", stdout);
        if (bar->name) {
            (void)fputs("{\"name\":", stdout);
            pfi_cli_print_json(stdout, bar->name);
        } else {
            (void)printf("{\"from\":%.0f,\"to\":%.0f", bar->from, bar->to);
        }
        (void)printf(",\"count\":%lld}", (long long)bar->count);
    }
}

static void print_json_channels(const char *name, const double value[3])
{
    (void)printf(",\n\"%s\":[%.9f,%.9f,%.9f]", name, value[0], value[1],
                 value[2]);
}

void pfi_cli_stats_print_json(const struct pfi_cli_dataset_stats *s)
{
    (void)fputs("{\"schema\":1,\"root\":", stdout);
    pfi_cli_print_json(stdout, pinfold_dataset_root(s->dataset));
    (void)printf(",\"samples\":%lld,\"bad_samples\":%lld",
                 (long long)pinfold_dataset_size(s->dataset),
                 (long long)s->bad);
    for (int g = 0; g < PFI_CLI_GROUPS; g++) {
        const struct pfi_cli_counts *const c = &s->groups[g];

        (void)printf(",\n\"%s\":{", pfi_cli_group_key((enum pfi_cli_group)g));
        if (g != PFI_CLI_FORMATS && g != PFI_CLI_MODES)
            (void)printf("\"min\":%.10g,\"median\":%.10g,\"mean\":%.10g,"
                         "\"max\":%.10g,",
                         c->min, c->median, c->mean, c->max);
        (void)fputs("\"counts\":[", stdout);
        print_json_bars(c);
        (void)fputs("]}", stdout);
    }
    if (s->pixels) {
        (void)printf(",\n\"output_pixels\":%llu", (unsigned long long)s->pixels);
        print_json_channels("mean", s->mean);
        print_json_channels("std", s->std);
    }
    (void)puts("}");
}
