/* SPDX-License-Identifier: Apache-2.0
 * A whole file into an arena. */
#ifndef PFI_LOAD_READ_H
#define PFI_LOAD_READ_H

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/retry.h"

struct pfi_reader {
    void *cookie;
    /* Reads the file `path` below the folder `root_fd`.  Messages name no file.
     * Any thread; `err` is not NULL. */
    pinfold_status (*read)(void *cookie, int root_fd, const char *path,
                           struct pfi_arena *arena, const void **data,
                           size_t *size, pinfold_error *err);
};

/* Reads files of at most *limit bytes, which must stay where it is. */
struct pfi_reader pfi_reader_files(uint64_t *limit);

/* Reads by way of another reader, again from the first byte on after a failure
 * that passes.  The arena holds nothing else. */
struct pfi_patient {
    struct pfi_reader reader;
    struct pfi_retry retry;
};

/* A reader whose cookie is `patient`, which must stay where it is. */
struct pfi_reader pfi_reader_patient(struct pfi_patient *patient);

#endif
