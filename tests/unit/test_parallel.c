/* SPDX-License-Identifier: Apache-2.0
 * Every step once, at once where there are threads, gathered in order. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "src/base/parallel.h"

#define STEPS 500

static atomic_int steps[STEPS];
static atomic_int gathering;
static int64_t gathered, fail_at;
static bool refuses; /* pthread_create() does */

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument);

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument)
{
    return refuses ? EAGAIN : __real_pthread_create(id, attr, run, argument);
}

static void count_step(void *cookie, int64_t i)
{
    (void)cookie;
    steps[i]++;
}

static bool count_gather(void *cookie, int64_t i)
{
    (void)cookie;
    cr_assert_eq(++gathering, 1);
    cr_assert_eq(steps[i], 1);
    cr_assert_eq(gathered, i);
    gathered++;
    gathering--;
    return i != fail_at;
}

static void run(int64_t n, int32_t threads, int64_t failing)
{
    const struct pfi_parallel work = {NULL, count_step, count_gather};

    for (int i = 0; i < STEPS; i++)
        steps[i] = 0;
    gathered = 0;
    fail_at = failing;
    pfi_parallel_run(&work, n, threads);
    cr_assert_eq(gathered, failing < n ? failing + 1 : n);
    for (int64_t i = 0; i < STEPS; i++) {
        cr_assert_leq(steps[i], i < n);
        cr_assert(i >= gathered || steps[i] == 1);
    }
}

Test(parallel, each_step_once_and_in_order)
{
    static const int32_t threads[] = {1, 2, 3, 16, 100};

    for (int t = 0; t < 5; t++)
        for (int round = 0; round < 20; round++) {
            run(STEPS, threads[t], STEPS);
            run(round, threads[t], STEPS);
            run(STEPS, threads[t], 20 * round);
        }
}

Test(parallel, goes_on_alone_where_no_thread_starts)
{
    refuses = true;
    run(STEPS, 8, STEPS);
    run(STEPS, 8, 7);
}

/* Returns only when as many are at it as there are threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER;
static int there;

static void meet(void *cookie, int64_t i)
{
    (void)i;
    pthread_mutex_lock(&lock);
    there++;
    pthread_cond_broadcast(&met);
    while (there < *(const int *)cookie)
        pthread_cond_wait(&met, &lock);
    pthread_mutex_unlock(&lock);
}

static bool gather_any(void *cookie, int64_t i)
{
    (void)cookie;
    return i >= 0;
}

Test(parallel, steps_run_at_once, .timeout = 60)
{
    int wanted = 8;
    const struct pfi_parallel work = {&wanted, meet, gather_any};

    pfi_parallel_run(&work, 8, 8);
    cr_assert_eq(there, 8);
}
