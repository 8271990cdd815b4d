/* SPDX-License-Identifier: Apache-2.0
 * Memory from /proc/meminfo, getrlimit() and control groups v1 and v2. */
#include "src/cli/machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* From here on a v1 limit means none: it is PAGE_COUNTER_MAX then. */
#define NO_LIMIT ((uint64_t)1 << 62)

struct version {
    const char *line;   /* of /proc/self/cgroup: what stands before the path */
    const char *folder; /* of the hierarchy */
    const char *limit, *used, *droppable;
};

static const struct version versions[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
     "memory.usage_in_bytes", "total_inactive_file "},
};

static bool read_text(const char *path, char *text, size_t size)
{
    FILE *const file = fopen(path, "r");
    size_t n;

    if (!file)
        return false;
    n = fread(text, 1, size - 1, file);
    (void)fclose(file);
    text[n] = '\0';
    return n > 0;
}

/* The number behind `name` at the start of a line; 0 where there is none. */
static uint64_t number_of(const char *text, const char *name)
{
    const size_t size = strlen(name);

    while (text) {
        if (!strncmp(text, name, size))
            return strtoull(text + size, NULL, 10);
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return 0;
}

static bool read_in(const char *folder, const char *name, char *text,
                    size_t size)
{
    char path[PATH_MAX + 64];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return read_text(path, text, size);
}

/* Takes the group's numbers where it leaves less than those before. */
static void look_at(struct pfi_cli_machine *m, const struct version *v,
                    const char *folder)
{
    char text[16384];
    uint64_t limit, used, droppable = 0;

    if (!read_in(folder, v->limit, text, sizeof(text)) || text[0] == 'm')
        return;
    limit = strtoull(text, NULL, 10);
    if (limit >= NO_LIMIT || !read_in(folder, v->used, text, sizeof(text)))
        return;
    used = strtoull(text, NULL, 10);
    if (read_in(folder, "memory.stat", text, sizeof(text)))
        droppable = number_of(text, v->droppable);
    used -= droppable < used ? droppable : used;
    if (m->cgroup_limit == UINT64_MAX ||
        (limit > used ? limit - used : 0) <
            (m->cgroup_limit > m->cgroup_used
                 ? m->cgroup_limit - m->cgroup_used
                 : 0)) {
        m->cgroup_limit = limit;
        m->cgroup_used = used;
    }
}

/* This process's group and those above it.  In a container its path may be one
 * that is not there: then the walk finds the hierarchy's top alone. */
static void read_cgroups(struct pfi_cli_machine *m, const char *root)
{
    char path[PATH_MAX], text[8192], folder[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (!read_text(path, text, sizeof(text)))
        return;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const struct version *const v = &versions[i];
        const char *const line = strstr(text, v->line);
        size_t top;

        if (!line)
            continue;
        const char *const name = line + strlen(v->line);

        (void)snprintf(folder, sizeof(folder), "%s%s", root, v->folder);
        top = strlen(folder);
        (void)snprintf(folder + top, sizeof(folder) - top, "%.*s",
                       (int)strcspn(name, "\n"), name);
        while (strlen(folder) > top) {
            look_at(m, v, folder);
            *strrchr(folder, '/') = '\0';
        }
        look_at(m, v, folder);
    }
}

void pfi_cli_machine_read(struct pfi_cli_machine *m, const char *root)
{
    char path[PATH_MAX], text[16384];
    struct rlimit limit;

    *m = (struct pfi_cli_machine){.memlock = UINT64_MAX,
                                  .cgroup_limit = UINT64_MAX};
    (void)snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    if (read_text(path, text, sizeof(text))) {
        m->available = 1024 * number_of(text, "MemAvailable:");
        m->swap_used = 1024 * (number_of(text, "SwapTotal:") -
                               number_of(text, "SwapFree:"));
    }
    if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
        m->memlock = limit.rlim_cur;
    read_cgroups(m, root);
}
