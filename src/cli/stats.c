/* SPDX-License-Identifier: Apache-2.0
 * pinfold stats: what a data set holds. */
#include "src/cli/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/lists.h"
#include "src/cli/output.h"
#include "src/cli/run.h"
#include "src/cli/text.h"

static int look_and_print(struct pfi_cli_dataset_stats *s,
                          struct pfi_cli_output *svg)
{
    pinfold_error err;
    int code;

    if (pfi_cli_dataset_open(&s->dataset, s->o, &err))
        return pfi_cli_fail(&err);
    code = pfi_cli_stats_look(s);
    if (code)
        return code;
    if (!pfi_cli_stats_count(s)) {
        (void)fputs("pinfold: out of memory for the counts\n", stderr);
        return PFI_CLI_FAILED;
    }
    if (svg->path) {
        errno = 0;
        pfi_cli_stats_print_svg(s, svg->part.file);
        /* The reason, before another call hides it. */
        if (ferror(svg->part.file) && errno) {
            pfi_cli_say("pinfold: %s: %s", svg->path, strerror(errno));
            code = PFI_CLI_FAILED;
        }
        code = pfi_cli_output_close(svg, code);
    }
    (s->o->json ? pfi_cli_stats_print_json : pfi_cli_stats_print)(s);
    return code;
}

int pfi_cli_stats(const struct pfi_cli_options *o)
{
    struct pfi_cli_dataset_stats s = {.o = o};
    struct pfi_cli_output svg = {.folder = -1};
    int code = PFI_CLI_OK;

    /* Before hours of work, not behind them. */
    if (o->tune.svg)
        code = pfi_cli_output_open(&svg, o->tune.svg);
    if (!code)
        code = look_and_print(&s, &svg);
    (void)pfi_cli_output_close(&svg, code ? code : PFI_CLI_FAILED);
    for (int64_t i = 0; s.files && i < pinfold_dataset_size(s.dataset); i++)
        free(s.files[i].message);
    free(s.files);
    for (int i = 0; i < PFI_CLI_GROUPS; i++)
        free(s.groups[i].bars);
    pinfold_dataset_close(s.dataset);
    return code ? code : s.bad ? PFI_CLI_FAILED : PFI_CLI_OK;
}
