/* SPDX-License-Identifier: Apache-2.0
 * Runs a fuzz target on every file of some folders, without a fuzzer, and fails
 * where an input takes more than a second for each begun 100 KB, or memory
 * above a limit.  usage: fuzz_TARGET FOLDER|FILE... */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* ru_maxrss */
#endif
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

/* Sanitizers make everything slower and larger. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 10
#define MOST_MIB 1024
#else
#define SLOWER 1
#define MOST_MIB 256
#endif

/* CPU seconds after which an input is said to hang. */
#define HANGS (60 * SLOWER)

static struct {
    FILE *out; /* the stdout that a target may mute */
    const char *path;
    long inputs, slow;
    double slowest;
    char slowest_path[4096];
} all;

static void on_hang(int number)
{
    static const char words[] = ": hangs\n";

    (void)number;
    (void)!write(2, all.path, strlen(all.path));
    (void)!write(2, words, sizeof(words) - 1);
    _exit(1);
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A file's bytes in memory of their own size. */
static uint8_t *load(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    uint8_t *data = NULL;
    long n = -1;

    if (file && !fseek(file, 0, SEEK_END) && (n = ftell(file)) >= 0) {
        rewind(file);
        data = malloc((size_t)n ? (size_t)n : 1);
    }
    if (!data || fread(data, 1, (size_t)n, file) != (size_t)n) {
        (void)fprintf(all.out, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    (void)fclose(file);
    *size = (size_t)n;
    return data;
}

static void replay_file(const char *path)
{
    size_t size;
    uint8_t *const data = load(path, &size);
    const double begun = (double)(size / 100000 + 1) * SLOWER;
    const struct itimerval limit = {.it_value = {.tv_sec = HANGS}};
    double start, took;

    all.path = path;
    setitimer(ITIMER_PROF, &limit, NULL);
    start = cpu_seconds();
    (void)LLVMFuzzerTestOneInput(data, size);
    took = cpu_seconds() - start;
    free(data);
    all.inputs++;
    if (took > begun) {
        (void)fprintf(all.out, "%s: %.2f s for %zu bytes, limit %.0f s\n", path,
                      took, size, begun);
        all.slow++;
    }
    if (took >= all.slowest) {
        all.slowest = took;
        (void)snprintf(all.slowest_path, sizeof(all.slowest_path), "%s", path);
    }
}

static void replay(const char *path)
{
    DIR *const folder = opendir(path);
    struct dirent *entry;
    char below[4096];

    if (!folder) {
        replay_file(path);
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        replay_file(below);
    }
    (void)closedir(folder);
}

int main(int argc, char **argv)
{
    struct rusage usage;
    long mib;

    all.out = stdout;
    signal(SIGPROF, on_hang);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    getrusage(RUSAGE_SELF, &usage);
    mib = usage.ru_maxrss / 1024;
    (void)fprintf(all.out, "%ld inputs, slowest %.3f s (%s), %ld MiB\n",
                  all.inputs, all.slowest, all.slowest_path, mib);
    if (mib > MOST_MIB)
        (void)fprintf(all.out, "more memory than %d MiB\n", MOST_MIB);
    return all.slow || mib > MOST_MIB || !all.inputs;
}
