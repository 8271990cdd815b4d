/* SPDX-License-Identifier: Apache-2.0
 * Each takes an option's value; returns what is wrong with it, or NULL. */
#ifndef PFI_CLI_LOAD_OPTIONS_H
#define PFI_CLI_LOAD_OPTIONS_H

#include "src/cli/options.h"

const char *pfi_cli_take_workers(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_batch(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_slots(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_shuffle(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_seed(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_drop_last(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_on_error(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_upload(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_device_normalize(struct pfi_cli_options *o,
                                          const char *text);
const char *pfi_cli_take_device(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_memory(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_max_memory(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_numa(struct pfi_cli_options *o, const char *text);

#endif
