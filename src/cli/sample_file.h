/* SPDX-License-Identifier: Apache-2.0
 * The encoded bytes of a data set's sample. */
#ifndef PFI_CLI_SAMPLE_FILE_H
#define PFI_CLI_SAMPLE_FILE_H

#include <stddef.h>

#include <pinfold/pinfold.h>

/* Returns the whole file, which the caller frees; NULL with the status and a
 * message that does not name the file.  Never waits for a FIFO. */
void *pfi_cli_sample_read(const pinfold_dataset *dataset, int64_t index,
                          size_t *size, pinfold_error *err);

/* The same of at most the first `most` bytes; *whole is the file's size. */
void *pfi_cli_sample_head(const pinfold_dataset *dataset, int64_t index,
                          size_t most, size_t *size, size_t *whole,
                          pinfold_error *err);

#endif
