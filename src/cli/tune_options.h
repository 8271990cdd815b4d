/* SPDX-License-Identifier: Apache-2.0
 * The options that tune alone takes, for the table of options. */
#ifndef PFI_CLI_TUNE_OPTIONS_H
#define PFI_CLI_TUNE_OPTIONS_H

#include "src/cli/options.h"

/* Each returns what is wrong with the text, or NULL. */
const char *pfi_cli_take_exhaustive(struct pfi_cli_options *o,
                                    const char *text);
const char *pfi_cli_take_max_workers(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_max_seconds(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_rounds(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_csv(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_svg(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_command(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_images(struct pfi_cli_options *o, const char *text);

/* Sets the defaults in which tune differs from the other commands. */
void pfi_cli_tune_defaults(struct pfi_cli_options *o);
/* What `tune --help` says beyond the options. */
void pfi_cli_tune_help(FILE *out);

#endif
