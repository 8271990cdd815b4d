/* SPDX-License-Identifier: Apache-2.0
 * The Trace Event Format: one line of JSON an event. */
#include "src/cli/text.h"
#include "src/cli/trace.h"

#include <string.h>
#include <time.h>

/* Thread numbers; they order the rows of the picture. */
enum { CALLER = 1, DEVICE = 2, STREAM = 3, FIRST_WORKER = 10 };

static int thread_of(const pinfold_trace_event *event)
{
    switch (event->lane) {
    case PINFOLD_LANE_CALLER: return CALLER;
    case PINFOLD_LANE_DEVICE: return DEVICE;
    case PINFOLD_LANE_STREAM: return STREAM;
    case PINFOLD_LANE_WORKER: break;
    }
    return FIRST_WORKER + event->lane_index;
}

static int put_number(char *out, size_t room, const char *name, long long value)
{
    return value < 0 ? 0 : snprintf(out, room, ",\"%s\":%lld", name, value);
}

/* One call of fprintf, which locks the file: several threads write.  Times are
 * microseconds. */
static void write_event(void *cookie, const pinfold_trace_event *e)
{
    const struct pfi_cli_trace *const trace = cookie;
    const unsigned long long start = e->start_ns - trace->start_ns;
    const unsigned long long ns = e->end_ns - e->start_ns;
    char more[160] = "";
    int n = 0;

    n += put_number(more + n, sizeof(more) - (size_t)n, "epoch", e->epoch);
    n += put_number(more + n, sizeof(more) - (size_t)n, "batch", e->batch);
    n += put_number(more + n, sizeof(more) - (size_t)n, "sample", e->sample);
    if (e->decode_ns || e->transform_ns) {
        n += put_number(more + n, sizeof(more) - (size_t)n, "decode_ns",
                        (long long)e->decode_ns);
        (void)put_number(more + n, sizeof(more) - (size_t)n, "transform_ns",
                         (long long)e->transform_ns);
    }
    (void)fprintf(trace->part.file,
                  ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%d,"
                  "\"ts\":%llu.%03llu,\"dur\":%llu.%03llu,"
                  "\"args\":{\"status\":\"%s\"%s}}",
                  e->name, thread_of(e), start / 1000, start % 1000, ns / 1000,
                  ns % 1000, pinfold_status_name(e->status), more);
}

bool pfi_cli_trace_open(struct pfi_cli_trace *trace, const char *path)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    *trace = (struct pfi_cli_trace){
        .path = path,
        .start_ns = (unsigned long long)now.tv_sec * 1000000000u +
                    (unsigned long long)now.tv_nsec,
        .callback = {sizeof(trace->callback), trace, write_event},
    };
    if (pfi_cli_part_user(&trace->part, path)) {
        pfi_cli_cannot(path, "write");
        pfi_cli_part_drop(&trace->part);
        return false;
    }
    (void)fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,"
                "\"args\":{\"name\":\"pinfold\"}}",
                trace->part.file);
    return true;
}

static void name_thread(const struct pfi_cli_trace *trace, int thread,
                        const char *name, long long number)
{
    char digits[24] = "";

    if (number >= 0)
        (void)snprintf(digits, sizeof(digits), " %lld", number);
    (void)fprintf(trace->part.file,
                  ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,"
                  "\"tid\":%d,\"args\":{\"name\":\"%s%s\"}}",
                  thread, name, digits);
}

bool pfi_cli_trace_close(struct pfi_cli_trace *trace, long long workers)
{
    bool good;

    if (!trace->part.file)
        return true;
    name_thread(trace, CALLER, "caller", -1);
    name_thread(trace, DEVICE, "device", -1);
    name_thread(trace, STREAM, "copy stream", -1);
    for (long long i = 0; i < workers; i++)
        name_thread(trace, FIRST_WORKER + (int)i, "worker", i);
    (void)fputs("\n]}\n", trace->part.file);
    good = !pfi_cli_part_sync(&trace->part) && !pfi_cli_part_rename(&trace->part);
    if (!good)
        pfi_cli_cannot(trace->path, "write");
    pfi_cli_part_drop(&trace->part);
    return good;
}
