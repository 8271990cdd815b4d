/* SPDX-License-Identifier: Apache-2.0
 * Names as labels: printable ASCII of a bounded length. */
#ifndef PFI_CLI_LABEL_H
#define PFI_CLI_LABEL_H

#include <stddef.h>

/* Room for a label, which is as much as any is shown of. */
enum { PFI_CLI_LABEL = 256 };

/* Writes `name` with each byte that is not printable ASCII as \xHH, and \ as
 * \\; what is longer than a label loses its middle. */
void pfi_cli_label(char label[PFI_CLI_LABEL], const char *name);

/* The middle of a name of more than `most` characters becomes "..", and so does
 * the end of a sentence. */
void pfi_cli_shorten_name(char *name, size_t most);
void pfi_cli_shorten_words(char *words, size_t most);

/* What stands behind the last slash. */
const char *pfi_cli_base_name(const char *path);

#endif
