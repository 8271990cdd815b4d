/* SPDX-License-Identifier: Apache-2.0
 * Several tensors one after the other in one file. */
#ifndef PFI_CLI_PACK_H
#define PFI_CLI_PACK_H

#include <stdint.h>

#include "src/cli/export.h"
#include "src/cli/sha256.h"

#define PFI_CLI_PACK_ALIGNMENT 256

enum {
    PFI_CLI_PACK_IMAGES,
    PFI_CLI_PACK_PADDING,
    PFI_CLI_PACK_INDEX,
    PFI_CLI_PACK_LABELS,
    PFI_CLI_PACK_STATUS,
    PFI_CLI_PACK_PATHS,
    PFI_CLI_PACK_N
};

/* Where a tensor lies.  Nothing is written for one of no bytes. */
struct pfi_cli_packed {
    const char *name, *dtype; /* as safetensors writes it */
    int rank;
    int64_t shape[4];
    size_t item, offset, bytes;
    char sha256[65];
};

struct pfi_cli_pack {
    struct pfi_cli_part file;
    const char *label; /* the file's name below the target, for messages */
    struct pfi_cli_packed tensors[PFI_CLI_PACK_N];
    struct pfi_cli_sha256_state *sha256; /* of the images */
};

/* Sets names, types, shapes and bytes; offsets are the format's to set. */
void pfi_cli_pack_plan(struct pfi_cli_pack *pack,
                       const struct pfi_cli_export *e);

/* Writes a batch's images. */
int pfi_cli_pack_write(struct pfi_cli_pack *pack,
                       const struct pfi_cli_export *e,
                       const pinfold_batch *batch);

/* Writes the other tensors, with zeros up to each one's offset, and works out
 * the checksums where libmd is there.  `start` is where the data begin. */
int pfi_cli_pack_finish(struct pfi_cli_pack *pack,
                        const struct pfi_cli_export *e, size_t start);

/* The paths, one a line, as files.txt has them; the caller frees it. */
char *pfi_cli_pack_paths(const struct pfi_cli_export *e, size_t *size);

#endif
