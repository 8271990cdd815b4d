/* SPDX-License-Identifier: Apache-2.0
 * A tensor in a file. */
#ifndef PFI_CLI_TENSOR_H
#define PFI_CLI_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <pinfold/pinfold.h>

#define PFI_CLI_MAX_RANK 8

struct pfi_cli_tensor {
    pinfold_dtype dtype;
    int rank;
    int64_t shape[PFI_CLI_MAX_RANK];
    const unsigned char *data; /* little-endian, C order, not always aligned */
    size_t bytes;
    const char *paths; /* one a line, not NUL-terminated, or NULL */
    size_t paths_size;
    void *map;
    size_t map_size;
};

/* Stores the bytes of a shape; false where they are more than SIZE_MAX. */
bool pfi_cli_tensor_bytes(const int64_t *shape, int rank, size_t item,
                          size_t *out);

/* Maps a .npy or safetensors file.  `name` chooses a safetensors' tensor; NULL
 * = "images", or the only one.  On failure prints why and returns false.  A
 * file that shrinks while it is in use ends the program. */
bool pfi_cli_tensor_open(struct pfi_cli_tensor *out, const char *path,
                         const char *name);
void pfi_cli_tensor_close(struct pfi_cli_tensor *tensor);

#endif
