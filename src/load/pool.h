/* SPDX-License-Identifier: Apache-2.0
 * Threads that take the steps of a caller's work in turns. */
#ifndef PFI_LOAD_POOL_H
#define PFI_LOAD_POOL_H

#include "src/base/error.h"
#include "src/base/memory.h"

/* Step i of the work; the arena is the thread's, and reset by the step. */
typedef void (*pfi_pool_step)(void *cookie, int64_t i, struct pfi_arena *arena);

/* Runs steps 0 to n - 1 and waits for them all. */
pinfold_status pfi_pool_run(pinfold_pool *pool, pfi_pool_step step, void *cookie,
                            int64_t n, pinfold_error *err);

#endif
