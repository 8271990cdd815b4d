/* SPDX-License-Identifier: Apache-2.0
 * What memory this machine, its limits and its control group leave. */
#ifndef PFI_CLI_MACHINE_H
#define PFI_CLI_MACHINE_H

#include <stdint.h>

/* Bytes. */
struct pfi_cli_machine {
    uint64_t available;    /* MemAvailable; 0 = not told */
    uint64_t swap_used;
    uint64_t memlock;      /* RLIMIT_MEMLOCK; UINT64_MAX = no limit */
    uint64_t cgroup_limit; /* of the group that leaves least; UINT64_MAX = none */
    uint64_t cgroup_used;  /* there, without file pages that may be dropped */
};

/* Reads /proc and /sys below `root`, "" for this machine's own. */
void pfi_cli_machine_read(struct pfi_cli_machine *machine, const char *root);

#endif
