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
    /* The path below root_fd of what is at `position`; any thread. */
    const char *(*path)(void *cookie, int64_t position);
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

/* Waits for the reads that are under way and drops what was read.  Nothing may
 * be taken meanwhile. */
void pfi_ahead_stop(struct pfi_ahead *ahead);

/* After a stop or the open: begins with position 0 of n. */
void pfi_ahead_start(struct pfi_ahead *ahead, int64_t n);

/* The file at `position`: read ahead, or else by the caller.  *data stays until
 * pfi_ahead_give_back().  Positions must be taken in rising order, each once,
 * by any threads. */
pinfold_status pfi_ahead_take(struct pfi_ahead *ahead, int64_t position,
                              const void **data, size_t *size,
                              pinfold_error *err);
void pfi_ahead_give_back(struct pfi_ahead *ahead, int64_t position);

/* Joins the threads; NULL is allowed. */
void pfi_ahead_close(struct pfi_ahead *ahead);

#endif
