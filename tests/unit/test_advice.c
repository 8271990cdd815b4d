/* SPDX-License-Identifier: Apache-2.0
 * Whether to pin, by made-up numbers, and reading those of a made machine. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/advice.h"

#define MIB ((uint64_t)1 << 20)
#define NONE UINT64_MAX

struct row {
    uint64_t available, swap, memlock, limit, used; /* MiB, or NONE */
    uint64_t pinned, ordinary;
    bool pin;
    char words[96]; /* of the reasons, each behind another */
};

static uint64_t bytes(uint64_t mib)
{
    return mib == NONE ? NONE : mib * MIB;
}

static void check(const struct row *r)
{
    const struct pfi_cli_machine machine = {
        bytes(r->available), bytes(r->swap), bytes(r->memlock),
        bytes(r->limit), bytes(r->used)};
    struct pfi_cli_advice advice;
    char all[1024] = "";

    pfi_cli_advise(&advice, &machine, bytes(r->pinned), bytes(r->ordinary));
    for (int i = 0; i < advice.n_reasons; i++) {
        strcat(all, advice.reasons[i]);
        strcat(all, "; ");
    }
    cr_assert_eq(advice.pin, r->pin, "%s", all);
    cr_assert_not_null(strstr(all, r->words), "no '%s' in: %s", r->words, all);
}

Test(advice, by_numbers)
{
    static const struct row rows[] = {
        {32000, 0, NONE, NONE, 0, 440, 60, true,
         "500.0 MiB are at most half of the 32000.0 MiB left; "},
        {32000, 0, NONE, NONE, 0, 440, 60, true, "MemAvailable is 32000.0 MiB"},
        /* At half, and one above. */
        {1000, 0, NONE, NONE, 0, 400, 100, true, "at most half"},
        {1000, 0, NONE, NONE, 0, 401, 100, false,
         "501.0 MiB are more than half of the 1000.0 MiB left; "},
        /* A machine that swaps has been short. */
        {1000, 63, NONE, NONE, 0, 400, 100, true, "63.0 MiB of swap are in"},
        {1000, 64, NONE, NONE, 0, 400, 100, false, "more than a quarter"},
        {1000, 64, NONE, NONE, 0, 200, 50, true, "at most a quarter"},
        /* The group is tighter, wider, or used up. */
        {32000, 0, NONE, 2000, 1200, 440, 60, false,
         "more than half of the 800.0 MiB left in the control group; "},
        {32000, 0, NONE, 2000, 800, 440, 60, true,
         "limit is 2000.0 MiB, of which 800.0 are used"},
        {900, 0, NONE, 64000, 1200, 440, 60, false,
         "of the 900.0 MiB left; "},
        {32000, 0, NONE, 2000, 2001, 1, 0, false, "of the 0.0 MiB left"},
        /* Told, but no reason by itself. */
        {32000, 0, 8, NONE, 0, 440, 60, true,
         "RLIMIT_MEMLOCK is 8.0 MiB, less than 440.0"},
        {0, 0, NONE, NONE, 0, 1, 0, false, "does not tell"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

static char root[64];

static void put(const char *name, const char *text)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *const f = fopen(path, "w");

    cr_assert_not_null(f, "%s", path);
    cr_assert_geq(fputs(text, f), 0);
    cr_assert_eq(fclose(f), 0);
}

static void setup(void)
{
    strcpy(root, "/tmp/pinfold-machine-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    put("proc/meminfo", "MemTotal:       2000000 kB\nMemFree:  1 kB\n"
                        "MemAvailable:    1000 kB\nSwapTotal: 500 kB\n"
                        "SwapFree:         400 kB\n");
}

static void teardown(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(machine, .init = setup, .fini = teardown);

Test(machine, without_a_group)
{
    struct pfi_cli_machine m;

    pfi_cli_machine_read(&m, root);
    cr_assert_eq(m.available, 1024000);
    cr_assert_eq(m.swap_used, 102400);
    cr_assert_eq(m.cgroup_limit, NONE);
    pfi_cli_machine_read(&m, "/nowhere");
    cr_assert_eq(m.available, 0);
    cr_assert_eq(m.cgroup_limit, NONE);
}

/* The parent leaves less than the group itself; file pages may be dropped. */
Test(machine, in_a_v2_group)
{
    struct pfi_cli_machine m;

    put("proc/self/cgroup", "0::/outer/inner\n");
    put("sys/fs/cgroup/memory.max", "max\n");
    put("sys/fs/cgroup/outer/memory.max", "10000\n");
    put("sys/fs/cgroup/outer/memory.current", "9000\n");
    put("sys/fs/cgroup/outer/memory.stat", "anon 5\ninactive_file 2000\n");
    put("sys/fs/cgroup/outer/inner/memory.max", "8000\n");
    put("sys/fs/cgroup/outer/inner/memory.current", "1000\n");
    pfi_cli_machine_read(&m, root);
    cr_assert_eq(m.cgroup_limit, 10000);
    cr_assert_eq(m.cgroup_used, 7000);
    put("sys/fs/cgroup/outer/inner/memory.current", "6000\n");
    pfi_cli_machine_read(&m, root);
    cr_assert_eq(m.cgroup_limit, 8000);
    cr_assert_eq(m.cgroup_used, 6000);
    put("sys/fs/cgroup/outer/memory.max", "max\n");
    put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
    pfi_cli_machine_read(&m, root);
    cr_assert_eq(m.cgroup_limit, NONE);
}

/* In a container the path is often the host's, and only the top is there. */
Test(machine, in_a_v1_group)
{
    struct pfi_cli_machine m;

    put("proc/self/cgroup", "12:cpu,cpuacct:/x\n7:memory:/docker/abc\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "70000\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "40000\n");
    put("sys/fs/cgroup/memory/memory.stat",
        "inactive_file 1\ntotal_inactive_file 10000\n");
    pfi_cli_machine_read(&m, root);
    cr_assert_eq(m.cgroup_limit, 70000);
    cr_assert_eq(m.cgroup_used, 30000);
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    pfi_cli_machine_read(&m, root);
    cr_assert_eq(m.cgroup_limit, NONE);
}
