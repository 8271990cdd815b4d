/* SPDX-License-Identifier: Apache-2.0
 * Opening and closing a loader: options, device, memory, threads. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "datasets/dataset.h"
#include "src/base/cpu.h"
#include "src/load/internal.h"

static pinfold_status take_options(pinfold_loader *loader,
                                   const pinfold_loader_options *options,
                                   pinfold_error *err)
{
    pinfold_loader_options *const o = &loader->options;
    pinfold_status status = pfi_options_take(o, options, err);

    if (!status)
        status = pfi_task_init(&loader->task, o->recipe, err);
    if (status)
        return status;
    loader->output = loader->task.recipe;
    if (o->allocator)
        loader->allocator = *o->allocator;
    if (o->trace)
        loader->trace = *o->trace;
    o->recipe = NULL;
    o->allocator = NULL;
    o->trace = NULL;
    o->slots = o->slots ? o->slots : 3;
    loader->n_wanted = o->workers == PINFOLD_OFF ? 0
                       : o->workers              ? o->workers
                                                 : pfi_cpu_count();
    return PINFOLD_OK;
}

/* The bytes of a slot that batch_size samples lie in, behind `before` others;
 * false where they, or all slots', are too many. */
static bool size_slot(const pinfold_loader *loader, size_t before,
                      size_t sample_bytes, size_t *bytes)
{
    size_t total;

    return pfi_mul((size_t)loader->options.batch_size, sample_bytes, &total) &&
           pfi_add(total, before, &total) &&
           pfi_add(total, PFI_SLOT_TAIL, bytes) &&
           pfi_mul(*bytes, (size_t)loader->options.slots, &total);
}

/* Sizes and orders that follow from the options and the dataset. */
static pinfold_status size_up(pinfold_loader *loader, pinfold_error *err)
{
    const int64_t size = loader->options.batch_size;
    const struct pfi_order_source source = pfi_order_source_of(
        &loader->options, pinfold_dataset_size(loader->dataset));
    pinfold_status status;

    if (!size_slot(loader, loader->staged.pixels,
                   loader->task.recipe.sample_bytes, &loader->slot_bytes) ||
        !size_slot(loader, 0, loader->output.sample_bytes,
                   &loader->device_bytes))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "%d slots of %lld samples do not fit in memory",
                        loader->options.slots, (long long)size);
    status = pfi_order_init(&loader->order, &source, err);
    loader->options.order = NULL;
    return status ? status : pfi_epoch_init(&loader->now, &loader->order, err);
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

    if (o->upload != PINFOLD_UPLOAD_OFF || o->memory != PINFOLD_MEMORY_PAGEABLE)
        code = pfi_gpu_probe(gpu, &devices, &why);
    loader->why_no_gpu = why;
    if (devices > o->device) {
        loader->gpu = gpu;
        return PINFOLD_OK;
    }
    if (devices > 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "device %d of %d",
                        o->device, devices);
    if (demanded)
        return pfi_fail(err, PINFOLD_E_CUDA, code,
                        "no CUDA device: %s (cudaGetDeviceCount: %d)", why,
                        code);
    return PINFOLD_OK;
}

static pinfold_status open_slots(pinfold_loader *loader, pinfold_error *err)
{
    pinfold_status status;
    int before = 0;

    if (!loader->gpu)
        return pfi_slots_open(loader, err);
    status = pfi_device_enter(loader, &before, err);
    if (status)
        return status;
    loader->pinned = loader->options.memory != PINFOLD_MEMORY_PAGEABLE &&
                     !loader->allocator.alloc;
    status = pfi_slots_open(loader, err);
    return pfi_device_leave(loader, before, status, err);
}

static int make_conds(pinfold_loader *loader)
{
    pthread_cond_t *const conds[] = {&loader->work, &loader->ready,
                                     &loader->device, &loader->idle};
    pthread_condattr_t attr;
    size_t made = 0;
    int code = pthread_condattr_init(&attr);

    if (code)
        return code;
    code = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    while (!code && made < 4) {
        code = pthread_cond_init(conds[made], &attr);
        made += !code;
    }
    pthread_condattr_destroy(&attr);
    while (code && made > 0)
        pthread_cond_destroy(conds[--made]);
    return code;
}

static pinfold_status make_locks(pinfold_loader *loader, pinfold_error *err)
{
    int code = pthread_mutex_init(&loader->lock, NULL);

    loader->lock_made = !code;
    if (!code) {
        code = make_conds(loader);
        loader->conds_made = !code;
    }
    return code ? pfi_fail(err, PINFOLD_E_THREAD, code,
                           "cannot make a lock: errno %d", code)
                : PINFOLD_OK;
}

static pinfold_status make_workers(pinfold_loader *loader, pinfold_error *err)
{
    const int32_t n = loader->n_wanted ? loader->n_wanted : 1;

    loader->workers = pfi_calloc((size_t)n, sizeof(*loader->workers));
    if (!loader->workers)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for %d workers", n);
    for (; loader->n_workers < n; loader->n_workers++) {
        struct pfi_worker *const worker = &loader->workers[loader->n_workers];

        worker->loader = loader;
        if (!pfi_arena_init(&worker->arena, PFI_WORKER_ARENA))
            return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                            "no memory for the scratch of %d workers", n);
        loader->stats.host_bytes += PFI_WORKER_ARENA;
    }
    return PINFOLD_OK;
}

static const char *path_at(void *cookie, int64_t position)
{
    const pinfold_loader *const loader = cookie;

    return pinfold_dataset_path(
        loader->dataset,
        loader->now.indices[loader->first_position + position]);
}

/* Two files a reading thread, and one a worker that holds it. */
static pinfold_status read_ahead(pinfold_loader *loader, pinfold_error *err)
{
    const int32_t threads = loader->options.io_threads;
    const struct pfi_ahead_source source = {
        .reader = loader->reader,
        .root_fd = pfi_dataset_root_fd(loader->dataset),
        .cookie = loader,
        .path = path_at};

    return threads ? pfi_ahead_open(&loader->ahead, threads,
                                    2 * threads + loader->n_workers, &source,
                                    err)
                   : PINFOLD_OK;
}

/* The host program's signal handlers must not run in our threads. */
static pinfold_status start_threads(pinfold_loader *loader, pinfold_error *err)
{
    const int32_t wanted = loader->n_wanted;
    sigset_t all, before;
    int code = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!code && loader->n_threads < wanted) {
        struct pfi_worker *const worker = &loader->workers[loader->n_threads];

        code = pthread_create(&worker->thread, NULL, pfi_worker_main, worker);
        loader->n_threads += !code;
    }
    if (!code && loader->gpu) {
        code = pthread_create(&loader->device_thread, NULL, pfi_device_main,
                              loader);
        loader->device_thread_runs = !code;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? pfi_fail(err, PINFOLD_E_THREAD, code,
                           "cannot start thread %d of %d: errno %d",
                           loader->n_threads + 1, wanted, code)
                : PINFOLD_OK;
}

static void describe(pinfold_loader *loader)
{
    pinfold_stats *const stats = &loader->stats;

    stats->workers = loader->n_threads;
    stats->slots = loader->options.slots;
    stats->memory = loader->allocator.alloc ? "caller's"
                    : loader->pinned        ? "pinned"
                    : stats->pinned_bytes   ? "partly pinned"
                                            : "pageable";
    stats->upload = loader->dev.n_slots ? "on"
                    : loader->options.upload == PINFOLD_UPLOAD_OFF
                        ? "not asked for"
                        : loader->why_no_gpu;
}

static pinfold_status open_parts(pinfold_loader *loader,
                                 const pinfold_loader_options *options,
                                 const struct pfi_gpu *gpu, pinfold_error *err)
{
    pinfold_status status = take_options(loader, options, err);
    const void *const state = loader->options.state;
    struct pfi_resume resume;

    if (!status)
        status = find_device(loader, gpu, err);
    if (!status)
        status = pfi_staged_plan(loader, err);
    if (!status)
        status = size_up(loader, err);
    loader->options.state = NULL;
    if (!status && state)
        status = pfi_state_take(loader, state, loader->options.state_size,
                                &resume, err);
    if (!status)
        status = make_locks(loader, err);
    if (!status)
        status = make_workers(loader, err);
    if (!status)
        status = open_slots(loader, err);
    if (!status)
        status = read_ahead(loader, err);
    if (!status)
        status = start_threads(loader, err);
    if (!status)
        describe(loader);
    if (!status && state)
        status = pfi_loader_begin(loader, resume.epoch, &resume, err);
    return status;
}

pinfold_status pfi_loader_open(pinfold_loader **out, pinfold_dataset *dataset,
                               const pinfold_loader_options *options,
                               const struct pfi_gpu *gpu,
                               const struct pfi_reader *reader,
                               pinfold_error *err)
{
    pinfold_loader *loader;
    pinfold_status status;

    pfi_error_clear(err);
    *out = NULL;
    if (!dataset)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "dataset is NULL");
    loader = pfi_calloc(1, sizeof(*loader));
    if (!loader)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a loader");
    pfi_dataset_ref(dataset);
    loader->dataset = dataset;
    loader->pid = getpid();
    loader->epoch = -1;
    loader->reader = reader ? *reader : pfi_reader_files;
    loader->stats.struct_size = sizeof(loader->stats);
    status = open_parts(loader, options, gpu ? gpu : pfi_gpu_default(), err);
    if (status) {
        pinfold_loader_close(loader);
        return status;
    }
    *out = loader;
    return PINFOLD_OK;
}

pinfold_status pinfold_loader_open(pinfold_loader **out,
                                   pinfold_dataset *dataset,
                                   const pinfold_loader_options *options,
                                   pinfold_error *err)
{
    return pfi_loader_open(out, dataset, options, NULL, NULL, err);
}

static void join_threads(pinfold_loader *loader)
{
    if (!loader->conds_made)
        return;
    pthread_mutex_lock(&loader->lock);
    loader->closing = true;
    pthread_cond_broadcast(&loader->work);
    pthread_cond_broadcast(&loader->ready);
    pthread_cond_broadcast(&loader->device);
    pthread_cond_broadcast(&loader->idle);
    pthread_mutex_unlock(&loader->lock);
    for (int32_t i = 0; i < loader->n_threads; i++)
        pthread_join(loader->workers[i].thread, NULL);
    if (loader->device_thread_runs)
        pthread_join(loader->device_thread, NULL);
}

static void free_memory(pinfold_loader *loader, bool forked)
{
    const bool enters = !forked && loader->gpu;
    pinfold_status entered = PINFOLD_OK;
    int before = 0;

    /* What is freed is found whichever device is current. */
    if (enters)
        entered = pfi_device_enter(loader, &before, NULL);
    pfi_slots_close(loader, forked);
    if (enters && !entered)
        (void)pfi_device_leave(loader, before, PINFOLD_OK, NULL);
    for (int32_t i = 0; i < loader->n_workers; i++)
        pfi_arena_end(&loader->workers[i].arena);
    pfi_free(loader->workers);
    pfi_epoch_end(&loader->now);
    pfi_order_end(&loader->order);
}

void pinfold_loader_close(pinfold_loader *loader)
{
    if (!loader)
        return;
    /* A forked child has none of the threads, and a lock of unknown state. */
    const bool forked = loader->pid != getpid();

    if (!forked)
        join_threads(loader);
    if (!forked)
        pfi_ahead_close(loader->ahead);
    free_memory(loader, forked);
    if (!forked && loader->conds_made) {
        pthread_cond_destroy(&loader->work);
        pthread_cond_destroy(&loader->ready);
        pthread_cond_destroy(&loader->device);
        pthread_cond_destroy(&loader->idle);
    }
    if (!forked && loader->lock_made)
        pthread_mutex_destroy(&loader->lock);
    pinfold_dataset_close(loader->dataset);
    pfi_free(loader);
}
