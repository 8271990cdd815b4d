/* SPDX-License-Identifier: Apache-2.0
 * What tune prints: the live table, the table with bars, JSON and CSV. */
#include "src/cli/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/progress.h"
#include "src/cli/text.h"

enum { LIVE_ROWS = 12, BAR_WIDTH = 34 };

const struct pfi_search_point *pfi_tune_marked(const struct pfi_search *s)
{
    const int i = s->clear ? s->choice : s->leader;

    return i < 0 || !s->points || !s->points[i].n_samples ? NULL
                                                          : &s->points[i];
}

static int index_of(const struct pfi_search *s,
                    const struct pfi_search_point *p)
{
    return p ? (int)(p - s->points) : -1;
}

/* Slow programs come at a fraction of a run a second. */
static const char *rate_text(double rate, char text[32])
{
    (void)snprintf(text, 32, rate >= 100 ? "%.0f" : "%.4g", rate);
    return text;
}

/* ------------------------------------------------------------- live table --- */

static void live_row(const struct pfi_search *s, int i,
                     const struct pfi_tune *t)
{
    const struct pfi_search_point *const p = &s->points[i];
    char rate[32];
    double spread;
    const double middle = pfi_search_median(s, i, &spread);

    (void)fprintf(stderr, "\033[K%7d  %-8s %10s  +-%5.1f %%  %3d%s\n",
                  p->number, t->settings[p->setting].name,
                  rate_text(middle, rate), 100 * spread / middle, p->n_samples,
                  i == s->leader ? "  fastest so far" : "");
}

/* Points that are still measured; of many, those around the leader. */
static int live_rows(const struct pfi_tune *t)
{
    const struct pfi_search *const s = t->running;
    int shown = 0, before = 0;

    for (int i = 0; i < s->leader; i++)
        before += s->points[i].live && s->points[i].n_samples;
    before = before > LIVE_ROWS / 2 ? before - LIVE_ROWS / 2 : 0;
    for (int i = 0; i < s->n_points && shown < LIVE_ROWS; i++) {
        if (!s->points[i].live || !s->points[i].n_samples || before-- > 0)
            continue;
        live_row(s, i, t);
        shown++;
    }
    return shown;
}

void pfi_tune_live(struct pfi_tune *t, int workers, int setting, int slots)
{
    const struct pfi_search *const s = t->running;
    struct pfi_cli_bar bar;
    int lines = 1;

    pfi_cli_bar_start(&bar, t->o, 0);
    t->live = bar.shown;
    if (!t->live)
        return;
    if (t->live_lines)
        (void)fprintf(stderr, "\033[%dA\r\033[J", t->live_lines);
    if (s) {
        (void)fprintf(stderr, "%7s  %-8s %10s  %9s  %3s\n",
                      s == &t->by_slots ? "slots" : "workers", "memory",
                      t->unit, "spread", "n");
        lines += 1 + live_rows(t);
    }
    (void)fprintf(stderr,
                  "%s %d, measurement %zu, %.0f s: %d workers, %s, %d slots\n",
                  s ? "round" : "warming up", s ? s->rounds : 0, t->n_rows + 1,
                  pfi_cli_seconds() - t->started, workers,
                  t->settings[setting].name, slots);
    t->live_lines = lines;
}

void pfi_tune_live_end(struct pfi_tune *t)
{
    if (t->live_lines)
        (void)fprintf(stderr, "\033[%dA\r\033[J", t->live_lines);
    t->live_lines = 0;
}

/* ------------------------------------------------------------------ words --- */

static double highest_rate(const struct pfi_search *s)
{
    double most = 0;

    for (int i = 0; i < s->n_points; i++) {
        const double middle = pfi_search_median(s, i, NULL);

        most = middle > most ? middle : most;
    }
    return most;
}

static void print_bars(const struct pfi_tune *t, const struct pfi_search *s,
                       const char *what)
{
    const struct pfi_search_point *const marked = pfi_tune_marked(s);
    const double most = highest_rate(s);

    (void)printf("%7s  %-8s %10s  %9s  %3s\n", what, "memory", t->unit,
                 "spread", "n");
    for (int i = 0; i < s->n_points; i++) {
        const struct pfi_search_point *const p = &s->points[i];
        char rate[32], bar[BAR_WIDTH + 1] = "";
        double spread;
        const double middle = pfi_search_median(s, i, &spread);

        if (!p->n_samples)
            continue;
        memset(bar, '#', (size_t)(middle / most * BAR_WIDTH + 0.5));
        (void)printf(
            "%7d  %-8s %10s  +-%5.1f %%  %3d  %s%s\n", p->number,
            t->settings[s == &t->by_slots ? t->setting : p->setting].name,
            rate_text(middle, rate), 100 * spread / middle, p->n_samples, bar,
            p != marked ? ""
            : s->clear  ? " < chosen"
                        : " < fastest so far");
    }
}

void pfi_tune_print_options(const struct pfi_tune *t, FILE *out)
{
    char *line;

    if (t->dataset) {
        (void)fprintf(out, "--workers %d --slots %d --memory %s\n", t->workers,
                      t->slots, t->settings[t->setting].name);
        return;
    }
    line = pfi_tune_command_line(t, t->workers, t->setting);
    (void)fprintf(out, "%s\n", line ? line : "");
    free(line);
}

static const char *why_ended(const struct pfi_tune *t)
{
    return t->end == PFI_TUNE_SECONDS  ? "the seconds are used up"
           : t->end == PFI_TUNE_SIGNAL ? "interrupted"
           : t->end == PFI_TUNE_FAILED ? "a measurement failed"
                                       : "the rounds are used up";
}

static void print_choice(const struct pfi_tune *t)
{
    const struct pfi_search *const s = &t->by_workers;
    const struct pfi_search_point *const p = pfi_tune_marked(s);
    const double rate = pfi_search_median(s, index_of(s, p), NULL);
    const double ratio = pfi_search_ratio(s, index_of(s, p), s->leader);
    char text[32];

    (void)printf("%s: %d workers, %s%s: %s %s, %.1f %% of the fastest (%d "
                 "workers, %s)\n",
                 s->clear ? "chosen" : "fastest so far", p->number,
                 t->n_settings > 1 || t->dataset ? "memory " : "",
                 t->settings[p->setting].name, rate_text(rate, text), t->unit,
                 100 * ratio, s->points[s->leader].number,
                 t->settings[s->points[s->leader].setting].name);
    if (!s->clear)
        (void)printf("no choice is clear of the noise: %s; more rounds, "
                     "seconds or batches may tell\n",
                     why_ended(t));
    if (s->clear && t->slots_searched && !t->by_slots.clear)
        (void)printf("slots: none is clear of the noise, so the default "
                     "stays\n");
    if (t->bad)
        (void)printf("%lld bad sample%s\n", t->bad,
                     pfi_cli_plural(t->bad, "s"));
    if (s->clear)
        pfi_tune_print_options(t, stdout);
}

void pfi_tune_print_words(const struct pfi_tune *t)
{
    const struct pfi_cli_options *const o = t->o;

    if (t->dataset)
        (void)printf("%d CPUs; a measurement: %lld x %lld batches of %d at "
                     "most%s\nmemory: %s\n\n",
                     t->cpus, o->epochs, o->batches, o->loader.batch_size,
                     o->loader.shuffle ? ", shuffled" : "", t->remark);
    else
        (void)printf("%d CPUs; a measurement: one run of '%s'\n\n", t->cpus,
                     o->tune.program);
    if (!pfi_tune_marked(&t->by_workers)) {
        (void)printf("nothing was measured: %s\n", why_ended(t));
        return;
    }
    print_bars(t, &t->by_workers, "workers");
    if (t->by_slots.rounds) {
        (void)putchar('\n');
        print_bars(t, &t->by_slots, "slots");
    }
    (void)printf("\n%zu measurements in %.0f s", t->n_rows,
                 pfi_cli_seconds() - t->started);
    if (isfinite(t->by_workers.noise))
        (void)printf("; noise of one: %.1f %% (standard deviation)",
                     100 * t->by_workers.noise);
    (void)putchar('\n');
    print_choice(t);
}

/* ------------------------------------------------------------- JSON, CSV --- */

static void json_points(const struct pfi_tune *t, const struct pfi_search *s,
                        const char *number)
{
    bool any = false;

    (void)putchar('[');
    for (int i = 0; i < s->n_points; i++) {
        const struct pfi_search_point *const p = &s->points[i];
        double spread;
        const double middle = pfi_search_median(s, i, &spread);

        if (!p->n_samples)
            continue;
        (void)printf(
            "%s{\"%s\":%d,\"memory\":\"%s\",\"median\":%.6g,"
            "\"spread\":%.6g,\"samples\":[",
            any ? "," : "", number, p->number,
            t->settings[s == &t->by_slots ? t->setting : p->setting].name,
            middle, spread);
        any = true;
        for (int r = 0, n = 0; r < s->rounds; r++)
            if (p->samples[r] > 0)
                (void)printf("%s%.6g", n++ ? "," : "", p->samples[r]);
        (void)fputs("]}", stdout);
    }
    (void)putchar(']');
}

static void json_number(const struct pfi_tune *t, const char *name)
{
    const struct pfi_search_point *const p = pfi_tune_marked(&t->by_workers);

    if (!p) {
        (void)printf("\"%s\":null,", name);
        return;
    }
    (void)printf(
        "\"%s\":{\"workers\":%d,\"slots\":%d,\"memory\":\"%s\","
        "\"median\":%.6g},",
        name, t->workers, t->slots, t->settings[t->setting].name,
        pfi_search_median(&t->by_workers, index_of(&t->by_workers, p), NULL));
}

void pfi_tune_print_json(const struct pfi_tune *t)
{
    static const char *const ends[] = {"clear", "rounds", "seconds", "signal",
                                       "failed"};
    const struct pfi_cli_options *const o = t->o;
    char noise[32] = "null";

    if (isfinite(t->by_workers.noise))
        (void)snprintf(noise, sizeof(noise), "%.5f", t->by_workers.noise);
    (void)printf("{\"schema\":1,\"unit\":\"%s\",\"cpus\":%d,"
                 "\"max_workers\":%d,\"exhaustive\":%s,\"batch\":%d,"
                 "\"batches\":%lld,\"epochs\":%lld,\"measurements\":%zu,"
                 "\"seconds\":%.3f,\"noise\":%s,\"end\":\"%s\","
                 "\"clear\":%s,\"bad_samples\":%lld,",
                 t->unit, t->cpus, t->highest,
                 o->tune.exhaustive ? "true" : "false", o->loader.batch_size,
                 o->batches, o->epochs, t->n_rows,
                 pfi_cli_seconds() - t->started, noise, ends[t->end],
                 t->by_workers.clear ? "true" : "false", t->bad);
    if (t->by_workers.clear)
        json_number(t, "choice");
    else
        (void)fputs("\"choice\":null,", stdout);
    json_number(t, "best_so_far");
    (void)fputs("\"memory_remark\":", stdout);
    pfi_cli_print_json(stdout, t->remark);
    (void)fputs(",\"workers\":", stdout);
    json_points(t, &t->by_workers, "workers");
    (void)fputs(",\"slots\":", stdout);
    json_points(t, &t->by_slots, "slots");
    (void)fputs("}\n", stdout);
}

void pfi_tune_print_csv(const struct pfi_tune *t, FILE *out)
{
    (void)fprintf(out, "order,compared,workers,memory,slots,seconds,%s\n",
                  t->dataset || t->o->tune.images ? "images_per_second"
                                                  : "runs_per_second");
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct pfi_tune_row *const r = &t->rows[i];

        (void)fprintf(out, "%zu,%s,%d,%s,%d,%.6f,%.6g\n", i + 1,
                      r->of_slots ? "slots" : "workers", r->workers,
                      t->settings[r->setting].name, r->slots, r->seconds,
                      r->rate);
    }
}
