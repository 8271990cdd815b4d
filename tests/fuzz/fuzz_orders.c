/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the golden orders of pinfold verify --orders.  A row's work is what
 * its numbers ask for, so a text that asks for much is left out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/run.h"
#include "tests/fuzz/fuzz.h"

#define MOST 4096

static bool cheap(const char *number)
{
    return strtoll(number, NULL, 10) <= MOST;
}

/* Whether no number of a line, of a field or behind a "=", is large. */
static bool is_cheap(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((*at == '\t' || *at == '=') && !cheap(at + 1))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size);
    struct pfi_cli_options o;

    fuzz_mute();
    pfi_cli_options_init(&o, PFI_CLI_VERIFY);
    o.orders = fuzz_file(0, data, size);
    if (is_cheap(text))
        (void)pfi_cli_verify_orders(&o);
    free(text);
    return 0;
}
