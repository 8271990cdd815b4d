/* SPDX-License-Identifier: Apache-2.0
 * What a loader of given arguments is and takes, before anything is taken. */
#include <stdio.h>
#include <string.h>

#include "src/base/cpu.h"
#include "src/load/internal.h"

static pinfold_status take_callbacks(pinfold_loader *loader,
                                     pinfold_error *err)
{
    const pinfold_loader_options *const o = &loader->options;
    pinfold_allocator *const allocator = &loader->allocator;
    pinfold_trace *const trace = &loader->trace;
    pinfold_status status = PINFOLD_OK;

    if (o->allocator)
        status = pfi_struct_in(allocator, sizeof(*allocator),
                               PFI_SIZE_WITH(pinfold_allocator, dealloc),
                               o->allocator, err);
    if (!status && o->allocator && (!allocator->alloc || !allocator->dealloc))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the allocator lacks a function");
    if (!status && o->trace)
        status = pfi_struct_in(trace, sizeof(*trace),
                               PFI_SIZE_WITH(pinfold_trace, event), o->trace,
                               err);
    if (!status && o->trace && !trace->event)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the trace lacks its function");
    return status;
}

static pinfold_status take_options(pinfold_loader *loader,
                                   const pinfold_loader_options *options,
                                   pinfold_error *err)
{
    pinfold_loader_options *const o = &loader->options;
    pinfold_status status = pfi_options_take(o, options, err);

    if (!status)
        status = take_callbacks(loader, err);
    if (!status)
        status = pfi_task_init(&loader->task, o->recipe, err);
    if (status)
        return status;
    loader->output = loader->task.recipe;
    o->recipe = NULL;
    o->allocator = NULL;
    o->trace = NULL;
    o->slots = o->slots ? o->slots : 3;
    o->io_retries = o->io_retries == PINFOLD_OFF ? 0
                    : o->io_retries              ? o->io_retries
                                                 : PFI_RETRIES;
    loader->n_wanted = o->workers == PINFOLD_OFF ? 0
                       : o->workers              ? o->workers
                                                 : pfi_cpu_count();
    return PINFOLD_OK;
}

/* "driver 12.4, runtime 13.0; ", which says more where one is too old. */
static void print_versions(const struct pfi_gpu *gpu, char text[64])
{
    int runtime = 0, driver = 0;

    (void)gpu->runtime_version(gpu->cookie, &runtime);
    (void)gpu->driver_version(gpu->cookie, &driver);
    text[0] = '\0';
    if (driver > 0 && driver < runtime)
        (void)snprintf(text, 64, "driver %d.%d, runtime %d.%d; ", driver / 1000,
                       driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

/* Decides whether a device is used, and says in words why not. */
static pinfold_status find_device(pinfold_loader *loader,
                                  const struct pfi_gpu *gpu, pinfold_error *err)
{
    const pinfold_loader_options *const o = &loader->options;
    const bool demanded = o->upload == PINFOLD_UPLOAD_REQUIRE ||
                          o->memory == PINFOLD_MEMORY_PINNED;
    const char *why = "not asked for";
    int devices = 0, code = 0;
    char versions[64];

    if (o->upload != PINFOLD_UPLOAD_OFF || o->memory != PINFOLD_MEMORY_PAGEABLE)
        code = pfi_gpu_probe(gpu, &devices, &why);
    loader->why_no_gpu = why;
    if (devices > o->device) {
        loader->gpu = gpu;
        loader->pinned = o->memory != PINFOLD_MEMORY_PAGEABLE &&
                         !loader->allocator.alloc;
        return PINFOLD_OK;
    }
    if (devices > 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "device %d: there are %d, counted from 0", o->device,
                        devices);
    if (!demanded)
        return PINFOLD_OK;
    print_versions(gpu, versions);
    return pfi_fail(err, PINFOLD_E_CUDA, code,
                    "CUDA is not usable: %s (%scudaGetDeviceCount: %d)", why,
                    versions, code);
}

/* Where the machine does not tell, or has one node, nothing is near. */
static void find_node(pinfold_loader *loader)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const char *const root = pfi_numa_root();
    char pci[32];

    loader->numa.node = -1;
    if (!gpu || loader->options.numa == PINFOLD_OFF || !pfi_numa_several(root))
        return;
    if (!gpu->pci_bus_id(gpu->cookie, pci, sizeof(pci), loader->options.device))
        pfi_numa_find(&loader->numa, root, pci);
}

/* Adds `count` times `size` to a part of the plan; false where it does not fit. */
static bool add_part(size_t *part, size_t count, size_t size)
{
    size_t bytes;

    return pfi_mul(count, size, &bytes) && pfi_add(*part, bytes, part);
}

/* The bytes of a slot that batch_size samples lie in, behind `before` others. */
static bool size_slot(const pinfold_loader *loader, size_t before,
                      size_t sample_bytes, size_t *bytes)
{
    *bytes = PFI_SLOT_TAIL;
    return pfi_add(*bytes, before, bytes) &&
           add_part(bytes, (size_t)loader->options.batch_size, sample_bytes);
}

static bool uploads(const pinfold_loader *loader)
{
    return loader->gpu && loader->options.upload != PINFOLD_UPLOAD_OFF;
}

static bool add_slots(pinfold_loader *loader)
{
    const size_t slots = (size_t)loader->options.slots;
    const size_t count = (size_t)loader->options.batch_size;
    const size_t device = uploads(loader) ? slots : 0;
    pinfold_memory_plan *const p = &loader->plan;

    if (!size_slot(loader, loader->staged.pixels,
                   loader->task.recipe.sample_bytes, &loader->slot_bytes) ||
        !size_slot(loader, 0, loader->output.sample_bytes,
                   &loader->device_bytes))
        return false;
    p->device_staging_bytes = loader->staged.used ? loader->slot_bytes : 0;
    return add_part(&p->host_slot_bytes, slots, loader->slot_bytes) &&
           add_part(&p->device_slot_bytes, device, loader->device_bytes) &&
           add_part(&p->label_bytes, slots + device, pfi_slot_labels(count));
}

/* The parts of the plan in bytes, save the order's. */
static bool add_parts(pinfold_loader *loader)
{
    const pinfold_loader_options *const o = &loader->options;
    const size_t slots = (size_t)o->slots * (uploads(loader) ? 2 : 1);
    const size_t workers = loader->n_wanted ? (size_t)loader->n_wanted : 1;
    pinfold_memory_plan *const p = &loader->plan;

    if (o->io_threads &&
        !pfi_ahead_bytes(o->io_threads, pfi_ahead_depth(loader),
                         &p->ahead_bytes))
        return false;
    p->loader_bytes = sizeof(*loader) + workers * sizeof(struct pfi_worker) +
                      slots * sizeof(struct pfi_slot);
    return add_part(&p->worker_bytes, workers,
                    PFI_WORKER_ARENA +
                        pfi_decoder_kept(&loader->task.recipe.limits)) &&
           add_slots(loader);
}

static pinfold_status plan_order(pinfold_loader *loader, pinfold_error *err)
{
    const struct pfi_order_source source = pfi_order_source_of(
        &loader->options, pinfold_dataset_size(loader->dataset));
    pinfold_memory_plan *const p = &loader->plan;
    struct pfi_order_plan order;
    const pinfold_status status = pfi_order_plan(&order, &source, err);

    if (status)
        return status;
    p->order_bytes = order.bytes;
    p->samples = order.samples;
    p->batches = order.batches;
    return PINFOLD_OK;
}

/* What of the parts is pinned, ordinary, and on the device. */
static bool add_sums(pinfold_loader *loader)
{
    pinfold_memory_plan *const p = &loader->plan;
    const size_t ordinary[] = {p->order_bytes, p->label_bytes, p->worker_bytes,
                               p->ahead_bytes, p->loader_bytes};
    size_t unused;

    if (!pfi_add(p->device_slot_bytes, p->device_staging_bytes,
                 &p->device_bytes))
        return false;
    *(loader->pinned ? &p->pinned_bytes : &p->host_bytes) = p->host_slot_bytes;
    for (size_t i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++)
        if (!pfi_add(p->host_bytes, ordinary[i], &p->host_bytes))
            return false;
    return pfi_add(p->pinned_bytes, p->host_bytes, &unused);
}

static pinfold_status size_up(pinfold_loader *loader, pinfold_error *err)
{
    const pinfold_loader_options *const o = &loader->options;
    pinfold_memory_plan *const p = &loader->plan;
    const pinfold_status status = plan_order(loader, err);

    if (status)
        return status;
    if (!add_parts(loader) || !add_sums(loader))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "%d slots of %d samples do not fit in memory", o->slots,
                        o->batch_size);
    p->struct_size = sizeof(*p);
    p->scratch_limit = loader->task.recipe.limits.scratch;
    p->file_limit = loader->task.recipe.limits.file;
    p->workers = loader->n_wanted;
    p->io_threads = o->io_threads;
    p->device_threads = loader->gpu != NULL;
    p->numa_node = loader->numa.node;
    p->memory = loader->allocator.alloc ? "caller's"
                : loader->pinned        ? "pinned"
                                        : "pageable";
    p->upload = p->device_slot_bytes              ? "on"
                : o->upload == PINFOLD_UPLOAD_OFF ? "not asked for"
                                                  : loader->why_no_gpu;
    /* Host slots are counted as they come: not all may be pinned. */
    loader->stats.struct_size = sizeof(loader->stats);
    loader->stats.host_bytes =
        p->host_bytes - (loader->pinned ? 0 : p->host_slot_bytes);
    return PINFOLD_OK;
}

pinfold_status pfi_loader_draft(pinfold_loader *draft, pinfold_dataset *dataset,
                                const pinfold_loader_options *options,
                                const struct pfi_gpu *gpu, pinfold_error *err)
{
    pinfold_status status;

    memset(draft, 0, sizeof(*draft));
    if (!dataset)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "dataset is NULL");
    draft->dataset = dataset;
    status = take_options(draft, options, err);
    if (!status)
        status = find_device(draft, gpu ? gpu : pfi_gpu_default(), err);
    if (!status)
        status = pfi_staged_plan(draft, err);
    if (status)
        return status;
    find_node(draft);
    return size_up(draft, err);
}

pinfold_status pfi_loader_plan(pinfold_dataset *dataset,
                               const pinfold_loader_options *options,
                               const struct pfi_gpu *gpu,
                               pinfold_memory_plan *out, pinfold_error *err)
{
    pinfold_loader draft;
    pinfold_status status;

    pfi_error_clear(err);
    if (!out)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "out is NULL");
    status = pfi_loader_draft(&draft, dataset, options, gpu, err);
    if (!status)
        pfi_struct_out(out, &draft.plan, sizeof(draft.plan));
    return status;
}

pinfold_status pinfold_loader_plan(pinfold_dataset *dataset,
                                   const pinfold_loader_options *options,
                                   pinfold_memory_plan *out, pinfold_error *err)
{
    return pfi_loader_plan(dataset, options, NULL, out, err);
}
