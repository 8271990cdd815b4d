/* SPDX-License-Identifier: Apache-2.0
 * Headers of .npy files. */
#ifndef PFI_CLI_NPY_H
#define PFI_CLI_NPY_H

#include <stdio.h>

#include "src/cli/tensor.h"

/* numpy's name of a type, such as "<f4"; bf16 has none. */
const char *pfi_cli_npy_description(pinfold_dtype dtype);

/* Writes a header of version 1.0 for n sides, at most 4. */
void pfi_cli_npy_header(FILE *out, const char *description,
                        const int64_t *shape, int n);

/* Whether a file of `size` bytes is .npy; and its tensor, which points into the
 * file.  Returns what is wrong, or NULL. */
bool pfi_cli_npy_is(const unsigned char *file, size_t size);
const char *pfi_cli_npy_read(const unsigned char *file, size_t size,
                             struct pfi_cli_tensor *out);

#endif
