/* SPDX-License-Identifier: Apache-2.0
 * Counts live bytes at the memory door: after epochs 2 to 50 as many as after
 * epoch 1, and none after the close. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <malloc.h>

#include "tests/support/fakeset.h"

/* The linker sends every call of pfi_x to __wrap_pfi_x (--wrap). */
void *__real_pfi_malloc(size_t size);
void *__real_pfi_calloc(size_t count, size_t size);
void *__real_pfi_realloc(void *ptr, size_t size);
void *__real_pfi_aligned_alloc(size_t alignment, size_t size);
void __real_pfi_free(void *ptr);
void *__real_pfi_pages_alloc(size_t size);
void __real_pfi_pages_free(void *ptr, size_t size);
void *__wrap_pfi_malloc(size_t size);
void *__wrap_pfi_calloc(size_t count, size_t size);
void *__wrap_pfi_realloc(void *ptr, size_t size);
void *__wrap_pfi_aligned_alloc(size_t alignment, size_t size);
void __wrap_pfi_free(void *ptr);
void *__wrap_pfi_pages_alloc(size_t size);
void __wrap_pfi_pages_free(void *ptr, size_t size);

static atomic_long live_bytes, live_blocks, calls;

static void *count(void *ptr)
{
    atomic_fetch_add(&calls, 1);
    if (ptr) {
        atomic_fetch_add(&live_bytes, (long)malloc_usable_size(ptr));
        atomic_fetch_add(&live_blocks, 1);
    }
    return ptr;
}

static void uncount(void *ptr)
{
    if (ptr) {
        atomic_fetch_sub(&live_bytes, (long)malloc_usable_size(ptr));
        atomic_fetch_sub(&live_blocks, 1);
    }
}

void *__wrap_pfi_malloc(size_t size)
{
    return count(__real_pfi_malloc(size));
}

void *__wrap_pfi_calloc(size_t n, size_t size)
{
    return count(__real_pfi_calloc(n, size));
}

void *__wrap_pfi_realloc(void *ptr, size_t size)
{
    uncount(ptr);
    return count(__real_pfi_realloc(ptr, size));
}

void *__wrap_pfi_aligned_alloc(size_t alignment, size_t size)
{
    return count(__real_pfi_aligned_alloc(alignment, size));
}

void __wrap_pfi_free(void *ptr)
{
    uncount(ptr);
    __real_pfi_free(ptr);
}

void *__wrap_pfi_pages_alloc(size_t size)
{
    void *const ptr = __real_pfi_pages_alloc(size);

    atomic_fetch_add(&calls, 1);
    if (ptr) {
        atomic_fetch_add(&live_bytes, (long)size);
        atomic_fetch_add(&live_blocks, 1);
    }
    return ptr;
}

void __wrap_pfi_pages_free(void *ptr, size_t size)
{
    if (ptr) {
        atomic_fetch_sub(&live_bytes, (long)size);
        atomic_fetch_sub(&live_blocks, 1);
    }
    __real_pfi_pages_free(ptr, size);
}

static int run_epoch(const struct fake_set *set, pinfold_loader *loader,
                     int64_t epoch)
{
    const pinfold_batch *batch;
    pinfold_error err;
    int64_t seen = 0;
    pinfold_status status = pinfold_loader_start(loader, epoch, &err);

    while (!status) {
        status = pinfold_loader_next(loader, -1, &batch, &err);
        if (status)
            break;
        if (!fake_batch_right(set, batch, batch->data))
            return 0;
        seen += batch->count;
        pinfold_batch_release(batch);
    }
    if (status != PINFOLD_END)
        (void)fprintf(stderr, "epoch %lld: %s\n", (long long)epoch, err.message);
    return status == PINFOLD_END && seen == set->n;
}

int main(void)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    const pinfold_recipe recipe = fake_recipe();
    pinfold_loader *loader;
    struct fake_set set;
    pinfold_error err;
    long first = 0;
    int failed = 0;

    fake_set_open(&set, 100);
    const long before = atomic_load(&live_blocks);
    options.recipe = &recipe;
    options.workers = 3;
    options.batch_size = 16;
    options.shuffle = 1;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    if (pfi_loader_open(&loader, set.dataset, &options, NULL, &set.reader,
                        &err)) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (int64_t epoch = 0; epoch < 50; epoch++) {
        failed |= !run_epoch(&set, loader, epoch);
        const long now = atomic_load(&live_bytes);

        if (epoch == 0)
            first = now;
        if (now != first) {
            (void)fprintf(stderr, "epoch %lld: %ld live bytes, not %ld\n",
                          (long long)epoch + 1, now, first);
            failed = 1;
        }
    }
    pinfold_loader_close(loader);
    if (atomic_load(&live_blocks) != before || before == 0) {
        (void)fprintf(stderr, "%ld blocks after the close, %ld before the "
                              "open\n",
                      atomic_load(&live_blocks), before);
        failed = 1;
    }
    (void)printf("50 epochs, %ld live bytes after each, %ld calls\n", first,
                 atomic_load(&calls));
    fake_set_close(&set);
    if (atomic_load(&live_blocks)) {
        (void)fprintf(stderr, "%ld blocks at the end\n",
                      atomic_load(&live_blocks));
        failed = 1;
    }
    return failed;
}
