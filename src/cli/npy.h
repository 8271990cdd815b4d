/* SPDX-License-Identifier: Apache-2.0
 * Headers of .npy files, version 1.0. */
#ifndef PFI_CLI_NPY_H
#define PFI_CLI_NPY_H

#include <stdint.h>
#include <stdio.h>

/* Writes the 192-byte header of `count` items of the given shape (n sides).
 * Its size does not depend on count, so that it can be written again once the
 * count is known. */
void pfi_cli_npy_header(FILE *out, const char *description, long long count,
                        const int64_t *shape, int n);

#endif
