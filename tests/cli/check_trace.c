/* SPDX-License-Identifier: Apache-2.0
 * Whether a file is JSON in the Trace Event Format as `pinfold --trace` writes
 * it: every field of its type, every thread named, READS samples read.
 * usage: check_trace FILE READS */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 64
#define DEEPEST 8

/* The members of one event that the schema knows. */
struct event {
    char name[64], phase[4], status[64], thread_name[64];
    double pid, tid, ts, dur;
    unsigned seen; /* a bit a member */
};

enum { NAME = 1, PHASE = 2, PID = 4, TID = 8, TS = 16, DUR = 32, ARGS = 64 };

static const char *at, *start;
static struct event event;
static double used[MOST_THREADS], named[MOST_THREADS];
static int n_used, n_named;
static long n_spans, n_reads, n_makes;

static void fail(const char *what)
{
    (void)fprintf(stderr, "check_trace: %s at byte %ld: %.60s\n", what,
                  (long)(at - start), at);
    exit(1);
}

static void skip(void)
{
    while (*at && strchr(" \t\r\n", *at))
        at++;
}

static void expect(char c)
{
    skip();
    if (*at != c)
        fail("another character was due");
    at++;
}

static void take_string(char *out, size_t room)
{
    size_t n = 0;

    expect('"');
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            fail("a control character in a string");
        if (*at == '\\' && !strchr("\"\\/bfnrtu", *++at))
            fail("an unknown escape");
        if (n + 1 < room)
            out[n++] = *at;
    }
    out[n] = '\0';
    at++;
}

/* JSON has fewer ways to write a number than strtod() takes. */
static double take_number(void)
{
    const char *const first = at + (*at == '-');
    char *end;
    double value;

    if (!isdigit((unsigned char)*first) ||
        (*first == '0' && isdigit((unsigned char)first[1])))
        fail("a number was due");
    value = strtod(at, &end);
    if (memchr(at, 'x', (size_t)(end - at)) || end[-1] == '.')
        fail("not a number of JSON");
    at = end;
    return value;
}

static void take_value(const char *key, int depth);

static void take_object(int depth)
{
    char key[64];

    if (depth > DEEPEST)
        fail("too deep");
    expect('{');
    skip();
    for (int i = 0; *at != '}'; i++) {
        if (i)
            expect(',');
        take_string(key, sizeof(key));
        expect(':');
        take_value(key, depth + 1);
        skip();
    }
    at++;
}

static void store(double *out, unsigned bit)
{
    if (event.seen & bit)
        fail("a member twice");
    event.seen |= bit;
    *out = take_number();
}

static void take_args(const char *key, int depth)
{
    if (!strcmp(key, "status"))
        take_string(event.status, sizeof(event.status));
    else if (!strcmp(key, "name"))
        take_string(event.thread_name, sizeof(event.thread_name));
    else if (*at == '{')
        fail("an object in args");
    else
        (void)take_number();
    (void)depth;
}

/* Depth 1 holds an event's members, depth 2 its args'. */
static void take_value(const char *key, int depth)
{
    skip();
    if (depth == 2) {
        take_args(key, depth);
    } else if (!strcmp(key, "name")) {
        event.seen |= NAME;
        take_string(event.name, sizeof(event.name));
    } else if (!strcmp(key, "ph")) {
        event.seen |= PHASE;
        take_string(event.phase, sizeof(event.phase));
    } else if (!strcmp(key, "pid")) {
        store(&event.pid, PID);
    } else if (!strcmp(key, "tid")) {
        store(&event.tid, TID);
    } else if (!strcmp(key, "ts")) {
        store(&event.ts, TS);
    } else if (!strcmp(key, "dur")) {
        store(&event.dur, DUR);
    } else if (!strcmp(key, "args")) {
        event.seen |= ARGS;
        take_object(depth);
    } else {
        fail("a member that the schema lacks");
    }
}

static int has(const double *list, int n, double value)
{
    for (int i = 0; i < n; i++)
        if (list[i] >= value && list[i] <= value)
            return 1;
    return 0;
}

static void add(double *list, int *n, double value)
{
    if (has(list, *n, value))
        return;
    if (*n == MOST_THREADS)
        fail("too many threads");
    list[(*n)++] = value;
}

static void check_event(void)
{
    if (!strcmp(event.phase, "M")) {
        if (event.seen != (NAME | PHASE | PID | TID | ARGS))
            fail("a metadata event has other members");
        if (!event.thread_name[0])
            fail("a name is empty");
        if (!strcmp(event.name, "thread_name"))
            add(named, &n_named, event.tid);
        return;
    }
    if (strcmp(event.phase, "X"))
        fail("neither a span nor metadata");
    if (event.seen != (NAME | PHASE | PID | TID | TS | DUR | ARGS))
        fail("a span has other members");
    if (event.ts < 0 || event.dur < 0)
        fail("a time is below 0");
    if (strncmp(event.status, "PINFOLD_", 8))
        fail("a span has no status");
    add(used, &n_used, event.tid);
    n_spans++;
    n_reads += !strcmp(event.name, "read");
    n_makes += !strcmp(event.name, "make");
}

static void check_all(void)
{
    char text[64];

    expect('{');
    take_string(text, sizeof(text));
    expect(':');
    if (strcmp(text, "displayTimeUnit"))
        fail("displayTimeUnit was due");
    take_string(text, sizeof(text));
    expect(',');
    take_string(text, sizeof(text));
    expect(':');
    if (strcmp(text, "traceEvents"))
        fail("traceEvents was due");
    expect('[');
    skip();
    for (int i = 0; *at != ']'; i++) {
        if (i)
            expect(',');
        event = (struct event){0};
        skip();
        take_object(0);
        check_event();
        skip();
    }
    at++;
    expect('}');
    skip();
    if (*at)
        fail("something follows");
}

int main(int argc, char **argv)
{
    static char bytes[8 << 20];
    FILE *const file = argc == 3 ? fopen(argv[1], "rb") : NULL;

    if (!file)
        return 2;
    bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
    (void)fclose(file);
    at = start = bytes;
    check_all();
    for (int i = 0; i < n_used; i++)
        if (!has(named, n_named, used[i]))
            fail("a thread has no name");
    if (n_reads != atol(argv[2]) || n_makes > n_reads || n_makes == 0)
        fail("another number of samples");
    (void)printf("%ld spans of %d threads\n", n_spans, n_used);
    return 0;
}
