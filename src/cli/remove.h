/* SPDX-License-Identifier: Apache-2.0
 * Removes an earlier export, and nothing else. */
#ifndef PFI_CLI_REMOVE_H
#define PFI_CLI_REMOVE_H

/* Removes below parent/name every regular file with a name of an export, such
 * as
 * *.npy, and the folders that are empty then; follows no link.  What is left
 * over, by errors too, stays. */
void pfi_cli_remove_export(int parent, const char *name);

#endif
