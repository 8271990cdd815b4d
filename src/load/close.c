/* SPDX-License-Identifier: Apache-2.0
 * Closing a loader: ends its threads, leaves those behind that hang in a read,
 * and frees the rest. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/dataset.h"
#include "src/base/clock.h"
#include "src/load/internal.h"

/* How long pinfold_loader_close() waits for reads. */
#define PFI_CLOSE_MS 5000

/* The one whose sample is the oldest, or NULL. */
static const struct pfi_worker *slowest(const pinfold_loader *loader)
{
    const struct pfi_worker *found = NULL;

    for (int32_t i = 0; i < loader->n_workers; i++) {
        const struct pfi_worker *const worker = &loader->workers[i];

        if (worker->sample >= 0 &&
            (!found || worker->since_ns < found->since_ns))
            found = worker;
    }
    return found;
}

pinfold_status pfi_time_out(const pinfold_loader *loader, const char *then,
                            pinfold_error *err)
{
    const struct pfi_worker *const worker = slowest(loader);

    if (!worker)
        return pfi_fail(err, PINFOLD_TIMEOUT, 0, "not ready%s", then);
    (void)pfi_fail(err, PINFOLD_TIMEOUT, 0, "still being %s after %lld ms%s",
                   worker->reads ? "read" : "decoded",
                   (long long)((pfi_now_ns() - worker->since_ns) / 1000000u),
                   then);
    pfi_error_name_sample(loader->dataset, worker->sample, err);
    return PINFOLD_TIMEOUT;
}

/* Whether a worker is on its way out, without a read before it. */
static bool one_goes(const pinfold_loader *loader)
{
    for (int32_t i = 0; i < loader->n_threads; i++)
        if (!loader->workers[i].gone && !loader->workers[i].reads)
            return true;
    return false;
}

/* Waits for the workers, until the deadline for those that read; returns how
 * many are left. */
static int32_t end_workers(pinfold_loader *loader, uint64_t deadline)
{
    int32_t left = 0;

    pthread_mutex_lock(&loader->lock);
    loader->closing = true;
    if (loader->patient_made)
        pfi_retry_stop(&loader->patient.retry);
    pthread_cond_broadcast(&loader->work);
    pthread_cond_broadcast(&loader->ready);
    pthread_cond_broadcast(&loader->device);
    while (loader->n_busy)
        pthread_cond_wait(&loader->idle, &loader->lock);
    pthread_mutex_unlock(&loader->lock);
    if (loader->ahead)
        pfi_ahead_stop(loader->ahead);
    pthread_mutex_lock(&loader->lock);
    while (loader->n_gone < loader->n_threads &&
           pfi_cond_await(&loader->idle, &loader->lock,
                          one_goes(loader) ? 0 : deadline)) {
    }
    for (int32_t i = 0; i < loader->n_threads; i++) {
        loader->workers[i].left = !loader->workers[i].gone;
        left += loader->workers[i].left;
    }
    pthread_mutex_unlock(&loader->lock);
    for (int32_t i = 0; i < loader->n_threads; i++) {
        if (loader->workers[i].left)
            pthread_detach(loader->workers[i].thread);
        else
            pthread_join(loader->workers[i].thread, NULL);
    }
    return left;
}

/* Returns PINFOLD_TIMEOUT where threads are left behind. */
static pinfold_status end_threads(pinfold_loader *loader, uint64_t deadline,
                                  pinfold_error *err)
{
    char then[64];
    int32_t left;

    if (!loader->conds_made)
        return PINFOLD_OK;
    left = end_workers(loader, deadline);
    if (loader->device_thread_runs)
        pthread_join(loader->device_thread, NULL);
    if (loader->ahead)
        left += pfi_ahead_end(loader->ahead, deadline);
    if (!left)
        return PINFOLD_OK;
    (void)snprintf(then, sizeof(then), "; %d thread%s left behind in a read",
                   left, left > 1 ? "s" : "");
    pthread_mutex_lock(&loader->lock);
    (void)pfi_time_out(loader, then, err);
    pthread_mutex_unlock(&loader->lock);
    return PINFOLD_TIMEOUT;
}

/* What no reading thread needs: slots, the order, the scratch of workers that
 * are gone. */
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
        if (!loader->workers[i].left)
            pfi_arena_end(&loader->workers[i].arena);
    pfi_epoch_end(&loader->now);
    pfi_order_end(&loader->order);
}

static void free_loader(pinfold_loader *loader)
{
    pinfold_dataset *const dataset = loader->dataset;

    for (int32_t i = 0; i < loader->n_workers; i++)
        pfi_arena_end(&loader->workers[i].arena);
    pfi_free(loader->workers);
    pfi_free(loader);
    pinfold_dataset_close(dataset);
}

void pfi_loader_drop(pinfold_loader *loader)
{
    if (atomic_fetch_sub(&loader->users, 1) != 1)
        return;
    pfi_ahead_close(loader->ahead);
    if (loader->patient_made)
        pfi_retry_end(&loader->patient.retry);
    if (loader->conds_made) {
        pthread_cond_destroy(&loader->work);
        pthread_cond_destroy(&loader->ready);
        pthread_cond_destroy(&loader->device);
        pthread_cond_destroy(&loader->idle);
    }
    if (loader->lock_made)
        pthread_mutex_destroy(&loader->lock);
    free_loader(loader);
}

void pfi_loader_hold(pinfold_loader *loader)
{
    (void)atomic_fetch_add(&loader->holders, 1);
}

void pfi_loader_let_go(pinfold_loader *loader)
{
    /* A forked child has none of the threads, and a lock of unknown state. */
    const bool forked = loader->pid != getpid();

    if (atomic_fetch_sub(&loader->holders, 1) != 1)
        return;
    free_memory(loader, forked);
    if (forked)
        free_loader(loader);
    else
        pfi_loader_drop(loader);
}

static pinfold_status close_loader(pinfold_loader *loader, int32_t timeout_ms,
                                   pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;

    pfi_error_clear(err);
    if (!loader)
        return PINFOLD_OK;
    if (loader->pid == getpid())
        status = end_threads(loader, pfi_deadline(timeout_ms), err);
    pfi_loader_let_go(loader);
    return status;
}

pinfold_status pinfold_loader_close_within(pinfold_loader *loader,
                                           int32_t timeout_ms,
                                           pinfold_error *err)
{
    return close_loader(loader, timeout_ms, err);
}

void pinfold_loader_close(pinfold_loader *loader)
{
    (void)close_loader(loader, PFI_CLOSE_MS, NULL);
}
