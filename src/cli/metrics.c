/* SPDX-License-Identifier: Apache-2.0
 * A loader's counters as Prometheus reads them. */
#include "src/cli/monitor.h"

struct family {
    FILE *out;
    const char *name;
};

/* Starts a family; counters' names end in _total. */
static struct family begin(FILE *out, const char *name, const char *type,
                           const char *help)
{
    (void)fprintf(out, "# HELP pinfold_%s %s\n# TYPE pinfold_%s %s\n", name,
                  help, name, type);
    return (struct family){out, name};
}

static void count(FILE *out, const char *name, const char *help, uint64_t value)
{
    (void)begin(out, name, "counter", help);
    (void)fprintf(out, "pinfold_%s %llu\n", name, (unsigned long long)value);
}

static void gauge(FILE *out, const char *name, const char *help, int64_t value)
{
    (void)begin(out, name, "gauge", help);
    (void)fprintf(out, "pinfold_%s %lld\n", name, (long long)value);
}

static void labelled(struct family f, const char *label, const char *value,
                     int64_t number)
{
    (void)fprintf(f.out, "pinfold_%s{%s=\"%s\"} %lld\n", f.name, label, value,
                  (long long)number);
}

static void seconds(struct family f, const char *label, const char *value,
                    uint64_t ns)
{
    (void)fprintf(f.out, "pinfold_%s{%s=\"%s\"} %.9f\n", f.name, label, value,
                  (double)ns * 1e-9);
}

static void print_counters(FILE *out, const pinfold_stats *s)
{
    struct family f;

    count(out, "samples_total", "Samples made, bad ones too.", s->samples);
    count(out, "bad_samples_total", "Samples that could not be made.",
          s->bad_samples);
    count(out, "batches_total", "Batches made.", s->batches);
    count(out, "read_bytes_total", "Bytes of files read.", s->bytes_read);
    count(out, "jpeg_fallbacks_total", "JPEGs left to libjpeg-turbo.",
          s->jpeg_fallbacks);
    f = begin(out, "stage_seconds_total", "counter",
              "Time of a stage, summed over the workers.");
    seconds(f, "stage", "read", s->read_ns);
    seconds(f, "stage", "decode", s->decode_ns);
    seconds(f, "stage", "transform", s->transform_ns);
    f = begin(out, "copy_seconds_total", "counter", "Time of copies.");
    seconds(f, "to", "device", s->copy_ns);
    f = begin(out, "wait_seconds_total", "counter",
              "Time the caller waited for a batch, and workers for a free "
              "slot.");
    seconds(f, "who", "caller", s->caller_wait_ns);
    seconds(f, "who", "workers", s->worker_wait_ns);
}

static void print_gauges(FILE *out, const pinfold_stats *s)
{
    struct family f;

    gauge(out, "workers", "Worker threads; 0 is the calling thread.",
          s->workers);
    gauge(out, "workers_busy", "Samples that are being made.",
          s->workers_busy);
    gauge(out, "slots_limit", "Batches that there is room for.", s->slots);
    f = begin(out, "slots", "gauge", "Batches by what is done with them.");
    labelled(f, "state", "filling", s->slots_filling);
    labelled(f, "state", "ready", s->slots_ready);
    labelled(f, "state", "lent", s->slots_lent);
    f = begin(out, "memory_bytes", "gauge", "Memory that the loader holds.");
    labelled(f, "kind", "pinned", (int64_t)s->pinned_bytes);
    labelled(f, "kind", "host", (int64_t)s->host_bytes);
    labelled(f, "kind", "device", (int64_t)s->device_bytes);
}

void pfi_cli_metrics_print(FILE *out, const struct pfi_cli_watched *w)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    struct family f;

    pinfold_loader_stats(w->loader, &stats);
    print_counters(out, &stats);
    print_gauges(out, &stats);
    f = begin(out, "samples_per_second", "gauge",
              "Rate of the last ten seconds.");
    (void)fprintf(out, "pinfold_%s %.3f\n", f.name,
                  (double)atomic_load(&w->rate) * 1e-3);
    gauge(out, "samples_expected", "Samples of the whole run.", w->total);
    gauge(out, "start_time_seconds", "When the run began, in Unix time.",
          w->epoch_start);
    f = begin(out, "build_info", "gauge", "Which pinfold this is.");
    labelled(f, "version", pinfold_version(), 1);
}
