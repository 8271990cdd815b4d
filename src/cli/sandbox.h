/* SPDX-License-Identifier: Apache-2.0
 * --sandbox: what a decoder that was taken over could still do. */
#ifndef PFI_CLI_SANDBOX_H
#define PFI_CLI_SANDBOX_H

#include "src/cli/options.h"

const char *pfi_cli_take_sandbox(struct pfi_cli_options *o, const char *text);

/* From now on, for this thread and those that it starts: reads nothing but the
 * command's inputs, its outputs' folders and what tells the number of CPUs, writes
 * nothing but in those folders, and runs no program, opens no socket and looks
 * into no process.  Files that are open stay so.  Says what the kernel could not
 * give. */
void pfi_cli_sandbox(const struct pfi_cli_options *o);

#endif
