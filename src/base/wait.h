/* SPDX-License-Identifier: Apache-2.0
 * Conditions that are waited for until a time of the monotonic clock. */
#ifndef PFI_BASE_WAIT_H
#define PFI_BASE_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* For pfi_cond_await(); returns 0 or an errno value. */
int pfi_cond_init(pthread_cond_t *cond);

/* When timeout_ms from now is over; below 0 = never, which is 0. */
uint64_t pfi_deadline(int32_t timeout_ms);

/* With the lock held: waits as pthread_cond_wait(), at most until the deadline
 * (0 = for ever).  False where that is over, and then there was no wait. */
bool pfi_cond_await(pthread_cond_t *cond, pthread_mutex_t *lock,
                    uint64_t deadline);

#endif
