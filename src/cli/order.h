/* SPDX-License-Identifier: Apache-2.0
 * The options that choose an order, and the lists that they name. */
#ifndef PFI_CLI_ORDER_H
#define PFI_CLI_ORDER_H

#include "src/cli/options.h"

/* What is wrong with the options together, or NULL. */
const char *pfi_cli_order_wrong(const struct pfi_cli_options *o);

/* Whether --seed was given and nothing draws with it. */
bool pfi_cli_seed_is_idle(const struct pfi_cli_options *o);

/* The order that the options ask for, with its lists. */
struct pfi_cli_order {
    pinfold_order order;
    void *indices, *weights, *sizes;
};

/* Reads the lists; on failure prints why and returns the exit status. */
int pfi_cli_order_open(struct pfi_cli_order *order,
                       const struct pfi_cli_options *o);
void pfi_cli_order_close(struct pfi_cli_order *order);

/* The takers of the table of options. */
const char *pfi_cli_take_replacement(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_num_samples(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_subset(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_weights(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_order(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_shard(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_shard_drop_last(struct pfi_cli_options *o,
                                         const char *text);
const char *pfi_cli_take_rank(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_world(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_orders(struct pfi_cli_options *o, const char *text);

#endif
