/* SPDX-License-Identifier: Apache-2.0
 * Trying again what failed for a moment, with growing waits that another thread
 * can end. */
#ifndef PFI_BASE_RETRY_H
#define PFI_BASE_RETRY_H

#include <pthread.h>
#include <stdbool.h>

#include "src/base/error.h"

/* Attempts behind the first, where the caller leaves it to us. */
#define PFI_RETRIES 3

/* Any threads may wait at once. */
struct pfi_retry {
    int32_t limit; /* attempts behind the first */
    pthread_mutex_t lock;
    pthread_cond_t stop;
    bool stopped;   /* lock */
    uint64_t stops; /* lock; how often it was stopped */
    uint64_t count; /* lock; attempts behind a first one */
};

/* One thing that is tried; begin with {0}. */
struct pfi_attempts {
    int32_t n;         /* that failed */
    uint64_t since_ns; /* the first failure */
    uint64_t stops;    /* of the struct pfi_retry, at the first failure */
};

/* An errno value, or 0. */
int pfi_retry_init(struct pfi_retry *retry, int32_t limit);
void pfi_retry_end(struct pfi_retry *retry);

/* Counts a failure with errno `code`, and waits.  False where another attempt
 * is of no use: the failure is not one that passes, there were enough attempts,
 * they took too long, or it was stopped. */
bool pfi_retry_wait(struct pfi_retry *retry, struct pfi_attempts *attempts,
                    int code);

/* Ends all waits, for good: what has failed before is not tried again; nor is
 * anything else until it is resumed. */
void pfi_retry_stop(struct pfi_retry *retry);
void pfi_retry_resume(struct pfi_retry *retry);

uint64_t pfi_retry_count(struct pfi_retry *retry);

/* Puts ", after 4 attempts" behind the message where there were several. */
void pfi_attempts_tell(const struct pfi_attempts *attempts, pinfold_error *err);

#endif
