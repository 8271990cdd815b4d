/* SPDX-License-Identifier: Apache-2.0
 * NUMA nodes from sysfs, memory policies by system call, affinity. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall(), sched_setaffinity() */
#endif
#include "src/base/numa.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mempolicy.h, which may not be here. */
#define PFI_MPOL_PREFERRED 1

/* The kernel takes one bit less than it is told. */
#define PFI_NODE_BITS (PFI_NUMA_NODES + 1)

const char *pfi_numa_root(void)
{
    return "/sys";
}

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

/* The numbers of "0-3,8,10-11", a bit each; those past the end are left out.
 * Returns how many there are. */
static int parse_list(const char *text, uint64_t *bits, long n_bits)
{
    int count = 0;

    while (isdigit((unsigned char)*text)) {
        char *end;
        const long first = strtol(text, &end, 10);
        long last = first;

        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long i = first; i <= last && i < n_bits; i++) {
            bits[i / 64] |= (uint64_t)1 << i % 64;
            count++;
        }
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

bool pfi_numa_several(const char *root)
{
    uint64_t nodes[PFI_NUMA_NODES / 64] = {0};
    char path[PATH_MAX], text[4096];

    (void)snprintf(path, sizeof(path), "%s/devices/system/node/online", root);
    return read_text(path, text, sizeof(text)) &&
           parse_list(text, nodes, PFI_NUMA_NODES) > 1;
}

/* Leaves those CPUs that the process may use; none where it does not tell. */
static void keep_allowed(struct pfi_numa *numa)
{
    cpu_set_t set;

    /* Fails with EINVAL where the kernel has more CPUs than the set. */
    if (sched_getaffinity(0, sizeof(set), &set))
        CPU_ZERO(&set);
    numa->n_cpus = 0;
    for (int i = 0; i < PFI_NUMA_CPUS; i++) {
        const uint64_t bit = (uint64_t)1 << i % 64;

        if (!CPU_ISSET((size_t)i, &set))
            numa->cpus[i / 64] &= ~bit;
        else if (numa->cpus[i / 64] & bit)
            numa->n_cpus++;
    }
}

void pfi_numa_find(struct pfi_numa *numa, const char *root, const char *pci)
{
    char name[32], path[PATH_MAX], text[4096];
    size_t n = 0;

    *numa = (struct pfi_numa){.node = -1};
    for (; pci[n] && n + 1 < sizeof(name); n++)
        name[n] = (char)tolower((unsigned char)pci[n]);
    name[n] = '\0';
    (void)snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/numa_node", root,
                   name);
    if (!read_text(path, text, sizeof(text)))
        return;
    /* -1 where the firmware does not tell. */
    const long node = strtol(text, NULL, 10);

    if (node < 0 || node >= PFI_NUMA_NODES)
        return;
    numa->node = (int)node;
    (void)snprintf(path, sizeof(path), "%s/devices/system/node/node%ld/cpulist",
                   root, node);
    if (read_text(path, text, sizeof(text)))
        (void)parse_list(text, numa->cpus, PFI_NUMA_CPUS);
    keep_allowed(numa);
}

static void mask_of(const struct pfi_numa *numa,
                    unsigned long nodes[PFI_NUMA_WORDS + 1])
{
    const size_t bits = 8 * sizeof(*nodes);

    for (size_t i = 0; i <= PFI_NUMA_WORDS; i++)
        nodes[i] = 0;
    nodes[(size_t)numa->node / bits] = 1ul << (size_t)numa->node % bits;
}

void pfi_numa_prefer(const struct pfi_numa *numa,
                     struct pfi_numa_policy *before)
{
    unsigned long nodes[PFI_NUMA_WORDS + 1];

    *before = (struct pfi_numa_policy){0};
    if (numa->node < 0 ||
        syscall(SYS_get_mempolicy, &before->mode, before->nodes, PFI_NODE_BITS,
                NULL, 0))
        return;
    mask_of(numa, nodes);
    before->saved = !syscall(SYS_set_mempolicy, PFI_MPOL_PREFERRED, nodes,
                             PFI_NODE_BITS);
}

void pfi_numa_restore(const struct pfi_numa_policy *before)
{
    if (before->saved)
        (void)syscall(SYS_set_mempolicy, before->mode, before->nodes,
                      PFI_NODE_BITS);
}

void pfi_numa_place(const struct pfi_numa *numa, void *ptr, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned long nodes[PFI_NUMA_WORDS + 1];
    const uintptr_t end = ((uintptr_t)ptr + size) / page * page;
    const uintptr_t start = ((uintptr_t)ptr + page - 1) / page * page;

    if (numa->node < 0 || end <= start)
        return;
    mask_of(numa, nodes);
    (void)syscall(SYS_mbind, start, end - start, PFI_MPOL_PREFERRED, nodes,
                  PFI_NODE_BITS, 0);
}

void pfi_numa_stay(const struct pfi_numa *numa)
{
    cpu_set_t set;

    if (numa->node < 0 || !numa->n_cpus)
        return;
    CPU_ZERO(&set);
    for (int i = 0; i < PFI_NUMA_CPUS; i++)
        if (numa->cpus[i / 64] >> i % 64 & 1)
            CPU_SET((size_t)i, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}
