/* SPDX-License-Identifier: Apache-2.0
 * The bench of several devices. */
#ifndef PFI_CLI_BENCH_ALL_H
#define PFI_CLI_BENCH_ALL_H

#include "src/cli/run.h"

/* Takes checked options, returns the exit status. */
int pfi_cli_bench_all(const struct pfi_cli_options *o);

#endif
