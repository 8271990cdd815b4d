/* SPDX-License-Identifier: Apache-2.0
 * A run's events as a file for Perfetto and Chrome's tracing page. */
#ifndef PFI_CLI_TRACE_H
#define PFI_CLI_TRACE_H

#include <stdbool.h>

#include <pinfold/pinfold.h>

#include "src/cli/part.h"

struct pfi_cli_trace {
    struct pfi_cli_part part; /* its file is NULL = no trace */
    const char *path;
    unsigned long long start_ns;
    pinfold_trace callback; /* for the loader's options; its cookie is this */
};

/* Begins the file; an older one stays until the close.  Prints why it cannot be
 * and returns false. */
bool pfi_cli_trace_open(struct pfi_cli_trace *trace, const char *path);
/* After the loader's close: names `workers` threads and ends the file.  Prints
 * what went wrong on the way and returns false. */
bool pfi_cli_trace_close(struct pfi_cli_trace *trace, long long workers);

#endif
