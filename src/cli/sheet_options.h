/* SPDX-License-Identifier: Apache-2.0
 * The options of the commands that show a data set: sheet and scan.  Each
 * function returns what is wrong with `text`, or NULL. */
#ifndef PFI_CLI_SHEET_OPTIONS_H
#define PFI_CLI_SHEET_OPTIONS_H

#include "src/cli/options.h"

const char *pfi_cli_take_count(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_columns(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_before(struct pfi_cli_options *o, const char *text);
/* NULL: as the terminal can. */
const char *pfi_cli_take_term(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_sheet(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_quarantine(struct pfi_cli_options *o,
                                    const char *text);
const char *pfi_cli_take_null(struct pfi_cli_options *o, const char *text);

/* What is wrong with a sheet's name, or NULL. */
const char *pfi_cli_sheet_name_wrong(const char *path);

#endif
