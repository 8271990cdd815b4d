/* SPDX-License-Identifier: Apache-2.0
 * The headers of safetensors files, read with suspicion. */
#ifndef PFI_CLI_SAFETENSORS_H
#define PFI_CLI_SAFETENSORS_H

#include "src/cli/tensor.h"

/* The format's own limit. */
#define PFI_CLI_SAFETENSORS_MAX_HEADER 100000000

/* Whether a file of `size` bytes looks like one; and its tensor, which points
 * into the file: the one named, or where name is NULL "images", or the only one
 * of a type that pinfold_dtype has.  Returns what is wrong, or NULL. */
bool pfi_cli_safetensors_is(const unsigned char *file, size_t size);
const char *pfi_cli_safetensors_read(const unsigned char *file, size_t size,
                                     const char *name,
                                     struct pfi_cli_tensor *out);

#endif
