/* SPDX-License-Identifier: Apache-2.0
 * What --help and the shells' completions say of the options. */
#ifndef PFI_CLI_WORDS_H
#define PFI_CLI_WORDS_H

#include <stdio.h>

/* Lists the options that the commands in `mask` take. */
void pfi_cli_options_help(FILE *out, int mask);

/* What can stand at `word` behind the word `before`, a line each, with a tab and
 * its help where it has one: values of an option, or options.  Nothing where
 * only a file or a number can.  Leaves it to the shell to choose those that
 * begin as the word does. */
void pfi_cli_options_complete(FILE *out, int mask, const char *before,
                              const char *word);

#endif
