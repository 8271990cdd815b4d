/* SPDX-License-Identifier: Apache-2.0
 * Text that is written to a stream in memory.  As open_memstream(), whose
 * streams in glibc drop what finds no memory, and do not say so. */
#ifndef PFI_CLI_WRITTEN_H
#define PFI_CLI_WRITTEN_H

#include <stddef.h>
#include <stdio.h>

struct pfi_cli_written {
    char *text; /* ends in a NUL that is not counted */
    size_t size, room;
};

/* NULL without memory.  All of it stays in place until the close. */
FILE *pfi_cli_written_open(struct pfi_cli_written *written);
/* The text, which the caller frees; NULL where memory ended on the way. */
char *pfi_cli_written_close(struct pfi_cli_written *written, FILE *stream);

#endif
