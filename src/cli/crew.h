/* SPDX-License-Identifier: Apache-2.0
 * Worker threads for a look at each sample of a data set. */
#ifndef PFI_CLI_CREW_H
#define PFI_CLI_CREW_H

#include <stdbool.h>

#include "src/cli/options.h"

/* Calls job(cookie, i) for each sample i, in as many threads as a loader would
 * have, and shows how far it is; several at once, in no order.  False when a
 * signal came before the last one. */
bool pfi_cli_crew_run(pinfold_dataset *dataset, const struct pfi_cli_options *o,
                      void (*job)(void *cookie, int64_t i), void *cookie);

#endif
