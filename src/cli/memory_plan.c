/* SPDX-License-Identifier: Apache-2.0
 * pinfold plan: what a loader takes, and whether pinning is wise here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/advice.h"
#include "src/cli/lists.h"
#include "src/cli/locked.h"
#include "src/cli/order.h"
#include "src/cli/run.h"
#include "src/cli/text.h"

/* The largest file of the data set, in bytes. */
static uint64_t largest_file(const pinfold_dataset *dataset)
{
    const char *const root = pinfold_dataset_root(dataset);
    uint64_t most = 0;

    for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++) {
        const char *const name = pinfold_dataset_path(dataset, i);
        const size_t room = strlen(root) + strlen(name) + 2;
        char *const path = malloc(room);
        struct stat info;

        if (!path)
            return most;
        (void)snprintf(path, room, "%s/%s", root, name);
        if (!stat(path, &info) && info.st_size > 0 &&
            (uint64_t)info.st_size > most)
            most = (uint64_t)info.st_size;
        free(path);
    }
    return most;
}

static void print_bytes(const char *name, uint64_t bytes)
{
    (void)printf("%-34s %14" PRIu64 " bytes (%.1f MiB)\n", name, bytes,
                 (double)bytes / (1 << 20));
}

static void print_advice(const pinfold_memory_plan *p,
                         const struct pfi_cli_advice *a)
{
    const char *const verdict = a->pin ? "wise here" : "not wise here";

    if (!strcmp(p->memory, "pinned"))
        (void)printf("pinning is %s: %s\n", verdict, a->reasons[0]);
    else
        (void)printf("the slots are not pinned; that would be %s: %s\n", verdict,
                     a->reasons[0]);
    for (int i = 1; i < a->n_reasons; i++)
        (void)printf("  %s\n", a->reasons[i]);
    if (!strcmp(p->memory, "pinned") && !a->pin)
        (void)puts("  take --memory pageable, or a smaller --batch or --slots");
}

static void print_words(const pinfold_memory_plan *p, uint64_t file,
                        const struct pfi_cli_advice *a)
{
    (void)printf("%lld sample%s in %lld batch%s an epoch; threads: %lld "
                 "worker%s, %lld reader%s, %lld for the device\n",
                 (long long)p->samples, pfi_cli_plural(p->samples, "s"),
                 (long long)p->batches, pfi_cli_plural(p->batches, "es"),
                 (long long)p->workers, pfi_cli_plural(p->workers, "s"),
                 (long long)p->io_threads, pfi_cli_plural(p->io_threads, "s"),
                 (long long)p->device_threads);
    print_bytes("pinned memory", p->pinned_bytes);
    print_bytes("ordinary memory", p->host_bytes);
    print_bytes("device memory", p->device_bytes);
    (void)puts("of these");
    print_bytes("  slots", p->host_slot_bytes);
    print_bytes("  slots on the device", p->device_slot_bytes);
    print_bytes("  bytes that the device normalises",
                p->device_staging_bytes);
    print_bytes("  the order of an epoch", p->order_bytes);
    print_bytes("  labels, indices, statuses, errors", p->label_bytes);
    print_bytes("  the workers' scratch and tables", p->worker_bytes);
    print_bytes("  files that are read ahead", p->ahead_bytes);
    print_bytes("  the loader itself", p->loader_bytes);
    (void)puts("a worker may take on top, while it is at a large picture, at "
               "most");
    print_bytes("  for decoding (--max-scratch)", p->scratch_limit);
    print_bytes("  for the file (--max-file)", p->file_limit);
    print_bytes("  (the largest that is there)", file);
    (void)puts("  and what its resize needs: see 'pinfold explain'");
    if (p->numa_node >= 0)
        (void)printf("slots and workers stay near NUMA node %lld\n",
                     (long long)p->numa_node);
    (void)printf("memory: %s slots; upload: %s\n", p->memory, p->upload);
    print_advice(p, a);
}

static void print_json(const pinfold_memory_plan *p, uint64_t file,
                       const struct pfi_cli_advice *a)
{
    (void)printf("{\"schema\":1,\"pinned_bytes\":%zu,\"host_bytes\":%zu,"
                 "\"device_bytes\":%zu,\"host_slot_bytes\":%zu,"
                 "\"device_slot_bytes\":%zu,\"device_staging_bytes\":%zu,"
                 "\"order_bytes\":%zu,"
                 "\"label_bytes\":%zu,\"worker_bytes\":%zu,\"ahead_bytes\":%zu,"
                 "\"loader_bytes\":%zu,\"scratch_limit\":%" PRIu64 ","
                 "\"file_limit\":%" PRIu64 ",",
                 p->pinned_bytes, p->host_bytes, p->device_bytes,
                 p->host_slot_bytes, p->device_slot_bytes, p->device_staging_bytes,
                 p->order_bytes, p->label_bytes, p->worker_bytes, p->ahead_bytes,
                 p->loader_bytes, p->scratch_limit, p->file_limit);
    (void)printf("\"largest_file\":%" PRIu64 ",\"samples\":%lld,"
                 "\"batches\":%lld,\"workers\":%lld,\"io_threads\":%lld,"
                 "\"device_threads\":%lld,\"numa_node\":%lld,\"memory\":\"%s\","
                 "\"upload\":\"%s\",\"pin\":%s,\"reasons\":[",
                 file, (long long)p->samples, (long long)p->batches,
                 (long long)p->workers, (long long)p->io_threads,
                 (long long)p->device_threads, (long long)p->numa_node,
                 p->memory, p->upload, a->pin ? "true" : "false");
    for (int i = 0; i < a->n_reasons; i++) {
        (void)fputs(i ? "," : "", stdout);
        pfi_cli_print_json(stdout, a->reasons[i]);
    }
    (void)puts("]}");
}

static int check_limit(const pinfold_memory_plan *p, uint64_t limit)
{
    const uint64_t sum = (uint64_t)p->pinned_bytes + p->host_bytes;

    if (!limit || sum <= limit)
        return PFI_CLI_OK;
    (void)fprintf(stderr,
                  "pinfold: the loader takes %" PRIu64 " bytes of host memory, "
                  "limit %" PRIu64 ": it would not open\n",
                  sum, limit);
    return PFI_CLI_FAILED;
}

/* On failure prints why and returns the exit status. */
static int make_plan(const struct pfi_cli_options *o, pinfold_memory_plan *plan,
                     uint64_t *file)
{
    pinfold_loader_options options = o->loader;
    struct pfi_cli_order order;
    pinfold_dataset *dataset;
    pinfold_status status;
    pinfold_error err;

    if (pfi_cli_order_open(&order, o))
        return PFI_CLI_FAILED;
    options.recipe = &o->recipe;
    options.allocator = o->locked ? pfi_cli_locked() : NULL;
    options.order = &order.order;
    status = pfi_cli_dataset_open(&dataset, o, &err);
    if (!status) {
        status = pinfold_loader_plan(dataset, &options, plan, &err);
        *file = status ? 0 : largest_file(dataset);
        pinfold_dataset_close(dataset);
    }
    pfi_cli_order_close(&order);
    return status ? pfi_cli_fail(&err) : PFI_CLI_OK;
}

int pfi_cli_plan(const struct pfi_cli_options *o)
{
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    struct pfi_cli_machine machine;
    struct pfi_cli_advice advice;
    uint64_t file = 0;

    if (make_plan(o, &plan, &file))
        return PFI_CLI_FAILED;
    pfi_cli_machine_read(&machine, "");
    pfi_cli_advise(&advice, &machine, plan.host_slot_bytes,
                   plan.pinned_bytes + plan.host_bytes - plan.host_slot_bytes);
    if (o->json)
        print_json(&plan, file, &advice);
    else
        print_words(&plan, file, &advice);
    return check_limit(&plan, o->loader.max_memory);
}
