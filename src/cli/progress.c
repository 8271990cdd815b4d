/* SPDX-License-Identifier: Apache-2.0
 * Progress, for people at a terminal. */
#include "src/cli/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double since(const struct timespec *start, const struct timespec *end)
{
    return (double)(end->tv_sec - start->tv_sec) +
           (double)(end->tv_nsec - start->tv_nsec) * 1e-9;
}

double pfi_cli_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool at_terminal(void)
{
    const char *const term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void pfi_cli_bar_start(struct pfi_cli_bar *bar, const struct pfi_cli_options *o,
                       long long total)
{
    *bar = (struct pfi_cli_bar){.total = total};
    bar->shown = !o->quiet && (o->progress == PFI_CLI_ALWAYS ||
                               (o->progress == PFI_CLI_AUTO && at_terminal()));
    clock_gettime(CLOCK_MONOTONIC, &bar->start);
    bar->last = bar->start;
}

void pfi_cli_bar_add(struct pfi_cli_bar *bar, long long n)
{
    struct timespec now;

    bar->done += n;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!bar->shown || since(&bar->last, &now) < 0.1)
        return;
    bar->last = now;
    const double rate = (double)bar->done / since(&bar->start, &now);

    (void)fprintf(stderr, "\r\033[K%lld of %lld, %.0f/s, %.0f s left",
                  bar->done, bar->total, rate,
                  (double)(bar->total - bar->done) / rate);
    (void)fflush(stderr);
}

void pfi_cli_bar_end(struct pfi_cli_bar *bar)
{
    if (bar->shown)
        (void)fputs("\r\033[K", stderr);
    bar->shown = false;
}
