/* SPDX-License-Identifier: Apache-2.0
 * Pinned memory cannot be paged out or moved: it is fine where much is left. */
#include "src/cli/advice.h"

#include <stdarg.h>
#include <stdio.h>

/* The share of what is left that a loader may take with pinned memory: half, or
 * a quarter on a machine that was short before, which is when it swaps. */
#define SHARE 2
#define SHARE_SWAPPING 4

/* Pages that nobody has wanted for long lie in swap on any machine. */
#define SWAPPING ((uint64_t)64 << 20)

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

__attribute__((format(printf, 2, 3))) static void
add(struct pfi_cli_advice *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(a->reasons[a->n_reasons++], sizeof(a->reasons[0]), format,
                    args);
    va_end(args);
}

static void add_remarks(struct pfi_cli_advice *a,
                        const struct pfi_cli_machine *m, uint64_t pinned)
{
    add(a, "MemAvailable is %.1f MiB", mib(m->available));
    if (m->cgroup_limit != UINT64_MAX)
        add(a, "the control group's limit is %.1f MiB, of which %.1f are used",
            mib(m->cgroup_limit), mib(m->cgroup_used));
    if (m->swap_used)
        add(a, "%.1f MiB of swap are in use", mib(m->swap_used));
    /* Not a reason by itself: whether pinned memory counts there is up to the
     * driver. */
    if (m->memlock < pinned)
        add(a,
            "RLIMIT_MEMLOCK is %.1f MiB, less than %.1f: where the driver goes "
            "by it, it refuses to pin",
            mib(m->memlock), mib(pinned));
}

void pfi_cli_advise(struct pfi_cli_advice *a, const struct pfi_cli_machine *m,
                    uint64_t pinned, uint64_t ordinary)
{
    const uint64_t inside = m->cgroup_limit == UINT64_MAX ? UINT64_MAX
                            : m->cgroup_limit > m->cgroup_used
                                ? m->cgroup_limit - m->cgroup_used
                                : 0;
    const uint64_t room = m->available < inside ? m->available : inside;
    const bool swapping = m->swap_used >= SWAPPING;
    const uint64_t most = room / (swapping ? SHARE_SWAPPING : SHARE);
    const uint64_t sum = pinned + ordinary;

    *a = (struct pfi_cli_advice){.pin = m->available && sum <= most};
    if (!m->available) {
        add(a, "this system does not tell how much memory is available");
        return;
    }
    add(a, "the loader's %.1f MiB are %s %s of the %.1f MiB left%s", mib(sum),
        a->pin ? "at most" : "more than", swapping ? "a quarter" : "half",
        mib(room), inside < m->available ? " in the control group" : "");
    add_remarks(a, m, pinned);
}
