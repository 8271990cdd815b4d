/* SPDX-License-Identifier: Apache-2.0
 * Opening and closing a loader: options, device, memory, threads. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "datasets/dataset.h"
#include "src/load/internal.h"

static pinfold_status open_slots(pinfold_loader *loader, pinfold_error *err)
{
    struct pfi_numa_policy policy;
    pinfold_status status;
    int before = 0;

    if (!loader->gpu)
        return pfi_slots_open(loader, err);
    status = pfi_device_enter(loader, &before, err);
    if (status)
        return status;
    /* What is pinned is touched by this thread. */
    pfi_numa_prefer(&loader->numa, &policy);
    status = pfi_slots_open(loader, err);
    pfi_numa_restore(&policy);
    return pfi_device_leave(loader, before, status, err);
}

static int make_conds(pinfold_loader *loader)
{
    pthread_cond_t *const conds[] = {&loader->work, &loader->ready,
                                     &loader->device, &loader->idle};
    size_t made = 0;
    int code = 0;

    while (!code && made < 4) {
        code = pfi_cond_init(conds[made]);
        made += !code;
    }
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
    if (!code) {
        code = pfi_retry_init(&loader->patient.retry,
                              loader->options.io_retries);
        loader->patient_made = !code;
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
    while (loader->n_workers < n) {
        struct pfi_worker *const worker = &loader->workers[loader->n_workers++];

        worker->loader = loader;
        worker->sample = -1;
        if (!pfi_arena_init(&worker->arena, PFI_WORKER_ARENA) ||
            !pfi_decoder_keep(&worker->arena, &loader->task.recipe.limits))
            return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                            "no memory for the scratch of %d workers", n);
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

static void hold(void *loader)
{
    atomic_fetch_add(&((pinfold_loader *)loader)->users, 1);
}

static void drop(void *loader)
{
    pfi_loader_drop(loader);
}

static pinfold_status read_ahead(pinfold_loader *loader, pinfold_error *err)
{
    const int32_t threads = loader->options.io_threads;
    const struct pfi_ahead_source source = {
        .reader = loader->reader,
        .root_fd = pfi_dataset_root_fd(loader->dataset),
        .cookie = loader,
        .path = path_at,
        .hold = hold,
        .drop = drop};

    return threads ? pfi_ahead_open(&loader->ahead, threads,
                                    pfi_ahead_depth(loader), &source, err)
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

        hold(loader);
        code = pthread_create(&worker->thread, NULL, pfi_worker_main, worker);
        if (code)
            drop(loader);
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

/* The order and its first numbers; takes the state that the caller gave. */
static pinfold_status open_order(pinfold_loader *loader,
                                 struct pfi_resume *resume, pinfold_error *err)
{
    pinfold_loader_options *const o = &loader->options;
    const struct pfi_order_source source =
        pfi_order_source_of(o, pinfold_dataset_size(loader->dataset));
    const void *const state = o->state;
    pinfold_status status = pfi_order_init(&loader->order, &source, err);

    o->order = NULL;
    o->state = NULL;
    if (!status)
        status = pfi_epoch_init(&loader->now, &loader->order, err);
    if (!status && state)
        status = pfi_state_take(loader, state, o->state_size, resume, err);
    return status;
}

static pinfold_status open_parts(pinfold_loader *loader, pinfold_error *err)
{
    const bool resumes = loader->options.state != NULL;
    struct pfi_resume resume;
    pinfold_status status = open_order(loader, &resume, err);

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
    if (!status && resumes)
        status = pfi_loader_begin(loader, resume.epoch, &resume, err);
    return status;
}

/* What is above the caller's limit is refused before it is allocated. */
static pinfold_status check_limit(const pinfold_loader *draft,
                                  pinfold_error *err)
{
    const pinfold_memory_plan *const plan = &draft->plan;
    const uint64_t sum = (uint64_t)plan->pinned_bytes + plan->host_bytes;
    const uint64_t limit = draft->options.max_memory;

    if (limit && sum > limit)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "the loader takes %llu bytes of host memory (%zu pinned "
                        "and %zu ordinary), limit %llu",
                        (unsigned long long)sum, plan->pinned_bytes,
                        plan->host_bytes, (unsigned long long)limit);
    return PINFOLD_OK;
}

pinfold_status pfi_loader_open(pinfold_loader **out, pinfold_dataset *dataset,
                               const pinfold_loader_options *options,
                               const struct pfi_gpu *gpu,
                               const struct pfi_reader *reader,
                               pinfold_error *err)
{
    pinfold_loader *loader, draft;
    pinfold_status status;

    pfi_error_clear(err);
    *out = NULL;
    status = pfi_loader_draft(&draft, dataset, options, gpu, err);
    if (!status)
        status = check_limit(&draft, err);
    if (status)
        return status;
    loader = pfi_malloc(sizeof(*loader));
    if (!loader)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a loader");
    *loader = draft;
    pfi_dataset_ref(dataset);
    atomic_init(&loader->users, 1);
    atomic_init(&loader->holders, 1);
    loader->pid = getpid();
    loader->epoch = -1;
    loader->patient.reader =
        reader ? *reader
               : pfi_reader_files(&loader->task.recipe.limits.file);
    loader->reader = pfi_reader_patient(&loader->patient);
    status = open_parts(loader, err);
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
