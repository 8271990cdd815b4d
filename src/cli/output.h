/* SPDX-License-Identifier: Apache-2.0
 * A file by its path, which is written whole or not at all. */
#ifndef PFI_CLI_OUTPUT_H
#define PFI_CLI_OUTPUT_H

#include "src/cli/part.h"

struct pfi_cli_output {
    const char *path;
    struct pfi_cli_part part; /* write to part.file */
    int folder;
};

/* Each prints why it fails, and returns the exit status.  A file that is there
 * already is replaced by the close, if `code`, which it returns otherwise, is
 * 0; else nothing is left of it. */
int pfi_cli_output_open(struct pfi_cli_output *output, const char *path);
int pfi_cli_output_close(struct pfi_cli_output *output, int code);

#endif
