/* SPDX-License-Identifier: Apache-2.0
 * Threads that read through one pool at once, and pools that open and close:
 * for ThreadSanitizer. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fakeset.h"

#define N 23
#define SAMPLE 48 /* 4 x 4 x 3 */
#define CALLERS 4

static struct fake_set set;
static pinfold_recipe recipe;

static void die(const char *what)
{
    (void)fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *read_often(void *pool)
{
    pinfold_status statuses[N];
    int64_t indices[N], labels[N];
    unsigned char dst[N * SAMPLE];
    const pinfold_read_options options = {.struct_size = sizeof(options),
                                          .pool = pool,
                                          .labels = labels,
                                          .statuses = statuses};

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++)
            indices[i] = (i * 5 + round) % N;
        memset(dst, 1, sizeof(dst));
        if (pfi_read(set.dataset, &recipe, indices, N, dst, sizeof(dst),
                     &options, &set.reader, NULL))
            die("a read failed");
        for (int i = 0; i < N; i++) {
            const bool bad = indices[i] == set.bad;
            const unsigned char wanted = bad ? 0 : (unsigned char)indices[i];

            if (dst[i * SAMPLE] != wanted || dst[(i + 1) * SAMPLE - 3] != wanted)
                die("another sample's pixels");
            if ((statuses[i] != PINFOLD_OK) != bad ||
                labels[i] != (indices[i] >= N / 2))
                die("another sample's status or label");
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 30;
    pthread_t callers[CALLERS];
    pinfold_pool *pool;

    fake_set_open(&set, N);
    set.bad = 3;
    recipe = fake_recipe();
    for (int round = 0; round < rounds; round++) {
        if (pinfold_pool_open(&pool, 1 + round % 5, NULL))
            die("no pool");
        for (int i = 0; i < CALLERS; i++)
            if (pthread_create(&callers[i], NULL, read_often, pool))
                die("no thread");
        for (int i = 0; i < CALLERS; i++)
            pthread_join(callers[i], NULL);
        pinfold_pool_close(pool);
    }
    fake_set_close(&set);
    (void)printf("%d pools, %d callers each\n", rounds, CALLERS);
    return 0;
}
