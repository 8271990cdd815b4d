/* SPDX-License-Identifier: Apache-2.0
 * Steps that several threads take, and whose results are gathered in order. */
#ifndef PFI_BASE_PARALLEL_H
#define PFI_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

struct pfi_parallel {
    void *cookie;
    /* Step i, in any thread; several at once. */
    void (*step)(void *cookie, int64_t i);
    /* Behind step i and gather(i - 1), in any thread, one at a time.  False:
     * nothing more is gathered, and no other step begun. */
    bool (*gather)(void *cookie, int64_t i);
};

/* Takes the steps 0 to n - 1 in the calling thread and up to `threads` - 1
 * others, which have ended when it returns.  Where the system gives no lock, no
 * memory or no threads, the calling thread takes them all. */
void pfi_parallel_run(const struct pfi_parallel *work, int64_t n,
                      int32_t threads);

#endif
