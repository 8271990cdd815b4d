/* SPDX-License-Identifier: Apache-2.0
 * One line on stderr that says how far a run is. */
#ifndef PFI_CLI_PROGRESS_H
#define PFI_CLI_PROGRESS_H

#include "src/cli/options.h"

struct pfi_cli_bar {
    bool shown;
    long long total, done;
    double start, last;
};

/* Seconds on the monotonic clock. */
double pfi_cli_seconds(void);

/* "9 s", "12:09", "3:12:09"; "?" where nothing is known. */
void pfi_cli_time_left(char text[24], double seconds);

void pfi_cli_bar_start(struct pfi_cli_bar *bar, const struct pfi_cli_options *o,
                       long long total);
/* At most ten times a second it prints a bar, images, rate and time left. */
void pfi_cli_bar_add(struct pfi_cli_bar *bar, long long n);
/* Clears the line. */
void pfi_cli_bar_end(struct pfi_cli_bar *bar);

#endif
