/* SPDX-License-Identifier: Apache-2.0
 * Threads that read files ahead of the workers, for stores where an open or a
 * read takes long.  Positions count in an epoch's order, from 0. */
#ifndef PFI_LOAD_AHEAD_H
#define PFI_LOAD_AHEAD_H

#include "src/load/read.h"

struct pfi_ahead;

/* Where the file at a position lies. */
struct pfi_ahead_source {
    struct pfi_reader reader;
    int root_fd;
    void *cookie;
    /* The path below root_fd of what is at `position`; any thread, but none
     * between pfi_ahead_stop() and pfi_ahead_start(). */
    const char *(*path)(void *cookie, int64_t position);
    /* NULL, or called for each thread: before it starts, and by itself when it
     * needs nothing any more. */
    void (*hold)(void *cookie), (*drop)(void *cookie);
};

/* What the open allocates; false where that does not fit. */
bool pfi_ahead_bytes(int32_t threads, int32_t depth, size_t *bytes);

/* Starts `threads` of them, which keep at most `depth` files; depth must be at
 * least the number of positions that are taken and not given back at once.
 * Nothing is read before pfi_ahead_start(). */
pinfold_status pfi_ahead_open(struct pfi_ahead **out, int32_t threads,
                              int32_t depth,
                              const struct pfi_ahead_source *source,
                              pinfold_error *err);

/* Begins no further read, until a start; pfi_ahead_take() as after a stop, but
 * what was taken stays. */
void pfi_ahead_halt(struct pfi_ahead *ahead);

/* Drops what was read, and what is being read as soon as that ends, for which it
 * does not wait.  Who waits in pfi_ahead_take() gets PINFOLD_E_STATE; data that
 * was taken is gone. */
void pfi_ahead_stop(struct pfi_ahead *ahead);

/* After a stop or the open: begins with position 0 of n.  `round` is another one
 * than before, and not below 0. */
void pfi_ahead_start(struct pfi_ahead *ahead, int64_t round, int64_t n);

/* The file at `position`: read ahead, or else by the caller.  *data stays until
 * pfi_ahead_give_back().  In a round positions must be taken in rising order,
 * each once, by any threads; of an earlier round nothing is there. */
pinfold_status pfi_ahead_take(struct pfi_ahead *ahead, int64_t round,
                              int64_t position, const void **data, size_t *size,
                              pinfold_error *err);
void pfi_ahead_give_back(struct pfi_ahead *ahead, int64_t round,
                         int64_t position);

/* Joins the threads that end before the deadline (of pfi_deadline()) and leaves
 * the others, which are in a read, behind; returns how many those are.  They
 * still use the memory, and *source, until they call drop(). */
int32_t pfi_ahead_end(struct pfi_ahead *ahead, uint64_t deadline);
/* Frees it, when no thread is left; without an end before, ends it for ever.
 * NULL is allowed. */
void pfi_ahead_close(struct pfi_ahead *ahead);

#endif
