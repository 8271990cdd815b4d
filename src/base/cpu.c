/* SPDX-License-Identifier: Apache-2.0
 * How many CPUs affinity and the cgroup's quota leave to this process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity() */
#endif
#include "src/base/cpu.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a small file of /proc or /sys into `text`; false where there is none. */
static bool read_text(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, text, size - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

static int cpus_of(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return INT_MAX;
    const long long cpus = (quota + period - 1) / period;
    return cpus < INT_MAX ? (int)cpus : INT_MAX;
}

/* The quota of one cgroup v2 folder: cpu.max is "QUOTA PERIOD" or "max ...". */
static int v2_quota(const char *folder)
{
    char path[PATH_MAX + 16], text[64];
    char *end;

    (void)snprintf(path, sizeof(path), "%s/cpu.max", folder);
    if (!read_text(path, text, sizeof(text)) || text[0] == 'm')
        return INT_MAX;
    const long long quota = strtoll(text, &end, 10);
    return cpus_of(quota, strtoll(end, NULL, 10));
}

/* The strictest quota from this process's cgroup v2 up to the root. */
static int v2_quota_up(void)
{
    char text[2048], folder[PATH_MAX];
    int cpus = INT_MAX;
    char *line;

    if (!read_text("/proc/self/cgroup", text, sizeof(text)))
        return INT_MAX;
    line = strstr(text, "0::/");
    if (!line)
        return INT_MAX;
    line[strcspn(line, "\n")] = '\0';
    (void)snprintf(folder, sizeof(folder), "/sys/fs/cgroup%s", line + 3);
    for (;;) {
        const int here = v2_quota(folder);
        char *const slash = strrchr(folder, '/');

        if (here < cpus)
            cpus = here;
        if (slash - folder <= (ptrdiff_t)strlen("/sys/fs"))
            return cpus;
        *slash = '\0';
    }
}

static int v1_quota(void)
{
    char quota[64], period[64];

    if (!read_text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota,
                   sizeof(quota)) ||
        !read_text("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period,
                   sizeof(period)))
        return INT_MAX;
    return cpus_of(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

static int affinity(void)
{
    cpu_set_t set;
    long online;

    /* Fails with EINVAL where the kernel has more CPUs than the set. */
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

int pfi_cpu_count(void)
{
    int cpus = affinity();
    const int v1 = v1_quota(), v2 = v2_quota_up();

    cpus = v1 < cpus ? v1 : cpus;
    cpus = v2 < cpus ? v2 : cpus;
    return cpus < 1 ? 1 : cpus;
}
