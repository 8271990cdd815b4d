/* SPDX-License-Identifier: Apache-2.0
 * Near the device, as a made sysfs tells it. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/numa.h"
#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"

#define PCI "0000:3B:00.0"
#define PREFERRED 1
#define OF_ADDRESS 2 /* MPOL_F_ADDR */

static char root[64];
static int near_cpu;
static const char *current_root = "/nowhere";

/* The linker sends the library's calls of pfi_numa_root() here. */
const char *__wrap_pfi_numa_root(void);
const char *__wrap_pfi_numa_root(void)
{
    return current_root;
}

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

/* The first CPU that this process may use. */
static int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;

    cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    while (!CPU_ISSET((size_t)cpu, &set))
        cpu++;
    return cpu;
}

static void setup(void)
{
    char cpus[64];

    near_cpu = first_cpu();
    strcpy(root, "/tmp/pinfold-numa-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    (void)snprintf(cpus, sizeof(cpus), "%d,1000-1002\n", near_cpu);
    put("devices/system/node/online", "0-1\n");
    put("devices/system/node/node0/cpulist", cpus);
    put("devices/system/node/node1/cpulist", "1000-1023,2000\n");
    put("bus/pci/devices/0000:3b:00.0/numa_node", "0\n");
    put("bus/pci/devices/0000:5e:00.0/numa_node", "1\n");
    put("bus/pci/devices/0000:86:00.0/numa_node", "-1\n");
}

static void teardown(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(numa, .init = setup, .fini = teardown, .timeout = 60);

Test(numa, nodes_are_counted)
{
    cr_assert(pfi_numa_several(root));
    put("devices/system/node/online", "0\n");
    cr_assert_not(pfi_numa_several(root));
    put("devices/system/node/online", "0,3\n");
    cr_assert(pfi_numa_several(root));
    put("devices/system/node/online", "nonsense\n");
    cr_assert_not(pfi_numa_several(root));
    cr_assert_not(pfi_numa_several("/nowhere"));
}

Test(numa, the_node_of_a_device)
{
    struct pfi_numa numa;

    pfi_numa_find(&numa, root, PCI);
    cr_assert_eq(numa.node, 0);
    cr_assert_eq(numa.n_cpus, 1);
    cr_assert_eq(numa.cpus[near_cpu / 64], (uint64_t)1 << near_cpu % 64);
    /* None of its CPUs is the process's. */
    pfi_numa_find(&numa, root, "0000:5E:00.0");
    cr_assert_eq(numa.node, 1);
    cr_assert_eq(numa.n_cpus, 0);
    pfi_numa_find(&numa, root, "0000:86:00.0");
    cr_assert_eq(numa.node, -1, "the firmware does not tell");
    pfi_numa_find(&numa, root, "0000:99:00.0");
    cr_assert_eq(numa.node, -1, "no such device");
}

static int policy_of(const void *address)
{
    unsigned long nodes[PFI_NUMA_WORDS + 1];
    int mode = -1;

    return syscall(SYS_get_mempolicy, &mode, nodes, PFI_NUMA_NODES + 1, address,
                   address ? OF_ADDRESS : 0)
               ? -1
               : mode;
}

/* Containers often forbid it. */
static bool policies_allowed(void)
{
    const unsigned long node = 1;
    const bool allowed = policy_of(NULL) == 0 &&
                         !syscall(SYS_set_mempolicy, PREFERRED, &node, 64) &&
                         !syscall(SYS_set_mempolicy, 0, NULL, 0);

    if (!allowed)
        (void)fprintf(stderr, "skipped: no memory policies are allowed here\n");
    return allowed;
}

Test(numa, memory_prefers_the_node)
{
    struct pfi_numa_policy before;
    struct pfi_numa numa;
    char *const block = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(block, MAP_FAILED);
    if (!policies_allowed())
        return;
    pfi_numa_find(&numa, root, PCI);
    pfi_numa_prefer(&numa, &before);
    cr_assert_eq(policy_of(NULL), PREFERRED);
    pfi_numa_restore(&before);
    cr_assert_eq(policy_of(NULL), 0);
    /* Only pages that are whole. */
    pfi_numa_place(&numa, block + 100, 3 * 4096);
    cr_assert_eq(policy_of(block), 0);
    cr_assert_eq(policy_of(block + 4096), PREFERRED);
    cr_assert_eq(policy_of(block + 2 * 4096), PREFERRED);
    cr_assert_eq(policy_of(block + 3 * 4096), 0);
    numa.node = -1;
    pfi_numa_prefer(&numa, &before);
    pfi_numa_place(&numa, block + 32768, 4096);
    cr_assert_eq(policy_of(NULL), 0);
    cr_assert_eq(policy_of(block + 32768), 0);
    munmap(block, 65536);
}

/* ---------------------------------------------------------------- a loader --- */

static struct fake_set set;
static struct fake_gpu *fake;
static struct pfi_gpu gpu;
static atomic_int narrow, wide; /* reads by threads of one CPU, and of more */
static atomic_int reads;
static pthread_barrier_t both;
static int policy_at_pin;

static pinfold_status read_and_look(void *cookie, int root_fd, const char *path,
                                    struct pfi_arena *arena, const void **data,
                                    size_t *size, pinfold_error *err)
{
    cpu_set_t cpus;

    cr_assert_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    atomic_fetch_add(CPU_COUNT(&cpus) == 1 && CPU_ISSET((size_t)near_cpu, &cpus)
                         ? &narrow
                         : &wide,
                     1);
    /* Neither of the two workers may do it all. */
    if (atomic_fetch_add(&reads, 1) < 2)
        pthread_barrier_wait(&both);
    (void)cookie;
    return set.reader.read(set.reader.cookie, root_fd, path, arena, data, size,
                           err);
}

static int pin_and_look(void *cookie, void **ptr, size_t size)
{
    policy_at_pin = policy_of(NULL);
    return fake_gpu_table(fake)->pin(cookie, ptr, size);
}

/* Runs an epoch with two workers; returns the planned node. */
static int run(int32_t numa, const char *pci)
{
    const struct pfi_reader reader = {NULL, read_and_look};
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    pinfold_loader_options o = pinfold_loader_options_default();
    const pinfold_recipe recipe = fake_recipe();
    const pinfold_batch *batch;
    pinfold_loader *loader;
    pinfold_error err;

    fake_set_open(&set, 40);
    fake = fake_gpu_start(1);
    fake_gpu_pci(fake, pci);
    gpu = *fake_gpu_table(fake);
    gpu.pin = pin_and_look;
    policy_at_pin = -2;
    cr_assert_eq(pthread_barrier_init(&both, NULL, 2), 0);
    atomic_store(&reads, 0);
    atomic_store(&narrow, 0);
    atomic_store(&wide, 0);
    o.recipe = &recipe;
    o.batch_size = 2;
    o.workers = 2;
    o.upload = PINFOLD_UPLOAD_REQUIRE;
    o.numa = numa;
    cr_assert_eq(pfi_loader_plan(set.dataset, &o, &gpu, &plan, &err), 0);
    cr_assert_eq(pfi_loader_open(&loader, set.dataset, &o, &gpu, &reader, &err),
                 0, "%s", err.message);
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), 0);
    while (!pinfold_loader_next(loader, -1, &batch, &err))
        pinfold_batch_release(batch);
    pinfold_loader_close(loader);
    cr_assert_null(fake_gpu_misuse(fake), "%s", fake_gpu_misuse(fake));
    fake_gpu_end(fake);
    fake_set_close(&set);
    pthread_barrier_destroy(&both);
    cr_assert_eq(atomic_load(&narrow) + atomic_load(&wide), 40);
    return (int)plan.numa_node;
}

static int own_cpus(void)
{
    cpu_set_t cpus;

    cr_assert_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    return CPU_COUNT(&cpus);
}

/* Its node has one CPU: one worker stays there, the other where it likes. */
Test(numa, a_loader_stays_near_its_device)
{
    const bool policies = policies_allowed();
    const int before = policy_of(NULL), cpus = own_cpus();

    current_root = root;
    cr_assert_eq(run(0, PCI), 0);
    cr_assert_eq(policy_at_pin, policies ? PREFERRED : before);
    cr_assert_eq(policy_of(NULL), before, "the caller's is as it was");
    cr_assert_eq(own_cpus(), cpus);
    cr_assert(cpus == 1 ||
              (atomic_load(&narrow) > 0 && atomic_load(&wide) > 0));
}

Test(numa, a_loader_leaves_all_as_it_is)
{
    const int before = policy_of(NULL), cpus = own_cpus();

    current_root = root;
    cr_assert_eq(run(PINFOLD_OFF, PCI), -1, "off");
    cr_assert_eq(policy_at_pin, before);
    cr_assert(atomic_load(&wide) == 40 || cpus == 1);
    cr_assert_eq(run(0, NULL), -1, "the runtime does not tell");
    cr_assert_eq(run(0, "0000:86:00.0"), -1, "the firmware does not tell");
    cr_assert_eq(policy_at_pin, before);
    /* A node without a CPU for us has memory all the same. */
    cr_assert_eq(run(0, "0000:5E:00.0"), 1);
    cr_assert(atomic_load(&wide) == 40 || cpus == 1);
    put("devices/system/node/online", "0\n");
    cr_assert_eq(run(0, PCI), -1, "one node");
    cr_assert(atomic_load(&wide) == 40 || cpus == 1);
    current_root = "/nowhere";
    cr_assert_eq(run(0, PCI), -1, "no sysfs");
}

/* Without a device there is nothing to be near. */
Test(numa, options_are_checked)
{
    pinfold_loader_options o = pinfold_loader_options_default();
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    pinfold_error err;

    current_root = root;
    fake_set_open(&set, 4);
    o.memory = PINFOLD_MEMORY_PAGEABLE;
    cr_assert_eq(pinfold_loader_plan(set.dataset, &o, &plan, &err), 0);
    cr_assert_eq(plan.numa_node, -1);
    o.numa = 1;
    cr_assert_eq(pinfold_loader_plan(set.dataset, &o, &plan, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "numa is 1, not -1 to 0");
    fake_set_close(&set);
}

Test(numa, a_thread_without_a_node_goes_where_it_likes)
{
    const struct pfi_numa none = {.node = -1};
    struct pfi_numa full = {.node = 0}; /* has no CPU for us */
    cpu_set_t before, after;

    cr_assert_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    pfi_numa_stay(&none);
    pfi_numa_stay(&full);
    cr_assert_eq(sched_getaffinity(0, sizeof(after), &after), 0);
    cr_assert(CPU_EQUAL(&before, &after));
}
