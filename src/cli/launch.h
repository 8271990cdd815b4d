/* SPDX-License-Identifier: Apache-2.0
 * The rank and the world that options or a launcher's variables tell. */
#ifndef PFI_CLI_LAUNCH_H
#define PFI_CLI_LAUNCH_H

#include "src/cli/options.h"

enum {
    PFI_LAUNCH_SOURCES = 11,
    PFI_LAUNCH_NAMES = 9 /* variables that a source may look at */
};

enum pfi_launch_state {
    PFI_LAUNCH_ABSENT,
    PFI_LAUNCH_FOUND, /* a pair that is right in itself */
    PFI_LAUNCH_HALF,  /* of a pair */
    PFI_LAUNCH_WRONG,
    PFI_LAUNCH_IGNORED,
    PFI_LAUNCH_AGREES,
    PFI_LAUNCH_USED
};

/* What one launcher says. */
struct pfi_launch_source {
    const char *launcher;
    const char *names[PFI_LAUNCH_NAMES]; /* looked at; NULL behind the last */
    const char *rank_name, *world_name;  /* where the pair was found */
    const char *local_name;              /* or NULL: local_rank is -1 */
    int32_t rank, world, local_rank;
    enum pfi_launch_state state;
    char why[240]; /* half, wrong or ignored */
};

struct pfi_launch {
    const struct pfi_cli_options *o;
    struct pfi_launch_source sources[PFI_LAUNCH_SOURCES];
    const struct pfi_launch_source *used; /* NULL: none, or an error */
    char error[640];                      /* "" = none */
};

/* Looks at all sources, in the order in which they win. */
void pfi_launch_find(struct pfi_launch *launch, const struct pfi_cli_options *o);

/* The text of a variable, or of an option ("--rank"); NULL where it is not set
 * or empty. */
const char *pfi_launch_value(const struct pfi_launch *launch, const char *name);

/* Fills the rank and the world of a command that takes shards, and its device
 * where the local rank chooses it, and says so; on a mistake prints it and
 * returns false. */
bool pfi_cli_launch(struct pfi_cli_options *o);

/* The taker of the table of options. */
const char *pfi_cli_take_launcher(struct pfi_cli_options *o, const char *text);

#endif
