/* SPDX-License-Identifier: Apache-2.0
 * What --watch shows: how far, how fast, and who waits for whom. */
#include "src/cli/live.h"
#include "src/cli/monitor.h"
#include "src/cli/progress.h"

/* Characters of a bar. */
enum { CELLS = 30 };

enum share { READ, DECODE, TRANSFORM, IDLE, CALLER, N_SHARES };

static const char *const names[N_SHARES] = {"read", "decode", "transform",
                                            "idle", "caller waits"};

struct figures {
    const pinfold_stats *now;
    long long done;          /* the loader may be ahead of what is wanted */
    double seconds;          /* since the start */
    double rate, megabytes;  /* a second, of the last ten */
    double share[N_SHARES];  /* of the workers' time, and of the caller's */
    double full;             /* of the time, in which all slots were */
    char left[24];
};

static double between(double share)
{
    return share > 1 ? 1 : share > 0 ? share : 0;
}

/* A stage counts when its sample is through; idle is what is left then. */
static void set_shares(struct figures *f, const pinfold_stats *old,
                       double seconds)
{
    const pinfold_stats *const now = f->now;
    const double ns =
        seconds * 1e9 * (double)(now->workers > 0 ? now->workers : 1);

    f->share[READ] = between((double)(now->read_ns - old->read_ns) / ns);
    f->share[DECODE] = between((double)(now->decode_ns - old->decode_ns) / ns);
    f->share[TRANSFORM] =
        between((double)(now->transform_ns - old->transform_ns) / ns);
    f->share[IDLE] = between(1 - f->share[READ] - f->share[DECODE] -
                             f->share[TRANSFORM]);
    f->share[CALLER] = between(
        (double)(now->caller_wait_ns - old->caller_wait_ns) / (seconds * 1e9));
    f->full = (double)(now->worker_wait_ns - old->worker_wait_ns) /
              (seconds * 1e9);
}

static struct figures figures_of(const struct pfi_cli_watched *w)
{
    const struct pfi_cli_snapshot *const now = pfi_cli_newest(w);
    const struct pfi_cli_snapshot *const old = pfi_cli_oldest(w);
    const double seconds = now->at - old->at;
    struct figures f = {.now = &now->stats, .seconds = now->at - w->start};
    double whole;

    f.done = (long long)now->stats.samples < w->total
                 ? (long long)now->stats.samples
                 : w->total;

    if (seconds > 0) {
        f.rate = (double)(now->stats.samples - old->stats.samples) / seconds;
        f.megabytes =
            (double)(now->stats.bytes_read - old->stats.bytes_read) / seconds *
            1e-6;
        set_shares(&f, &old->stats, seconds);
    }
    whole = f.seconds > 0 ? (double)f.done / f.seconds : 0;
    pfi_cli_time_left(f.left, (double)(w->total - f.done) / whole);
    return f;
}

static const char *bottleneck(const struct figures *f)
{
    return f->share[CALLER] > f->full ? "loading is the bottleneck"
                                             : "the caller is the bottleneck";
}

/* ---------------------------------------------------------------- the view --- */

static void head(FILE *out, const char *name, bool colours)
{
    (void)fprintf(out, "%s%-8s%s ", colours ? "\033[1m" : "", name,
                  colours ? "\033[0m" : "");
}

static void bar(FILE *out, double share, int cells, bool colours)
{
    int left;

    (void)fputs(colours ? "\033[36m" : "", out);
    left = pfi_cli_gauge(out, share, cells);
    (void)fprintf(out, "%*s%s", left, "", colours ? "\033[0m" : "");
}

static void print_rates(FILE *out, const struct pfi_cli_watched *w, int cells)
{
    static const char *const steps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", "_", ".", ".", "-", "-", "^", "^"};
    const int64_t n = w->n_rates < cells ? w->n_rates : cells;
    double most = 0;

    for (int64_t i = w->n_rates - n; i < w->n_rates; i++)
        most = w->rates[i % PFI_CLI_RATES] > most ? w->rates[i % PFI_CLI_RATES]
                                                  : most;
    for (int64_t i = w->n_rates - n; most > 0 && i < w->n_rates; i++) {
        const double rate = w->rates[i % PFI_CLI_RATES];
        const int step = rate > 0 ? (int)(rate / most * 7.999) : 0;

        (void)fputs(pfi_cli_utf8() ? steps[step] : ascii[step], out);
    }
}

static void print_slots(FILE *out, const pinfold_stats *s)
{
    if (s->slots <= CELLS) {
        (void)fputc('[', out);
        for (int64_t i = 0; i < s->slots; i++)
            (void)fputc(i < s->slots_lent                     ? 'L'
                        : i < s->slots_lent + s->slots_ready  ? 'R'
                        : i < s->slots_lent + s->slots_ready +
                                  s->slots_filling            ? 'f'
                                                              : '.',
                        out);
        (void)fputs("] ", out);
    }
    (void)fprintf(out, "%d lent, %d ready, %d filling, of %lld", s->slots_lent,
                  s->slots_ready, s->slots_filling, (long long)s->slots);
}

void pfi_cli_watch_print(FILE *out, const struct pfi_cli_watched *w,
                         int columns, bool colours)
{
    const struct figures f = figures_of(w);
    const double done =
        w->total > 0 ? (double)f.done / (double)w->total : 0;
    const int cells = columns < 64 ? 10 : CELLS;
    char ago[24];

    pfi_cli_time_left(ago, f.seconds);
    head(out, w->o->command == PFI_CLI_EXPORT ? "export" : "bench", colours);
    (void)fputc('[', out);
    bar(out, done, cells, colours);
    (void)fprintf(out, "] %3.0f %%  %lld of %lld", 100 * done, f.done,
                  w->total);
    if (f.now->bad_samples)
        (void)fprintf(out, ", %s%llu bad%s", colours ? "\033[31m" : "",
                      (unsigned long long)f.now->bad_samples,
                      colours ? "\033[0m" : "");
    (void)fputc('\n', out);
    head(out, "time", colours);
    (void)fprintf(out, "%s, %s left\n", ago, f.left);
    head(out, "rate", colours);
    (void)fprintf(out, "%.0f images/s, %.1f MB/s ", f.rate, f.megabytes);
    print_rates(out, w, cells);
    (void)fputc('\n', out);
    head(out, "slots", colours);
    print_slots(out, f.now);
    (void)fputc('\n', out);
    head(out, "workers", colours);
    (void)fprintf(out, "%d busy, of %lld\n", f.now->workers_busy,
                  (long long)f.now->workers);
    for (int i = 0; i < N_SHARES; i++) {
        (void)fprintf(out, "  %-12s %3.0f %%  ", names[i], 100 * f.share[i]);
        bar(out, f.share[i], cells, colours);
        (void)fputs(i == N_SHARES - 1 ? "" : "\n", out);
    }
    (void)fprintf(out, "\n%s%s%s", colours ? "\033[1m" : "", bottleneck(&f),
                  colours ? "\033[0m" : "");
}

void pfi_cli_watch_line(FILE *out, const struct pfi_cli_watched *w)
{
    const struct figures f = figures_of(w);

    (void)fprintf(out,
                  "%.0f s: %lld of %lld images, %.0f/s; slots: %d lent, %d "
                  "ready, %d filling",
                  f.seconds, f.done, w->total, f.rate, f.now->slots_lent, f.now->slots_ready,
                  f.now->slots_filling);
    for (int i = 0; i < N_SHARES; i++)
        (void)fprintf(out, "%s%s %.0f %%", i ? ", " : "; ", names[i],
                      100 * f.share[i]);
    (void)fprintf(out, ": %s\n", bottleneck(&f));
}
