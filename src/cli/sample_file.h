/* SPDX-License-Identifier: Apache-2.0
 * The bytes of files: of a data set's samples, and of any. */
#ifndef PFI_CLI_SAMPLE_FILE_H
#define PFI_CLI_SAMPLE_FILE_H

#include <stddef.h>

#include <pinfold/pinfold.h>

/* Returns the whole file of at most `limit` bytes, which the caller frees; NULL
 * with the status and a message that does not name the file.  Never waits for a
 * FIFO. */
void *pfi_cli_sample_read(const pinfold_dataset *dataset, int64_t index,
                          uint64_t limit, size_t *size, pinfold_error *err);

struct pfi_cli_head {
    size_t most;  /* bytes to be read */
    size_t size;  /* those that were */
    size_t whole; /* the file's */
};

/* The same of at most the file's first head->most bytes. */
void *pfi_cli_sample_head(const pinfold_dataset *dataset, int64_t index,
                          uint64_t limit, struct pfi_cli_head *head,
                          pinfold_error *err);

/* Most bytes of a text that is read whole: of golden rows, of an order. */
#define PFI_CLI_MOST_TEXT ((uint64_t)4 << 30)

/* The same of any file, which may be a pipe, with a NUL behind its bytes. */
void *pfi_cli_read_file(const char *path, uint64_t limit, size_t *size,
                        pinfold_error *err);

#endif
