/* SPDX-License-Identifier: Apache-2.0
 * Waits with an end. */
#include "src/base/wait.h"

#include <time.h>

#include "src/base/clock.h"

int pfi_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    int code = pthread_condattr_init(&attr);

    if (code)
        return code;
    code = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (!code)
        code = pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
    return code;
}

uint64_t pfi_deadline(int32_t timeout_ms)
{
    return timeout_ms < 0 ? 0 : pfi_now_ns() + (uint64_t)timeout_ms * 1000000u;
}

bool pfi_cond_await(pthread_cond_t *cond, pthread_mutex_t *lock,
                    uint64_t deadline)
{
    const struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                                   .tv_nsec = (long)(deadline % 1000000000u)};

    if (!deadline) {
        (void)pthread_cond_wait(cond, lock);
        return true;
    }
    if (pfi_now_ns() >= deadline)
        return false;
    (void)pthread_cond_timedwait(cond, lock, &until);
    return true;
}
