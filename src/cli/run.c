/* SPDX-License-Identifier: Apache-2.0
 * Opening a data set and loader for a command, signals, bad samples. */
#include "src/cli/run.h"
#include "src/cli/locked.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/lists.h"
#include "src/cli/live.h"
#include "src/cli/order.h"
#include "src/cli/text.h"

/* Bad samples that are named; the rest is counted. */
#define SHOWN_BAD 10

/* Waits of 100 ms after which a file is named. */
#define SLOW_WAITS 50

/* Lock-free; a handler sets it, and worker threads look at it. */
static atomic_int caught;

static void on_signal(int number)
{
    caught = number;
}

int pfi_cli_signal(void)
{
    return caught;
}

/* The second signal of a kind kills at once. */
void pfi_cli_catch_signals(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* What is written must still be cleaned up, and nobody reads a complaint. */
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, NULL);
    /* A file that grows beyond a limit is an error of the write then. */
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGXFSZ, &action, NULL);
}

int pfi_cli_fail(const pinfold_error *err)
{
    pfi_cli_say("pinfold: %s", err->message);
    return PFI_CLI_FAILED;
}

void pfi_cli_why_no_cuda(char text[160], const char *status)
{
    pinfold_info info = {.struct_size = sizeof(info)};

    pinfold_info_get(&info);
    if (info.cuda_driver && info.cuda_driver < info.cuda_runtime)
        (void)snprintf(text, 160, "%s (driver %d.%d, runtime %d.%d)", status,
                       info.cuda_driver / 1000, info.cuda_driver % 1000 / 10,
                       info.cuda_runtime / 1000, info.cuda_runtime % 1000 / 10);
    else
        (void)snprintf(text, 160, "%s", status);
}

/* Where there is no upload although one was asked for: why, in a line. */
static void say_no_upload(const pinfold_loader *loader,
                          const struct pfi_cli_options *o)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    char why[160];

    pinfold_loader_stats(loader, &stats);
    if (o->quiet || o->loader.upload != PINFOLD_UPLOAD_AUTO ||
        stats.device_bytes)
        return;
    pfi_cli_why_no_cuda(why, stats.upload);
    (void)fprintf(stderr, "pinfold: no upload: %s; goes on in ordinary memory\n",
                  why);
}

void pfi_cli_say_empty(const pinfold_loader *loader,
                       const struct pfi_cli_options *o)
{
    if (!o->quiet && o->loader.drop_last && !pinfold_loader_batch_count(loader))
        pfi_cli_say("pinfold: no batch: --drop-last, and fewer samples than "
                    "--batch");
}

int pfi_cli_run_open_dataset(struct pfi_cli_run *run,
                             const struct pfi_cli_options *o)
{
    pinfold_error err;

    *run = (struct pfi_cli_run){0};
    if (o->trace && !pfi_cli_trace_open(&run->trace, o->trace))
        return PFI_CLI_FAILED;
    if (pfi_cli_dataset_open(&run->dataset, o, &err))
        return pfi_cli_run_close(run, pfi_cli_fail(&err));
    return PFI_CLI_OK;
}

int pfi_cli_run_open_loader(struct pfi_cli_run *run,
                            const struct pfi_cli_options *o)
{
    pinfold_loader_options options = o->loader;
    struct pfi_cli_order order;
    pinfold_status status;
    pinfold_error err;

    options.recipe = &o->recipe;
    if (o->trace)
        options.trace = &run->trace.callback;
    options.allocator = o->locked ? pfi_cli_locked() : NULL;
    if (pfi_cli_order_open(&order, o))
        return pfi_cli_run_close(run, PFI_CLI_FAILED);
    options.order = &order.order;
    status = pinfold_loader_open(&run->loader, run->dataset, &options, &err);
    pfi_cli_order_close(&order);
    run->started = pfi_cli_seconds();
    if (!status && !options.state)
        status = pinfold_loader_start(run->loader, o->epoch, &err);
    if (status)
        return pfi_cli_run_close(run, pfi_cli_fail(&err));
    say_no_upload(run->loader, o);
    pfi_cli_say_empty(run->loader, o);
    if ((o->watch || o->metrics) &&
        pfi_cli_monitor_open(&run->monitor, o, run->loader))
        return pfi_cli_run_close(run, PFI_CLI_FAILED);
    return PFI_CLI_OK;
}

int pfi_cli_run_open(struct pfi_cli_run *run, const struct pfi_cli_options *o)
{
    const int code = pfi_cli_run_open_dataset(run, o);

    return code ? code : pfi_cli_run_open_loader(run, o);
}

/* Samples of the first batches, from the start of an epoch. */
static long long samples_of(const pinfold_loader *loader,
                            const struct pfi_cli_options *o, long long batches)
{
    const long long samples = pinfold_loader_sample_count(loader);
    const long long per_epoch = pinfold_loader_batch_count(loader);
    const long long batch = o->loader.batch_size ? o->loader.batch_size : 256;
    const long long rest = batches % per_epoch * batch;

    return batches / per_epoch * samples + (rest < samples ? rest : samples);
}

long long pfi_cli_run_total(const pinfold_loader *loader,
                            const struct pfi_cli_options *o)
{
    const long long per_epoch = pinfold_loader_batch_count(loader);

    if (o->command != PFI_CLI_BENCH || !per_epoch)
        return pinfold_loader_sample_count(loader);
    return samples_of(loader, o, o->warmup) +
           samples_of(loader, o,
                      o->batches ? o->batches : per_epoch * o->epochs);
}

int pfi_cli_run_close(struct pfi_cli_run *run, int code)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    bool traced, written;

    written = !pfi_cli_monitor_close(run->monitor);
    if (run->loader)
        pinfold_loader_stats(run->loader, &stats);
    pfi_cli_loader_close(run->loader);
    pinfold_dataset_close(run->dataset);
    traced = pfi_cli_trace_close(&run->trace, stats.workers);
    *run = (struct pfi_cli_run){0};
    return code || (traced && written) ? code : PFI_CLI_FAILED;
}

pinfold_status pfi_cli_next(pinfold_loader *loader, const pinfold_batch **batch,
                            pinfold_error *err)
{
    pinfold_status status = PINFOLD_TIMEOUT;

    for (int waits = 0; status == PINFOLD_TIMEOUT && !caught; waits++) {
        if (waits == SLOW_WAITS)
            pfi_cli_say("pinfold: %s", err->message);
        status = pinfold_loader_next(loader, 100, batch, err);
    }
    return status;
}

pinfold_status pfi_cli_warm_up(pinfold_loader *loader,
                               const struct pfi_cli_options *o,
                               struct pfi_cli_bar *bar, pinfold_error *err)
{
    const pinfold_batch *batch;
    pinfold_status status = PINFOLD_OK;
    long long epoch = o->epoch;

    for (long long n = 0; !status && n < o->warmup;) {
        status = pfi_cli_next(loader, &batch, err);
        if (status == PINFOLD_END && pinfold_loader_batch_count(loader)) {
            status = pinfold_loader_start(loader, ++epoch, err);
        } else if (!status) {
            pfi_cli_bar_add(bar, batch->count);
            status = pinfold_batch_release_after(batch, NULL, err);
            n++;
        }
    }
    return status;
}

void pfi_cli_loader_close(pinfold_loader *loader)
{
    pinfold_error err;

    if (pinfold_loader_close_within(loader, caught ? 500 : 5000, &err))
        pfi_cli_say("pinfold: %s", err.message);
}

void pfi_cli_tell_bad(const pinfold_dataset *dataset, int64_t index,
                      const char *why)
{
    const char *const root = pinfold_dataset_root(dataset);
    const char *const path = pinfold_dataset_path(dataset, index);
    const bool inside = *path != '/'; /* a list's may be anywhere */

    pfi_cli_say("pinfold: sample %lld: %s%s%s: %s", (long long)index,
                inside ? root : "",
                inside && root[strlen(root) - 1] != '/' ? "/" : "", path, why);
}

int pfi_cli_report_bad(const pinfold_batch *batch, long long before)
{
    pinfold_error err;
    int found = 0;

    for (int32_t i = 0; batch->bad_count && i < batch->count; i++) {
        if (!batch->statuses[i])
            continue;
        pinfold_batch_error(batch, i, &err);
        if (before + found < SHOWN_BAD) {
            pfi_cli_live_clear();
            pfi_cli_say("pinfold: sample %lld: %s", (long long)err.sample,
                        err.message);
        }
        found++;
    }
    return found;
}
