/* SPDX-License-Identifier: Apache-2.0
 * pinfold bench: how fast batches come, and what they wait for. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "src/cli/bench_all.h"
#include "src/cli/progress.h"
#include "src/cli/run.h"
#include "src/cli/text.h"
#include "src/cli/verdict.h"

struct measure {
    double *batch_seconds; /* [n_batches] */
    long long room, n_batches, images, bad;
    double seconds, last;
    pinfold_stats before, after;
};

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const struct measure *m, double q)
{
    if (!m->n_batches)
        return 0;
    return m->batch_seconds[(long long)(q * (double)(m->n_batches - 1) + 0.5)];
}

static bool count_batch(struct measure *m, const pinfold_batch *batch)
{
    const double now = pfi_cli_seconds();

    m->bad += pfi_cli_report_bad(batch, m->bad);
    if (m->n_batches == m->room) {
        m->room = m->room ? 2 * m->room : 1024;
        double *const grown = realloc(m->batch_seconds,
                                      (size_t)m->room * sizeof(*grown));

        if (!grown)
            return false;
        m->batch_seconds = grown;
    }
    m->batch_seconds[m->n_batches++] = now - m->last;
    m->seconds += now - m->last;
    m->last = now;
    m->images += batch->count;
    return true;
}

static pinfold_status run_epoch(struct measure *m, pinfold_loader *loader,
                                struct pfi_cli_bar *bar, long long wanted,
                                pinfold_error *err)
{
    const pinfold_batch *batch;
    pinfold_status status;

    do {
        status = pfi_cli_next(loader, &batch, err);
        if (status)
            return status;
        const bool good = count_batch(m, batch);

        pfi_cli_bar_add(bar, batch->count);
        /* NULL is the stream whose work the release waits for: none here. */
        status = pinfold_batch_release_after(batch, NULL, err);
        if (!good) {
            (void)snprintf(err->message, sizeof(err->message),
                           "no memory for the measurements");
            return PINFOLD_E_MEMORY;
        }
    } while (!status && m->n_batches < wanted);
    return status ? status : PINFOLD_END;
}

/* The clock starts with the first epoch, again behind a warm-up, so that nothing
 * is made before it that is measured. */
static pinfold_status start_clock(struct measure *m,
                                  const struct pfi_cli_options *o,
                                  const struct pfi_cli_run *run,
                                  struct pfi_cli_bar *bar, pinfold_error *err)
{
    pinfold_status status;

    m->last = run->started;
    if (!o->warmup)
        return PINFOLD_OK;
    status = pfi_cli_warm_up(run->loader, o, bar, err);
    m->last = pfi_cli_seconds();
    if (!status)
        status = pinfold_loader_start(run->loader, o->epoch, err);
    /* Behind the start, which waits for what is being made of the warm-up. */
    pinfold_loader_stats(run->loader, &m->before);
    return status;
}

/* Epochs go on until those asked for are measured, or the batches. */
static pinfold_status run_all(struct measure *m,
                              const struct pfi_cli_options *o,
                              const struct pfi_cli_run *run, pinfold_error *err)
{
    pinfold_loader *const loader = run->loader;
    const long long per_epoch = pinfold_loader_batch_count(loader);
    const long long wanted =
        o->batches && per_epoch ? o->batches : per_epoch * o->epochs;
    struct pfi_cli_bar bar;
    pinfold_status status;
    long long epoch = o->epoch;

    pfi_cli_bar_start(&bar, o, pfi_cli_run_total(loader, o));
    status = start_clock(m, o, run, &bar, err);
    while (!status && m->n_batches < wanted) {
        status = run_epoch(m, loader, &bar, wanted, err);
        if (status == PINFOLD_END && m->n_batches < wanted)
            status = pinfold_loader_start(loader, ++epoch, err);
    }
    pfi_cli_bar_end(&bar);
    pinfold_loader_stats(loader, &m->after);
    return status;
}

static double per_image_ms(uint64_t after, uint64_t before, long long images)
{
    return images ? (double)(after - before) * 1e-6 / (double)images : 0;
}

#define N_STAGES 7

static const char *const stage_names[N_STAGES] = {
    "read", "header", "decode", "plan", "horizontal", "vertical", "normalize"};

/* What each stage of a picture costs a worker, from those that were timed so;
 * returns how many. */
static long long stages_ms(const struct measure *m, double ms[N_STAGES])
{
    const pinfold_stats *const a = &m->after, *const b = &m->before;
    const long long n = (long long)(a->detailed_samples - b->detailed_samples);
    const uint64_t ns[N_STAGES] = {
        a->detailed_read_ns - b->detailed_read_ns,
        a->detailed_header_ns - b->detailed_header_ns,
        a->detailed_decode_ns - b->detailed_decode_ns,
        a->detailed_plan_ns - b->detailed_plan_ns,
        a->detailed_horizontal_ns - b->detailed_horizontal_ns,
        a->detailed_vertical_ns - b->detailed_vertical_ns,
        a->detailed_normalize_ns - b->detailed_normalize_ns};

    for (int i = 0; i < N_STAGES; i++)
        ms[i] = per_image_ms(ns[i], 0, n);
    return n;
}

static uint64_t fallbacks(const struct measure *m)
{
    return m->after.jpeg_fallbacks - m->before.jpeg_fallbacks;
}

static unsigned long long retries(const struct measure *m)
{
    return (unsigned long long)(m->after.read_retries - m->before.read_retries);
}

static void print_stages(const struct measure *m)
{
    double ms[N_STAGES], all = 0;
    const long long n = stages_ms(m, ms);

    for (int i = 0; i < N_STAGES; i++)
        all += ms[i];
    (void)printf("stages of a picture, from %lld that were timed:\n", n);
    for (int i = 0; i < N_STAGES; i++)
        (void)printf("  %-10s %8.4f ms  %5.1f %%\n", stage_names[i], ms[i],
                     all > 0 ? 100 * ms[i] / all : 0);
    (void)printf("JPEGs left to libjpeg-turbo: %llu, after %.4f ms each\n",
                 (unsigned long long)fallbacks(m),
                 per_image_ms(m->after.jpeg_fallback_ns,
                              m->before.jpeg_fallback_ns,
                              (long long)fallbacks(m)));
    (void)printf("files read again after an I/O error: %llu\n", retries(m));
}

static void print_json_stages(const struct measure *m)
{
    double ms[N_STAGES];
    const long long n = stages_ms(m, ms);

    (void)printf("\"stages_timed\":%lld,\"stages_ms\":{", n);
    for (int i = 0; i < N_STAGES; i++)
        (void)printf("%s\"%s\":%.5f", i ? "," : "", stage_names[i], ms[i]);
    (void)printf("},\"jpeg_fallbacks\":%llu,\"jpeg_fallback_ms\":%.5f,"
                 "\"read_retries\":%llu,",
                 (unsigned long long)fallbacks(m),
                 per_image_ms(m->after.jpeg_fallback_ns,
                              m->before.jpeg_fallback_ns,
                              (long long)fallbacks(m)),
                 retries(m));
}

static void print_json(const struct measure *m, const struct pfi_cli_options *o)
{
    const pinfold_stats *const a = &m->after, *const b = &m->before;
    const long long made = (long long)(a->samples - b->samples);
    pinfold_info info = {.struct_size = sizeof(info)};
    struct rusage usage;

    pinfold_info_get(&info);
    getrusage(RUSAGE_SELF, &usage);
    (void)printf("{\"schema\":1,\"images_per_second\":%.3f,\"images\":%lld,"
                 "\"seconds\":%.6f,\"workers\":%lld,\"batch\":%d,"
                 "\"bad_samples\":%lld,\"batch_ms_median\":%.3f,"
                 "\"batch_ms_p99\":%.3f,\"megabytes_per_second\":%.3f,",
                 m->seconds > 0 ? (double)m->images / m->seconds : 0,
                 m->images, m->seconds, (long long)a->workers,
                 o->loader.batch_size ? o->loader.batch_size : 256, m->bad,
                 quantile(m, 0.5) * 1e3, quantile(m, 0.99) * 1e3,
                 m->seconds > 0 ? (double)(a->bytes_read - b->bytes_read) /
                                      m->seconds * 1e-6
                                : 0);
    (void)printf("\"read_ms\":%.4f,\"decode_ms\":%.4f,\"transform_ms\":%.4f,"
                 "\"copy_ms\":%.4f,\"caller_wait_ms\":%.3f,"
                 "\"worker_wait_ms\":%.3f,\"peak_rss_bytes\":%lld,",
                 per_image_ms(a->read_ns, b->read_ns, made),
                 per_image_ms(a->decode_ns, b->decode_ns, made),
                 per_image_ms(a->transform_ns, b->transform_ns, made),
                 per_image_ms(a->copy_ns, b->copy_ns, made),
                 (double)(a->caller_wait_ns - b->caller_wait_ns) * 1e-6,
                 (double)(a->worker_wait_ns - b->worker_wait_ns) * 1e-6,
                 (long long)usage.ru_maxrss * 1024);
    print_json_stages(m);
    (void)printf("\"pinned_bytes\":%zu,\"host_bytes\":%zu,\"device_bytes\":%zu,"
                 "\"memory\":\"%s\",\"upload\":\"%s\",\"version\":\"%s\","
                 "\"libjpeg_turbo\":\"%s\",\"zlib\":\"%s\",\"pillow\":\"%s\"}"
                 "\n",
                 a->pinned_bytes, a->host_bytes, a->device_bytes, a->memory,
                 a->upload, info.version, info.libjpeg_turbo, info.zlib,
                 info.pillow);
}

static void print_words(const struct measure *m)
{
    const pinfold_stats *const a = &m->after, *const b = &m->before;
    const long long made = (long long)(a->samples - b->samples);
    const double caller = (double)(a->caller_wait_ns - b->caller_wait_ns) * 1e-6;
    const double worker = (double)(a->worker_wait_ns - b->worker_wait_ns) * 1e-6;
    pinfold_info info = {.struct_size = sizeof(info)};
    struct rusage usage;

    pinfold_info_get(&info);
    getrusage(RUSAGE_SELF, &usage);
    (void)printf("%.1f images/s (%lld image%s in %.2f s, %lld worker%s)\n",
                 m->seconds > 0 ? (double)m->images / m->seconds : 0,
                 m->images, pfi_cli_plural(m->images, "s"), m->seconds,
                 (long long)a->workers, pfi_cli_plural(a->workers, "s"));
    (void)printf("%.1f MB/s read; a batch takes %.2f ms (median), %.2f ms "
                 "(p99)\n",
                 m->seconds > 0 ? (double)(a->bytes_read - b->bytes_read) /
                                      m->seconds * 1e-6
                                : 0,
                 quantile(m, 0.5) * 1e3, quantile(m, 0.99) * 1e3);
    (void)printf("an image: read %.3f ms, decode %.3f ms, transform %.3f ms, "
                 "copy %.3f ms\n",
                 per_image_ms(a->read_ns, b->read_ns, made),
                 per_image_ms(a->decode_ns, b->decode_ns, made),
                 per_image_ms(a->transform_ns, b->transform_ns, made),
                 per_image_ms(a->copy_ns, b->copy_ns, made));
    (void)printf("the caller waited %.0f ms for the workers, they %.0f ms for "
                 "the caller%s\n",
                 caller, worker, pfi_cli_verdict(caller, worker));
    (void)printf("memory: %s slots, peak %.1f MiB; upload: %s\n", a->memory,
                 (double)usage.ru_maxrss / 1024,
                 a->device_bytes ? "on" : "off");
    (void)printf("pinfold %s, libjpeg-turbo %s, zlib %s, Pillow rule %s\n",
                 info.version, info.libjpeg_turbo, info.zlib, info.pillow);
    if (m->bad)
        (void)printf("%lld bad sample%s\n", m->bad,
                     pfi_cli_plural(m->bad, "s"));
}

int pfi_cli_bench(const struct pfi_cli_options *o)
{
    struct measure m = {.before = {.struct_size = sizeof(pinfold_stats)},
                        .after = {.struct_size = sizeof(pinfold_stats)}};
    struct pfi_cli_run run;
    pinfold_status status;
    pinfold_error err;
    int code, closed;

    if (o->all_devices && (o->watch || o->metrics)) {
        (void)fputs("pinfold: --device all takes no --watch and no "
                    "--metrics\n",
                    stderr);
        return PFI_CLI_USAGE;
    }
    if (o->all_devices)
        return pfi_cli_bench_all(o);
    code = pfi_cli_run_open(&run, o);
    if (code)
        return code;
    status = run_all(&m, o, &run, &err);
    closed = pfi_cli_run_close(&run, PFI_CLI_OK);
    if (status < 0) {
        code = pfi_cli_fail(&err);
    } else if (status != PINFOLD_TIMEOUT) {
        if (m.n_batches)
            qsort(m.batch_seconds, (size_t)m.n_batches,
                  sizeof(*m.batch_seconds), compare_doubles);
        if (o->json)
            print_json(&m, o);
        else
            print_words(&m);
        if (o->stages && !o->json)
            print_stages(&m);
        code = m.bad ? PFI_CLI_FAILED : PFI_CLI_OK;
    }
    free(m.batch_seconds);
    return code ? code : closed;
}
