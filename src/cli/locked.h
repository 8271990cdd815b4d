/* SPDX-License-Identifier: Apache-2.0
 * Memory for a loader's slots that mlock() keeps in RAM. */
#ifndef PFI_CLI_LOCKED_H
#define PFI_CLI_LOCKED_H

#include <pinfold/pinfold.h>

/* Not pinned in CUDA's sense: no driver knows of it. */
const pinfold_allocator *pfi_cli_locked(void);

#endif
