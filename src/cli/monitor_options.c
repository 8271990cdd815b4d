/* SPDX-License-Identifier: Apache-2.0
 * Parses what stats, --watch and --metrics take. */
#include "src/cli/monitor_options.h"

#include <string.h>

#include "src/cli/serve.h"

const char *pfi_cli_take_no_pixels(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->no_pixels = true;
    return NULL;
}

const char *pfi_cli_take_watch(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->watch = true;
    return NULL;
}

const char *pfi_cli_take_metrics(struct pfi_cli_options *o, const char *text)
{
    struct pfi_cli_address address;

    o->metrics = text;
    if (!*text)
        return "no file and no port";
    return strspn(text, "0123456789") == strlen(text) &&
                   !pfi_cli_address_parse(&address, text)
               ? "not a port from 0 to 65535"
               : NULL;
}
