/* SPDX-License-Identifier: Apache-2.0
 * Waits between attempts: 0.1 s, then four times the one before, up to 5 s, and
 * half a minute in all. */
#include "src/base/retry.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "src/base/clock.h"

#define MILLISECOND UINT64_C(1000000)
#define FIRST_WAIT (100 * MILLISECOND)
#define LONGEST_WAIT (5000 * MILLISECOND)
#define LONGEST_IN_ALL (30000 * MILLISECOND)

int pfi_retry_init(struct pfi_retry *retry, int32_t limit)
{
    pthread_condattr_t attr;
    int code = pthread_mutex_init(&retry->lock, NULL);

    if (code)
        return code;
    code = pthread_condattr_init(&attr);
    if (!code) {
        code = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        if (!code)
            code = pthread_cond_init(&retry->stop, &attr);
        pthread_condattr_destroy(&attr);
    }
    if (code)
        pthread_mutex_destroy(&retry->lock);
    retry->limit = limit;
    retry->stopped = false;
    retry->stops = 0;
    retry->count = 0;
    return code;
}

void pfi_retry_end(struct pfi_retry *retry)
{
    pthread_cond_destroy(&retry->stop);
    pthread_mutex_destroy(&retry->lock);
}

/* What a network's file system gives while its server is away or was exchanged;
 * ESTALE ends with the next open. */
static bool passes(int code)
{
    return code == EIO || code == ESTALE || code == ETIMEDOUT;
}

static uint64_t wait_of(int32_t attempt)
{
    uint64_t wait = FIRST_WAIT;

    while (--attempt > 0 && wait < LONGEST_WAIT)
        wait *= 4;
    return wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
}

/* With the lock held.  A stop that was followed by a resume before this thread
 * woke counts, too. */
static bool goes_on(const struct pfi_retry *retry,
                    const struct pfi_attempts *attempts)
{
    return !retry->stopped && retry->stops == attempts->stops;
}

bool pfi_retry_wait(struct pfi_retry *retry, struct pfi_attempts *attempts,
                    int code)
{
    const uint64_t now = pfi_now_ns();
    uint64_t until;
    bool again;

    if (!attempts->n++)
        attempts->since_ns = now;
    until = now + wait_of(attempts->n);
    if (!passes(code) || attempts->n > retry->limit ||
        until - attempts->since_ns > LONGEST_IN_ALL)
        return false;
    const struct timespec at = {.tv_sec = (time_t)(until / 1000000000u),
                                .tv_nsec = (long)(until % 1000000000u)};

    pthread_mutex_lock(&retry->lock);
    if (attempts->n == 1)
        attempts->stops = retry->stops;
    while (goes_on(retry, attempts) && pfi_now_ns() < until)
        (void)pthread_cond_timedwait(&retry->stop, &retry->lock, &at);
    again = goes_on(retry, attempts);
    retry->count += again;
    pthread_mutex_unlock(&retry->lock);
    return again;
}

void pfi_retry_stop(struct pfi_retry *retry)
{
    pthread_mutex_lock(&retry->lock);
    retry->stopped = true;
    retry->stops++;
    pthread_cond_broadcast(&retry->stop);
    pthread_mutex_unlock(&retry->lock);
}

void pfi_retry_resume(struct pfi_retry *retry)
{
    pthread_mutex_lock(&retry->lock);
    retry->stopped = false;
    pthread_mutex_unlock(&retry->lock);
}

uint64_t pfi_retry_count(struct pfi_retry *retry)
{
    uint64_t count;

    pthread_mutex_lock(&retry->lock);
    count = retry->count;
    pthread_mutex_unlock(&retry->lock);
    return count;
}

void pfi_attempts_tell(const struct pfi_attempts *attempts, pinfold_error *err)
{
    size_t used;

    if (!err || attempts->n < 2)
        return;
    used = strlen(err->message);
    (void)snprintf(err->message + used, sizeof(err->message) - used,
                   ", after %d attempts", attempts->n);
}
