/* SPDX-License-Identifier: Apache-2.0
 * Watches a loader from a thread of its own, four times a second: for --watch
 * and --metrics.  The thread that loads does not know of it. */
#ifndef PFI_CLI_MONITOR_H
#define PFI_CLI_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "src/cli/options.h"

struct pfi_cli_monitor;

/* Snapshots that the last ten seconds give. */
enum { PFI_CLI_SNAPSHOTS = 41, PFI_CLI_RATES = 32 };

struct pfi_cli_snapshot {
    double at; /* seconds */
    pinfold_stats stats;
};

/* What is known of a run; all but the loader is the monitor thread's own. */
struct pfi_cli_watched {
    const struct pfi_cli_options *o;
    const pinfold_loader *loader;
    long long total;  /* samples to come; counted before the first batch */
    double start;     /* monotonic */
    long long epoch_start; /* the same moment in seconds of 1970 */
    int64_t n;        /* snapshots so far; the last ones lie in the array */
    struct pfi_cli_snapshot snapshots[PFI_CLI_SNAPSHOTS];
    double rates[PFI_CLI_RATES]; /* images/s of the last seconds, a ring */
    int64_t n_rates;
    atomic_llong rate; /* images in 1000 s, of the last ten; for all threads */
};

/* The newest snapshot, and the oldest one that is kept. */
const struct pfi_cli_snapshot *
pfi_cli_newest(const struct pfi_cli_watched *watched);
const struct pfi_cli_snapshot *
pfi_cli_oldest(const struct pfi_cli_watched *watched);

/* On failure prints why and returns the exit status. */
int pfi_cli_monitor_open(struct pfi_cli_monitor **out,
                         const struct pfi_cli_options *o,
                         const pinfold_loader *loader);
/* Tells the last figures and ends the threads; the loader must be open still.
 * Returns an exit status.  NULL is allowed. */
int pfi_cli_monitor_close(struct pfi_cli_monitor *monitor);

/* The view of --watch for a line's width, or one line for where nothing can be
 * drawn over. */
void pfi_cli_watch_print(FILE *out, const struct pfi_cli_watched *w,
                         int columns, bool colours);
void pfi_cli_watch_line(FILE *out, const struct pfi_cli_watched *w);

/* Prometheus' text format 0.0.4.  Any thread. */
void pfi_cli_metrics_print(FILE *out, const struct pfi_cli_watched *w);

#endif
