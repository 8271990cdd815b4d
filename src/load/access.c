/* SPDX-License-Identifier: Apache-2.0
 * Samples by their indices, in the calling thread or by a pool. */
#include <string.h>

#include "datasets/dataset.h"
#include "src/load/internal.h"
#include "src/load/pool.h"

struct access {
    struct pfi_task task;
    const pinfold_dataset *dataset;
    const int64_t *indices;
    unsigned char *dst;
    pinfold_read_options options;
    struct pfi_patient patient;
    struct pfi_reader reader; /* by way of it */
    pthread_mutex_t lock;
    int64_t bad_at;      /* lock; place of the first bad one, or n */
    pinfold_error error; /* lock; its own */
};

static void note_bad(struct access *a, int64_t i, const pinfold_error *error)
{
    pthread_mutex_lock(&a->lock);
    if (i < a->bad_at) {
        a->bad_at = i;
        a->error = *error;
    }
    pthread_mutex_unlock(&a->lock);
}

static void make_one(void *cookie, int64_t i, struct pfi_arena *arena)
{
    struct access *const a = cookie;
    const int64_t index = a->indices[i];
    const size_t bytes = a->task.recipe.sample_bytes;
    unsigned char *const dst = a->dst + (size_t)i * bytes;
    struct pfi_times times = {0};
    const void *data;
    size_t size = 0;
    pinfold_error err;
    pinfold_status status;

    pfi_error_clear(&err);
    status = a->reader.read(a->reader.cookie, pfi_dataset_root_fd(a->dataset),
                            pinfold_dataset_path(a->dataset, index), arena,
                            &data, &size, &err);
    if (!status)
        status = pfi_sample_make(
            &a->task,
            pinfold_sample_seed(a->options.seed, a->options.epoch, index),
            arena, data, size, dst, &times, &err);
    if (status) {
        memset(dst, 0, bytes);
        pfi_error_name_sample(a->dataset, index, &err);
        note_bad(a, i, &err);
    }
    if (a->options.labels)
        a->options.labels[i] = pinfold_dataset_label(a->dataset, index);
    if (a->options.statuses)
        a->options.statuses[i] = status;
    pfi_arena_reset(arena);
}

static pinfold_status run_here(struct access *a, int64_t n, pinfold_error *err)
{
    struct pfi_arena arena;

    if (!pfi_arena_init(&arena, PFI_WORKER_ARENA))
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for scratch");
    for (int64_t i = 0; i < n; i++)
        make_one(a, i, &arena);
    pfi_arena_end(&arena);
    return PINFOLD_OK;
}

static pinfold_status run(struct access *a, int64_t n, pinfold_error *err)
{
    int code = pthread_mutex_init(&a->lock, NULL);
    pinfold_status status;

    if (!code) {
        code = pfi_retry_init(&a->patient.retry, PFI_RETRIES);
        if (code)
            pthread_mutex_destroy(&a->lock);
    }
    if (code)
        return pfi_fail(err, PINFOLD_E_THREAD, code,
                        "cannot make a lock: errno %d", code);
    a->bad_at = n;
    status = a->options.pool ? pfi_pool_run(a->options.pool, make_one, a, n, err)
                             : run_here(a, n, err);
    pfi_retry_end(&a->patient.retry);
    pthread_mutex_destroy(&a->lock);
    if (status || a->bad_at == n || a->options.statuses)
        return status;
    if (err)
        *err = a->error;
    return a->error.status;
}

static pinfold_status check_places(const struct access *a, int64_t n,
                                   size_t dst_size, pinfold_error *err)
{
    const int64_t samples = pinfold_dataset_size(a->dataset);
    size_t bytes;

    if ((uint64_t)n > SIZE_MAX ||
        !pfi_mul((size_t)n, a->task.recipe.sample_bytes, &bytes))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "%lld samples of %zu bytes do not fit in memory",
                        (long long)n, a->task.recipe.sample_bytes);
    if (dst_size < bytes)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "dst has %zu bytes, the samples %zu", dst_size, bytes);
    for (int64_t i = 0; i < n; i++)
        if (a->indices[i] < 0 || a->indices[i] >= samples)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "index %lld at place %lld: the data set has %lld "
                            "samples",
                            (long long)a->indices[i], (long long)i,
                            (long long)samples);
    return PINFOLD_OK;
}

pinfold_status pfi_read(const pinfold_dataset *dataset,
                        const pinfold_recipe *recipe, const int64_t *indices,
                        int64_t n, void *dst, size_t dst_size,
                        const pinfold_read_options *options,
                        const struct pfi_reader *reader, pinfold_error *err)
{
    struct access a = {.dataset = dataset,
                       .indices = indices,
                       .dst = dst,
                       .options = {.struct_size = sizeof(a.options)}};
    pinfold_status status = PINFOLD_OK;

    a.patient.reader =
        reader ? *reader : pfi_reader_files(&a.task.recipe.limits.file);
    a.reader = pfi_reader_patient(&a.patient);
    pfi_error_clear(err);
    if (!dataset || n < 0 || (n && (!indices || !dst)))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        n < 0 ? "n is below 0"
                              : "dataset, indices or dst is NULL");
    if (options)
        status = pfi_struct_in(&a.options, sizeof(a.options),
                               PFI_SIZE_WITH(pinfold_read_options, epoch),
                               options, err);
    if (!status)
        status = pfi_task_init(&a.task, recipe, err);
    if (!status)
        status = check_places(&a, n, dst_size, err);
    return status ? status : run(&a, n, err);
}

pinfold_status pinfold_read(const pinfold_dataset *dataset,
                            const pinfold_recipe *recipe,
                            const int64_t *indices, int64_t n, void *dst,
                            size_t dst_size, const pinfold_read_options *options,
                            pinfold_error *err)
{
    return pfi_read(dataset, recipe, indices, n, dst, dst_size, options,
                    NULL, err);
}
