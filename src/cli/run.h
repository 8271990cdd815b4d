/* SPDX-License-Identifier: Apache-2.0
 * What the commands that load a data set share. */
#ifndef PFI_CLI_RUN_H
#define PFI_CLI_RUN_H

#include <stdbool.h>

#include "src/cli/monitor.h"
#include "src/cli/options.h"
#include "src/cli/progress.h"
#include "src/cli/trace.h"

/* The signal that asked the program to end, or 0. */
int pfi_cli_signal(void);
void pfi_cli_catch_signals(void);

/* Prints "pinfold: MESSAGE" and returns the exit status that fits. */
int pfi_cli_fail(const pinfold_error *err);

/* Why there is no CUDA, as `status` of the library says, with the versions where
 * one is too old. */
void pfi_cli_why_no_cuda(char text[160], const char *status);

struct pfi_cli_run {
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    struct pfi_cli_trace trace;
    struct pfi_cli_monitor *monitor; /* NULL without --watch and --metrics */
    double started; /* when the first epoch was, by pfi_cli_seconds() */
};

/* Opens both and starts the first epoch, or goes on with o->loader.state; on
 * failure prints why, leaves nothing open and returns the exit status. */
int pfi_cli_run_open(struct pfi_cli_run *run, const struct pfi_cli_options *o);
/* The same in two steps. */
int pfi_cli_run_open_dataset(struct pfi_cli_run *run,
                             const struct pfi_cli_options *o);
int pfi_cli_run_open_loader(struct pfi_cli_run *run,
                            const struct pfi_cli_options *o);
/* Samples that a run loads, all its epochs together. */
long long pfi_cli_run_total(const pinfold_loader *loader,
                            const struct pfi_cli_options *o);
/* Returns `code`, or the exit status that fits where the trace or the metrics of
 * a run that went well could not be written. */
int pfi_cli_run_close(struct pfi_cli_run *run, int code);

/* Closes it (NULL is allowed), and says where a read hangs that is left behind. */
void pfi_cli_loader_close(pinfold_loader *loader);

/* pinfold_loader_next() that looks for signals meanwhile: PINFOLD_TIMEOUT means
 * that one came.  Says what a wait of 5 seconds is for. */
pinfold_status pfi_cli_next(pinfold_loader *loader, const pinfold_batch **batch,
                            pinfold_error *err);

/* Loads o->warmup batches of a loader that was started, from as many epochs as
 * that takes, and drops them.  PINFOLD_END means that there are none. */
pinfold_status pfi_cli_warm_up(pinfold_loader *loader,
                               const struct pfi_cli_options *o,
                               struct pfi_cli_bar *bar, pinfold_error *err);

/* Remarks on stderr that --drop-last leaves no batch, where it does. */
void pfi_cli_say_empty(const pinfold_loader *loader,
                       const struct pfi_cli_options *o);
/* Says on stderr why a sample is bad, as pfi_cli_report_bad() does. */
void pfi_cli_tell_bad(const pinfold_dataset *dataset, int64_t index,
                      const char *why);
/* Prints the first few bad samples of a run; returns how many the batch had. */
int pfi_cli_report_bad(const pinfold_batch *batch, long long before);

/* Commands: take checked options, return the exit status. */
int pfi_cli_ls(const struct pfi_cli_options *o);
int pfi_cli_verify_orders(const struct pfi_cli_options *o);
int pfi_cli_verify(const struct pfi_cli_options *o);
int pfi_cli_bench(const struct pfi_cli_options *o);
int pfi_cli_export(const struct pfi_cli_options *o);
int pfi_cli_merge(const struct pfi_cli_options *o);
int pfi_cli_explain(const struct pfi_cli_options *o);
int pfi_cli_presets(const struct pfi_cli_options *o);
int pfi_cli_diff(const struct pfi_cli_options *o);
int pfi_cli_tune(const struct pfi_cli_options *o);
int pfi_cli_plan(const struct pfi_cli_options *o);
int pfi_cli_env(const struct pfi_cli_options *o);
int pfi_cli_scan(const struct pfi_cli_options *o);
int pfi_cli_sheet(const struct pfi_cli_options *o);
int pfi_cli_stats(const struct pfi_cli_options *o);

#endif
