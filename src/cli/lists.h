/* SPDX-License-Identifier: Apache-2.0
 * The options that say where samples come from. */
#ifndef PFI_CLI_LISTS_H
#define PFI_CLI_LISTS_H

#include "src/cli/options.h"

const char *pfi_cli_take_list(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_class_list(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_index(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_trust_index(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_no_follow(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_save(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_io_threads(struct pfi_cli_options *o,
                                    const char *text);
const char *pfi_cli_take_io_retries(struct pfi_cli_options *o,
                                    const char *text);

/* Opens the data set of the first argument and tells why an index was not
 * used. */
pinfold_status pfi_cli_dataset_open(pinfold_dataset **out,
                                    const struct pfi_cli_options *o,
                                    pinfold_error *err);

#endif
