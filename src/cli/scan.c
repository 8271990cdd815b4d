/* SPDX-License-Identifier: Apache-2.0
 * pinfold scan: decodes every file, and says which are bad or suspicious. */
#include "src/cli/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/lists.h"
#include "src/cli/output.h"
#include "src/cli/run.h"
#include "src/cli/sha256.h"
#include "src/cli/sheet.h"
#include "src/cli/text.h"

/* Tiles of a sheet of which no number was asked. */
enum { COUNT = 200, COLUMNS = 8 };

enum { SHOWN_UNREAD = 10 }; /* the rest is counted */

/* ------------------------------------------------------------------- sheet ---
 */

/* The samples with a finding, each once, bad ones first; at most `room`. */
static int64_t list_samples(const struct pfi_cli_scan *s, int64_t *indices,
                            int64_t room)
{
    int64_t n = 0;

    for (int bad = 1; bad >= 0; bad--) {
        int64_t last = -1;

        for (int64_t i = 0; n < room && i < s->n_findings; i++) {
            const struct pfi_cli_finding *const f = &s->findings[i];

            if (f->sample < 0 || f->sample == last ||
                pfi_cli_kind_is_bad(f->kind) != bad)
                continue;
            last = indices[n++] = f->sample;
        }
    }
    return n;
}

/* The kinds of findings take the place of the class. */
static void set_labels(const struct pfi_cli_scan *s,
                       struct pfi_cli_sheet *sheet)
{
    for (int64_t k = 0; k < sheet->n; k++) {
        struct pfi_cli_tile *const tile = &sheet->tiles[k];

        tile->what[0] = '\0';
        for (int64_t i = 0; i < s->n_findings; i++) {
            const size_t used = strlen(tile->what);

            if (s->findings[i].sample == tile->index)
                (void)snprintf(tile->what + used, sizeof(tile->what) - used,
                               "%s%s", used ? ", " : "",
                               pfi_cli_kind_name(s->findings[i].kind));
        }
    }
}

/* Those that were good when they were scanned. */
static int tell_bad(const struct pfi_cli_scan *s,
                    const struct pfi_cli_sheet *sheet)
{
    int code = PFI_CLI_OK;

    for (int64_t k = 0; k < sheet->n; k++) {
        const struct pfi_cli_tile *const tile = &sheet->tiles[k];

        if (!tile->wrong[0] || s->files[tile->index].status)
            continue;
        pfi_cli_tile_tell(tile, s->dataset);
        code = PFI_CLI_FAILED;
    }
    return code;
}

static int draw_samples(const struct pfi_cli_scan *s, const int64_t *indices,
                        int64_t n)
{
    struct pfi_cli_sheet sheet = {.columns = s->o->sheet.columns
                                                 ? s->o->sheet.columns
                                             : s->o->sheet.before ? COLUMNS / 2
                                                                  : COLUMNS};
    int code;

    sheet.columns = n < sheet.columns ? (int32_t)n : sheet.columns;
    code = pfi_cli_sheet_make(&sheet, s->dataset, s->o, indices, n);
    if (!code) {
        set_labels(s, &sheet);
        code = pfi_cli_sheet_save(&sheet, s->o->sheet.file);
    }
    if (!code)
        code = tell_bad(s, &sheet);
    pfi_cli_sheet_free(&sheet);
    if (!code && !s->o->quiet)
        pfi_cli_say("pinfold: %lld of %lld samples are in %s", (long long)n,
                    (long long)(s->bad + s->suspicious), s->o->sheet.file);
    return code;
}

static int draw_sheet(const struct pfi_cli_scan *s)
{
    const int64_t room = s->o->sheet.count ? s->o->sheet.count : COUNT;
    int64_t *const indices = calloc((size_t)room, sizeof(*indices));
    const int64_t n = indices ? list_samples(s, indices, room) : 0;
    int code = PFI_CLI_OK;

    if (!indices) {
        (void)fputs("pinfold: out of memory for the sheet\n", stderr);
        code = PFI_CLI_FAILED;
    } else if (n)
        code = draw_samples(s, indices, n);
    else if (!s->o->quiet)
        pfi_cli_say("pinfold: nothing to draw: %s is not written",
                    s->o->sheet.file);
    free(indices);
    return code;
}

/* ----------------------------------------------------------------- command ---
 */

/* A class without a picture is a finding here, not an end. */
static int open_both(struct pfi_cli_scan *s)
{
    struct pfi_cli_options o = *s->o;
    const pinfold_dataset_options second = {.struct_size = sizeof(second),
                                            .allow_empty = 1};
    pinfold_error err;

    o.dataset.allow_empty = 1;
    if (pfi_cli_dataset_open(&s->dataset, &o, &err) ||
        (o.n_arguments == 2 &&
         pinfold_dataset_open(&s->second, o.arguments[1], &second, &err)))
        return pfi_cli_fail(&err);
    if (pfi_cli_have_sha256())
        return PFI_CLI_OK;
    if (o.n_arguments == 2) {
        (void)fputs("pinfold: an overlap is found by SHA-256, and this program "
                    "was built without libmd\n",
                    stderr);
        return PFI_CLI_FAILED;
    }
    (void)fputs("pinfold: built without libmd: duplicates are not found\n",
                stderr);
    return PFI_CLI_OK;
}

/* What is not read may overlap. */
static void count_unread(struct pfi_cli_scan *s)
{
    for (int64_t i = 0; i < pinfold_dataset_size(s->second); i++) {
        const struct pfi_cli_scanned *const file = &s->second_files[i];

        if (file->status && s->unread++ < SHOWN_UNREAD)
            pfi_cli_say("pinfold: %s/%s: %s: not compared",
                        pinfold_dataset_root(s->second),
                        pinfold_dataset_path(s->second, i),
                        pfi_cli_scan_reason(file));
    }
    if (s->unread > SHOWN_UNREAD)
        pfi_cli_say("pinfold: %lld samples of %s were not compared",
                    (long long)s->unread, pinfold_dataset_root(s->second));
}

static int look(struct pfi_cli_scan *s)
{
    int code = open_both(s);

    if (code)
        return code;
    s->files = pfi_cli_scan_all(s->dataset, s->o, true);
    if (s->files && s->second)
        s->second_files = pfi_cli_scan_all(s->second, s->o, false);
    if (!s->files || (s->second && !s->second_files))
        return PFI_CLI_FAILED;
    if (s->second)
        count_unread(s);
    if (pfi_cli_scan_find(s))
        return PFI_CLI_OK;
    (void)fputs("pinfold: out of memory for the findings\n", stderr);
    return PFI_CLI_FAILED;
}

static int report(const struct pfi_cli_scan *s, struct pfi_cli_output *list)
{
    int code = PFI_CLI_OK;

    if (s->o->quarantine) {
        pfi_cli_scan_print_bad(s, list->part.file);
        code = pfi_cli_output_close(list, PFI_CLI_OK);
    }
    (s->o->json ? pfi_cli_scan_print_json : pfi_cli_scan_print)(s);
    if (!code && s->o->sheet.file)
        code = draw_sheet(s);
    return code;
}

int pfi_cli_scan(const struct pfi_cli_options *o)
{
    struct pfi_cli_scan s = {.o = o};
    struct pfi_cli_output list = {.folder = -1};
    int code = PFI_CLI_OK;

    /* Before hours of work, not behind them. */
    if (o->quarantine)
        code = pfi_cli_output_open(&list, o->quarantine);
    if (!code)
        code = look(&s);
    if (!code)
        code = report(&s, &list);
    (void)pfi_cli_output_close(&list, code ? code : PFI_CLI_FAILED);
    if (s.files)
        pfi_cli_scan_free(s.files, pinfold_dataset_size(s.dataset));
    if (s.second_files)
        pfi_cli_scan_free(s.second_files, pinfold_dataset_size(s.second));
    free(s.findings);
    pinfold_dataset_close(s.dataset);
    pinfold_dataset_close(s.second);
    return code ? code : s.bad || s.unread ? PFI_CLI_FAILED : PFI_CLI_OK;
}
