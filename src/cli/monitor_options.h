/* SPDX-License-Identifier: Apache-2.0
 * The options of what is said of a data set and of a long run.  Each function
 * returns what is wrong with `text`, or NULL. */
#ifndef PFI_CLI_MONITOR_OPTIONS_H
#define PFI_CLI_MONITOR_OPTIONS_H

#include "src/cli/options.h"

const char *pfi_cli_take_no_pixels(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_watch(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_metrics(struct pfi_cli_options *o, const char *text);

#endif
