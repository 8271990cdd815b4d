/* SPDX-License-Identifier: Apache-2.0
 * What stands at the end of stderr's terminal and is drawn over again: a bar or
 * a view of several lines. */
#ifndef PFI_CLI_LIVE_H
#define PFI_CLI_LIVE_H

#include <stdbool.h>
#include <stdio.h>

/* Whether stderr is a terminal that can be drawn over. */
bool pfi_cli_live_can(void);
/* Characters of a line of stderr's terminal, asked for each time; 80 where it
 * does not tell. */
int pfi_cli_live_columns(void);

/* Draws `text` in place of what stood there; lines that are too long are cut.
 * Any thread. */
void pfi_cli_live_draw(const char *text);
/* Takes it away: to be called before anything else is printed to stderr.  Any
 * thread. */
void pfi_cli_live_clear(void);

/* Whether the environment's locale takes UTF-8. */
bool pfi_cli_utf8(void);
/* A bar that is `share`, 0 to 1, of `cells` characters long, and never so short
 * that it is not seen unless share is 0.  Returns the characters that are left. */
int pfi_cli_gauge(FILE *out, double share, int cells);

#endif
