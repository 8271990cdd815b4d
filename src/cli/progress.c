/* SPDX-License-Identifier: Apache-2.0
 * Progress, for people at a terminal. */
#include "src/cli/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/cli/live.h"

double pfi_cli_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void pfi_cli_time_left(char text[24], double seconds)
{
    const long long s = seconds < 1e8 ? (long long)(seconds + 0.5) : 0;

    if (!(seconds < 1e8))
        (void)snprintf(text, 24, "?");
    else if (s < 60)
        (void)snprintf(text, 24, "%lld s", s);
    else if (s < 3600)
        (void)snprintf(text, 24, "%lld:%02lld", s / 60, s % 60);
    else
        (void)snprintf(text, 24, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60,
                       s % 60);
}

/* --watch says more of the same. */
void pfi_cli_bar_start(struct pfi_cli_bar *bar, const struct pfi_cli_options *o,
                       long long total)
{
    *bar = (struct pfi_cli_bar){.total = total};
    bar->shown = !o->quiet && !o->watch &&
                 (o->progress == PFI_CLI_ALWAYS ||
                  (o->progress == PFI_CLI_AUTO && pfi_cli_live_can()));
    bar->start = bar->last = pfi_cli_seconds();
}

static void draw(const struct pfi_cli_bar *bar, double seconds)
{
    const double rate = seconds > 0 ? (double)bar->done / seconds : 0;
    const double share =
        bar->total > 0 ? (double)bar->done / (double)bar->total : 0;
    char words[96], left[24], *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    int room;

    if (!out)
        return;
    pfi_cli_time_left(left, (double)(bar->total - bar->done) / rate);
    (void)snprintf(words, sizeof(words), "%lld of %lld, %.0f/s, %s left",
                   bar->done, bar->total, rate, left);
    room = pfi_cli_live_columns() - (int)strlen(words) - 10;
    (void)fprintf(out, "%3.0f %% ", share * 100);
    if (room >= 8) {
        (void)fputc('[', out);
        room = pfi_cli_gauge(out, share, room < 30 ? room : 30);
        (void)fprintf(out, "%*s] ", room, "");
    }
    (void)fputs(words, out);
    if (!fclose(out))
        pfi_cli_live_draw(text);
    free(text);
}

void pfi_cli_bar_add(struct pfi_cli_bar *bar, long long n)
{
    const double now = pfi_cli_seconds();

    bar->done += n;
    if (!bar->shown || now - bar->last < 0.1)
        return;
    bar->last = now;
    draw(bar, now - bar->start);
}

void pfi_cli_bar_end(struct pfi_cli_bar *bar)
{
    if (bar->shown)
        pfi_cli_live_clear();
    bar->shown = false;
}
