/* SPDX-License-Identifier: Apache-2.0
 * Parses what sheet and scan take. */
#include "src/cli/sheet_options.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "src/cli/label.h"
#include "src/cli/values.h"

const char *pfi_cli_take_count(struct pfi_cli_options *o, const char *text)
{
    long long n;

    if (!pfi_cli_to_number(text, 1, 10000, &n))
        return "not a number from 1 to 10000";
    o->sheet.count = (int32_t)n;
    return NULL;
}

const char *pfi_cli_take_columns(struct pfi_cli_options *o, const char *text)
{
    long long n;

    if (!pfi_cli_to_number(text, 1, 1000, &n))
        return "not a number from 1 to 1000";
    o->sheet.columns = (int32_t)n;
    return NULL;
}

const char *pfi_cli_take_before(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->sheet.before = true;
    return NULL;
}

const char *pfi_cli_take_term(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"auto", "blocks", "sixel", "kitty",
                                        NULL};
    int i = 0;
    const char *const wrong =
        text ? pfi_cli_to_choice(text, names,
                                 "not auto, blocks, sixel or kitty", &i)
             : NULL;

    o->sheet.term = (enum pfi_cli_term)(PFI_CLI_TERM_AUTO + i);
    return wrong;
}

const char *pfi_cli_take_sheet(struct pfi_cli_options *o, const char *text)
{
    o->sheet.file = text;
    return *text ? pfi_cli_sheet_name_wrong(text) : "no file";
}

const char *pfi_cli_sheet_name_wrong(const char *path)
{
    const char *const end = strrchr(pfi_cli_base_name(path), '.');

    return end && end[1] && strcasecmp(end, ".png") != 0
               ? "a sheet is written as PNG: name it .png"
               : NULL;
}

const char *pfi_cli_take_quarantine(struct pfi_cli_options *o, const char *text)
{
    o->quarantine = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_null(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->null = true;
    return NULL;
}
