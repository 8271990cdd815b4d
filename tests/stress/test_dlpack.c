/* SPDX-License-Identifier: Apache-2.0
 * Threads delete tensors while their loader is closed; whoever is last frees
 * it. usage: test_dlpack ROUNDS */
#include <pinfold/dlpack.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/load/dlpack.h"
#include "tests/support/fakeset.h"

#define TENSORS 3

static void check(pinfold_status status, const pinfold_error *err)
{
    if (!status)
        return;
    (void)fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void *delete (void *argument)
{
    struct DLManagedTensorVersioned *const tensor = argument;

    tensor->deleter(tensor);
    return NULL;
}

static void round_of(struct fake_set *set)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    struct DLManagedTensorVersioned *tensor;
    const pinfold_recipe recipe = fake_recipe();
    pthread_t threads[TENSORS];
    const pinfold_batch *batch;
    pinfold_loader *loader;
    pinfold_error err;

    options.recipe = &recipe;
    options.batch_size = 2;
    options.slots = TENSORS;
    options.workers = 2;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    check(pfi_loader_open(&loader, set->dataset, &options, NULL, &set->reader,
                          &err),
          &err);
    check(pinfold_loader_start(loader, 0, &err), &err);
    for (int i = 0; i < TENSORS; i++) {
        check(pinfold_loader_next(loader, -1, &batch, &err), &err);
        check(pinfold_batch_to_dlpack(batch, NULL, 0, &tensor, &err), &err);
        if (pthread_create(&threads[i], NULL, delete, tensor))
            exit(1);
    }
    pinfold_loader_close(loader);
    for (int i = 0; i < TENSORS; i++)
        (void)pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 300;
    struct fake_set set;

    fake_set_open(&set, 12);
    for (int i = 0; i < rounds; i++)
        round_of(&set);
    fake_set_close(&set);
    (void)printf("%d loaders were closed under their tensors\n", rounds);
    return 0;
}
