/* SPDX-License-Identifier: Apache-2.0
 * Whether it is wise to pin memory on a machine: numbers in, words out. */
#ifndef PFI_CLI_ADVICE_H
#define PFI_CLI_ADVICE_H

#include <stdbool.h>

#include "src/cli/machine.h"

#define PFI_CLI_REASONS 5

struct pfi_cli_advice {
    bool pin;
    int n_reasons; /* the first is what decided */
    char reasons[PFI_CLI_REASONS][160];
};

/* For a loader that pins `pinned` bytes and takes `ordinary` ones beside. */
void pfi_cli_advise(struct pfi_cli_advice *advice,
                    const struct pfi_cli_machine *machine, uint64_t pinned,
                    uint64_t ordinary);

#endif
