/* SPDX-License-Identifier: Apache-2.0
 * The thread that looks at a loader's counters. */
#include "src/cli/monitor.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "src/cli/live.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"
#include "src/cli/run.h"
#include "src/cli/serve.h"

/* Between two looks; a line and the file come with every fourth. */
enum { TICK_MS = 250, TICKS_A_SECOND = 4 };

struct pfi_cli_monitor {
    struct pfi_cli_watched watched;
    bool drawn_over, colours;
    const char *file; /* NULL = none */
    int code;         /* of the file: not 0 = it is given up */
    struct pfi_cli_server *server;
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop; /* lock */
};

const struct pfi_cli_snapshot *
pfi_cli_newest(const struct pfi_cli_watched *w)
{
    return &w->snapshots[(w->n - 1) % PFI_CLI_SNAPSHOTS];
}

const struct pfi_cli_snapshot *
pfi_cli_oldest(const struct pfi_cli_watched *w)
{
    return &w->snapshots[w->n < PFI_CLI_SNAPSHOTS ? 0
                                                  : w->n % PFI_CLI_SNAPSHOTS];
}

/* Images a second since the snapshot `old`. */
static double rate_since(const struct pfi_cli_watched *w,
                         const struct pfi_cli_snapshot *old)
{
    const struct pfi_cli_snapshot *const now = pfi_cli_newest(w);

    return now->at > old->at
               ? (double)(now->stats.samples - old->stats.samples) /
                     (now->at - old->at)
               : 0;
}

static void look(struct pfi_cli_watched *w)
{
    struct pfi_cli_snapshot *const now =
        &w->snapshots[w->n % PFI_CLI_SNAPSHOTS];

    now->stats = (pinfold_stats){.struct_size = sizeof(now->stats)};
    now->at = pfi_cli_seconds();
    pinfold_loader_stats(w->loader, &now->stats);
    w->n++;
    atomic_store(&w->rate,
                 (long long)(1000 * rate_since(w, pfi_cli_oldest(w))));
    if (w->n > TICKS_A_SECOND && w->n % TICKS_A_SECOND == 1)
        w->rates[w->n_rates++ % PFI_CLI_RATES] =
            rate_since(w, &w->snapshots[(w->n - 1 - TICKS_A_SECOND) %
                                        PFI_CLI_SNAPSHOTS]);
}

static void draw(const struct pfi_cli_monitor *m)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (!out)
        return;
    if (m->drawn_over)
        pfi_cli_watch_print(out, &m->watched, pfi_cli_live_columns(),
                            m->colours);
    else
        pfi_cli_watch_line(out, &m->watched);
    if (!fclose(out)) {
        if (m->drawn_over)
            pfi_cli_live_draw(text);
        else
            (void)fputs(text, stderr);
    }
    free(text);
}

/* Whole or not at all, but not forced to the disk: that would hold up what an
 * export writes.  A failure is told once. */
static void write_file(struct pfi_cli_monitor *m)
{
    struct pfi_cli_output output;
    FILE *file;

    if (!m->file || m->code)
        return;
    pfi_cli_live_clear();
    m->code = pfi_cli_output_open(&output, m->file);
    if (m->code)
        return;
    file = output.part.file;
    pfi_cli_metrics_print(file, &m->watched);
    output.part.file = NULL;
    if (fclose(file)) {
        perror(m->file);
        m->code = PFI_CLI_FAILED;
    }
    m->code = pfi_cli_output_close(&output, m->code);
}

/* Waits until it is time for tick `n`, or the end; false at the end. */
static bool await(struct pfi_cli_monitor *m, int64_t n)
{
    const double at = m->watched.start + (double)n * TICK_MS * 1e-3;
    const struct timespec until = {
        .tv_sec = (time_t)at, .tv_nsec = (long)((at - (double)(time_t)at) * 1e9)};
    bool stop;
    int timed_out = 0;

    (void)pthread_mutex_lock(&m->lock);
    while (!m->stop && !timed_out)
        timed_out = pthread_cond_timedwait(&m->changed, &m->lock, &until);
    stop = m->stop;
    (void)pthread_mutex_unlock(&m->lock);
    return !stop;
}

static void *run(void *argument)
{
    struct pfi_cli_monitor *const m = argument;

    for (int64_t n = 1; await(m, n); n++) {
        look(&m->watched);
        if (n % TICKS_A_SECOND == 0)
            write_file(m);
        if (m->watched.o->watch && (m->drawn_over || n % TICKS_A_SECOND == 0))
            draw(m);
    }
    return NULL;
}

static int start_thread(struct pfi_cli_monitor *m)
{
    pthread_condattr_t clock;

    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&m->lock, NULL);
    (void)pthread_cond_init(&m->changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    m->runs = !pthread_create(&m->thread, NULL, run, m);
    if (m->runs)
        return PFI_CLI_OK;
    (void)fputs("pinfold: no thread for --watch and --metrics\n", stderr);
    return PFI_CLI_FAILED;
}

static void print_metrics(FILE *out, void *cookie)
{
    pfi_cli_metrics_print(out, cookie);
}

static int open_metrics(struct pfi_cli_monitor *m)
{
    struct pfi_cli_address address;
    const struct pfi_cli_options *const o = m->watched.o;

    if (!o->metrics)
        return PFI_CLI_OK;
    if (pfi_cli_address_parse(&address, o->metrics))
        return pfi_cli_server_open(&m->server, &address, o->quiet,
                                   print_metrics, &m->watched);
    m->file = o->metrics;
    write_file(m);
    return m->code;
}

int pfi_cli_monitor_open(struct pfi_cli_monitor **out,
                         const struct pfi_cli_options *o,
                         const pinfold_loader *loader)
{
    struct pfi_cli_monitor *const m = calloc(1, sizeof(*m));
    const char *const no_colour = getenv("NO_COLOR");
    int code;

    *out = m;
    if (!m) {
        (void)fputs("pinfold: no memory for --watch and --metrics\n", stderr);
        return PFI_CLI_FAILED;
    }
    m->watched.o = o;
    m->watched.loader = loader;
    m->watched.total = pfi_cli_run_total(loader, o);
    m->watched.start = pfi_cli_seconds();
    m->watched.epoch_start = (long long)time(NULL);
    m->drawn_over = pfi_cli_live_can();
    m->colours = !no_colour || !*no_colour;
    look(&m->watched);
    code = open_metrics(m);
    return code ? code : start_thread(m);
}

int pfi_cli_monitor_close(struct pfi_cli_monitor *m)
{
    int code;

    if (!m)
        return PFI_CLI_OK;
    if (m->runs) {
        (void)pthread_mutex_lock(&m->lock);
        m->stop = true;
        (void)pthread_cond_signal(&m->changed);
        (void)pthread_mutex_unlock(&m->lock);
        (void)pthread_join(m->thread, NULL);
        (void)pthread_cond_destroy(&m->changed);
        (void)pthread_mutex_destroy(&m->lock);
        look(&m->watched);
        write_file(m);
        if (m->watched.o->watch && !m->drawn_over)
            draw(m);
        pfi_cli_live_clear();
    }
    pfi_cli_server_close(m->server);
    code = m->code;
    free(m);
    return code;
}
