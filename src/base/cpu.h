/* SPDX-License-Identifier: Apache-2.0
 * How many CPUs this process may use. */
#ifndef PFI_BASE_CPU_H
#define PFI_BASE_CPU_H

/* CPUs that both affinity and the cgroup's quota (v2 and v1, rounded up) allow;
 * at least 1. */
int pfi_cpu_count(void);

#endif
