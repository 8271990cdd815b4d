/* SPDX-License-Identifier: Apache-2.0
 * pinfold bench --device all: a loader and a consumer for each device, on
 * shares of the data set that together are the whole. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/bench_all.h"
#include "src/cli/lists.h"
#include "src/cli/locked.h"
#include "src/cli/order.h"
#include "src/cli/progress.h"
#include "src/cli/text.h"

struct lane {
    const struct pfi_cli_options *options;
    pinfold_loader_options loader_options;
    pinfold_loader *loader;
    pthread_t thread;
    bool runs;
    double begin, end; /* of what is measured */
    long long images, batches, bad;
    pinfold_status status;
    pinfold_error error;
};

/* Gives the lane's batches back as they come. */
static pinfold_status run_epoch(struct lane *lane)
{
    const struct pfi_cli_options *const o = lane->options;
    const pinfold_batch *batch;
    pinfold_status status = PINFOLD_OK;

    while (!status && (!o->batches || lane->batches < o->batches)) {
        status = pfi_cli_next(lane->loader, &batch, &lane->error);
        if (status)
            return status;
        lane->bad += pfi_cli_report_bad(batch, lane->bad);
        lane->images += batch->count;
        lane->batches++;
        /* NULL is the stream whose work the release waits for: none here. */
        status = pinfold_batch_release_after(batch, NULL, &lane->error);
    }
    return status ? status : PINFOLD_END;
}

static pinfold_status warm_up(struct lane *lane)
{
    const struct pfi_cli_options *const o = lane->options;
    struct pfi_cli_bar none = {.shown = false};
    pinfold_status status;

    if (!o->warmup)
        return PINFOLD_OK;
    status = pinfold_loader_start(lane->loader, o->epoch, &lane->error);
    return status ? status
                  : pfi_cli_warm_up(lane->loader, o, &none, &lane->error);
}

static void *run_lane(void *argument)
{
    struct lane *const lane = argument;
    const struct pfi_cli_options *const o = lane->options;

    lane->status = warm_up(lane);
    lane->begin = pfi_cli_seconds();
    for (long long i = 0;
         (!lane->status || lane->status == PINFOLD_END) && i < o->epochs; i++) {
        lane->status =
            pinfold_loader_start(lane->loader, o->epoch + i, &lane->error);
        if (!lane->status)
            lane->status = run_epoch(lane);
    }
    lane->end = pfi_cli_seconds();
    return NULL;
}

static double rate(long long images, double seconds)
{
    return images && seconds > 0 ? (double)images / seconds : 0;
}

static void print_lane(const struct lane *lane, bool json)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    const double seconds = lane->end - lane->begin;

    pinfold_loader_stats(lane->loader, &stats);
    if (json)
        (void)printf("{\"device\":%d,\"images_per_second\":%.3f,"
                     "\"images\":%lld,\"seconds\":%.6f,\"bad_samples\":%lld,"
                     "\"workers\":%lld,\"memory\":\"%s\",\"upload\":\"%s\"}",
                     lane->loader_options.device, rate(lane->images, seconds),
                     lane->images, seconds, lane->bad,
                     (long long)stats.workers, stats.memory, stats.upload);
    else
        (void)printf("device %d: %.1f images/s (%lld image%s in %.2f s, %lld "
                     "worker%s, %s slots)\n",
                     lane->loader_options.device, rate(lane->images, seconds),
                     lane->images, pfi_cli_plural(lane->images, "s"), seconds,
                     (long long)stats.workers,
                     pfi_cli_plural(stats.workers, "s"), stats.memory);
}

/* The sum's time is that from the first lane's begin to the last one's end. */
static void print_all(const struct lane *lanes, int n, bool json)
{
    double begin = lanes[0].begin, end = lanes[0].end;
    long long images = 0, bad = 0;

    if (json)
        (void)fputs("{\"schema\":1,\"devices\":[", stdout);
    for (int i = 0; i < n; i++) {
        if (json && i)
            (void)fputc(',', stdout);
        print_lane(&lanes[i], json);
        begin = lanes[i].begin < begin ? lanes[i].begin : begin;
        end = lanes[i].end > end ? lanes[i].end : end;
        images += lanes[i].images;
        bad += lanes[i].bad;
    }
    if (json) {
        (void)printf("],\"images_per_second\":%.3f,\"images\":%lld,"
                     "\"seconds\":%.6f,\"bad_samples\":%lld}\n",
                     rate(images, end - begin), images, end - begin, bad);
        return;
    }
    (void)printf("all %d: %.1f images/s (%lld image%s in %.2f s)\n", n,
                 rate(images, end - begin), images, pfi_cli_plural(images, "s"),
                 end - begin);
    if (bad)
        (void)printf("%lld bad sample%s\n", bad, pfi_cli_plural(bad, "s"));
}

/* Devices share the CPUs, where the number of workers was left to us. */
static pinfold_status share_workers(pinfold_dataset *dataset,
                                    pinfold_loader_options *options, int n,
                                    pinfold_error *err)
{
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    pinfold_status status;

    if (options->workers)
        return PINFOLD_OK;
    status = pinfold_loader_plan(dataset, options, &plan, err);
    options->workers = plan.workers > n ? (int32_t)(plan.workers / n) : 1;
    return status;
}

static pinfold_status open_loaders(struct lane *lanes, int n,
                                   const struct pfi_cli_options *o,
                                   pinfold_order *order, pinfold_error *err)
{
    pinfold_loader_options options = o->loader;
    pinfold_dataset *dataset;
    pinfold_status status = pfi_cli_dataset_open(&dataset, o, err);

    if (status)
        return status;
    options.recipe = &o->recipe;
    options.allocator = o->locked ? pfi_cli_locked() : NULL;
    options.order = order;
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    order->shard = PINFOLD_SHARD_EXACT;
    order->world = n;
    status = share_workers(dataset, &options, n, err);
    for (int i = 0; !status && i < n; i++) {
        options.device = order->rank = i;
        lanes[i].options = o;
        lanes[i].loader_options = options;
        status =
            pinfold_loader_open(&lanes[i].loader, dataset, &options, err);
        if (!status && !i)
            pfi_cli_say_empty(lanes[i].loader, o);
    }
    pinfold_dataset_close(dataset);
    return status;
}

/* On failure prints why and returns the exit status. */
static int open_lanes(struct lane *lanes, int n, const struct pfi_cli_options *o)
{
    struct pfi_cli_order order;
    pinfold_error err;
    pinfold_status status;

    if (pfi_cli_order_open(&order, o))
        return PFI_CLI_FAILED;
    status = open_loaders(lanes, n, o, &order.order, &err);
    pfi_cli_order_close(&order);
    return status ? pfi_cli_fail(&err) : PFI_CLI_OK;
}

static pinfold_status run_lanes(struct lane *lanes, int n, pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;

    for (int i = 0; i < n; i++) {
        const int code =
            pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]);

        lanes[i].runs = !code;
        if (code && !status) {
            status = err->status = PINFOLD_E_THREAD;
            (void)snprintf(err->message, sizeof(err->message),
                           "cannot start a thread for device %d: %s", i,
                           strerror(code));
        }
    }
    for (int i = 0; i < n; i++) {
        if (lanes[i].runs)
            pthread_join(lanes[i].thread, NULL);
        if (lanes[i].status < 0 && !status) {
            status = lanes[i].status;
            *err = lanes[i].error;
        }
    }
    return status;
}

/* 0 after saying what is wrong. */
static int count_devices(const struct pfi_cli_options *o)
{
    pinfold_info info = {.struct_size = sizeof(info)};
    char why[160];

    if (o->trace || o->order.world > 1 || o->order.shard) {
        (void)fputs("pinfold: --device all takes no --trace, --shard and "
                    "--world\n",
                    stderr);
        return 0;
    }
    pinfold_info_get(&info);
    if (info.cuda_devices > 0)
        return info.cuda_devices;
    pfi_cli_why_no_cuda(why, info.cuda_status);
    (void)fprintf(stderr, "pinfold: --device all: none is usable: %s\n", why);
    return 0;
}

int pfi_cli_bench_all(const struct pfi_cli_options *o)
{
    const int n = count_devices(o);
    struct lane *lanes;
    pinfold_error err;
    long long bad = 0;
    int code;

    if (n < 1)
        return PFI_CLI_FAILED;
    lanes = calloc((size_t)n, sizeof(*lanes));
    if (!lanes) {
        (void)fputs("pinfold: out of memory\n", stderr);
        return PFI_CLI_FAILED;
    }
    code = open_lanes(lanes, n, o);
    if (!code && run_lanes(lanes, n, &err))
        code = pfi_cli_fail(&err);
    if (!code) {
        for (int i = 0; i < n; i++)
            bad += lanes[i].bad;
        code = bad ? PFI_CLI_FAILED : PFI_CLI_OK;
        if (!pfi_cli_signal())
            print_all(lanes, n, o->json);
    }
    for (int i = 0; i < n; i++)
        pfi_cli_loader_close(lanes[i].loader);
    free(lanes);
    return code;
}
