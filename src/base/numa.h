/* SPDX-License-Identifier: Apache-2.0
 * Which memory and CPUs are near a device, and staying there.  What the system
 * does not tell or allow is left as it is. */
#ifndef PFI_BASE_NUMA_H
#define PFI_BASE_NUMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFI_NUMA_CPUS 1024
#define PFI_NUMA_NODES 1024
#define PFI_NUMA_WORDS (PFI_NUMA_NODES / 8 / sizeof(unsigned long))

struct pfi_numa {
    int node;   /* -1: nothing is near, and the functions below do nothing */
    int n_cpus; /* of the node, that the process may use */
    uint64_t cpus[PFI_NUMA_CPUS / 64]; /* a bit each */
};

/* A thread's memory policy. */
struct pfi_numa_policy {
    bool saved;
    int mode;
    unsigned long nodes[PFI_NUMA_WORDS + 1];
};

/* Where sysfs is. */
const char *pfi_numa_root(void);

/* Whether the machine has more than one node. */
bool pfi_numa_several(const char *root);

/* The node of a PCI device, "0000:3B:00.0". */
void pfi_numa_find(struct pfi_numa *numa, const char *root, const char *pci);

/* Memory that the calling thread is the first to touch comes from the node, as
 * long as that has some; until the restore. */
void pfi_numa_prefer(const struct pfi_numa *numa,
                     struct pfi_numa_policy *before);
void pfi_numa_restore(const struct pfi_numa_policy *before);

/* The same for the whole pages of a block, whoever touches them first. */
void pfi_numa_place(const struct pfi_numa *numa, void *ptr, size_t size);

/* Keeps the calling thread on the node's CPUs that the process may use. */
void pfi_numa_stay(const struct pfi_numa *numa);

#endif
