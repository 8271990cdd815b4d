/* SPDX-License-Identifier: Apache-2.0
 * pinfold sheet: what the model sees of some samples, as one picture. */
#include <stdlib.h>

#include "src/cli/lists.h"
#include "src/cli/order.h"
#include "src/cli/run.h"
#include "src/cli/sheet.h"
#include "src/cli/sheet_options.h"
#include "src/cli/text.h"

/* Where no number is given; as many columns as leave a pane so many characters
 * of a terminal. */
enum {
    COUNT = 40,
    COLUMNS = 8,
    TERM_ROWS = 3,
    BLOCKS_PANE = 26,
    GRAPHICS_PANE = 20
};

enum { SHOWN_BAD = 10 }; /* the sheet shows the rest */

static int32_t default_columns(const struct pfi_cli_options *o,
                               const struct pfi_cli_terminal *t)
{
    const int32_t panes = o->sheet.before ? 2 : 1;
    int32_t n = COLUMNS / panes;

    if (o->sheet.term)
        n = t->columns / panes /
            (t->kind == PFI_CLI_TERM_BLOCKS ? BLOCKS_PANE : GRAPHICS_PANE);
    return n < 1 ? 1 : n;
}

/* The first `room` of the order that the options ask for. */
static int choose(const pinfold_dataset *dataset,
                  const struct pfi_cli_options *o, int64_t *indices,
                  int64_t room, int64_t *n)
{
    pinfold_loader_options options = o->loader;
    struct pfi_cli_order order;
    pinfold_status status;
    pinfold_error err;

    if (pfi_cli_order_open(&order, o))
        return PFI_CLI_FAILED;
    options.order = &order.order;
    options.batch_size = INT32_MAX; /* no line of --order FILE is too long */
    status = pinfold_order_indices(&options, pinfold_dataset_size(dataset),
                                   o->epoch, indices, room, n, &err);
    pfi_cli_order_close(&order);
    if (status)
        return pfi_cli_fail(&err);
    *n = *n < room ? *n : room;
    if (*n)
        return PFI_CLI_OK;
    (void)fputs("pinfold: no samples\n", stderr);
    return PFI_CLI_FAILED;
}

/* Says where in the picture each tile's last pane is. */
static void print_json(const struct pfi_cli_sheet *sheet,
                       const pinfold_dataset *dataset)
{
    struct pfi_cli_layout layout;
    int32_t left, top;

    pfi_cli_sheet_lay(&layout, sheet, 0);
    (void)printf("{\"schema\":1,\"width\":%d,\"height\":%d,\"columns\":%d,"
                 "\"tile_width\":%d,\"tile_height\":%d,\"tiles\":[",
                 layout.width, layout.height, sheet->columns, sheet->width,
                 sheet->height);
    for (int64_t i = 0; i < sheet->n; i++) {
        const struct pfi_cli_tile *const tile = &sheet->tiles[i];

        pfi_cli_sheet_place(&layout, sheet, i, &left, &top);
        (void)printf("%s\n{\"index\":%lld,\"label\":%lld,\"x\":%d,\"y\":%d,"
                     "\"path\":",
                     i ? "," : "", (long long)tile->index,
                     (long long)pinfold_dataset_label(dataset, tile->index),
                     left, top);
        pfi_cli_print_json(stdout, pinfold_dataset_path(dataset, tile->index));
        if (tile->wrong[0]) {
            (void)fputs(",\"bad\":", stdout);
            pfi_cli_print_json(stdout, tile->wrong);
        }
        (void)fputc('}', stdout);
    }
    (void)puts("]}");
}

static long long tell_bad(const struct pfi_cli_sheet *sheet,
                          const pinfold_dataset *dataset)
{
    long long bad = 0;

    for (int64_t i = 0; i < sheet->n; i++)
        if (sheet->tiles[i].wrong[0] && bad++ < SHOWN_BAD)
            pfi_cli_tile_tell(&sheet->tiles[i], dataset);
    return bad;
}

static int give(const struct pfi_cli_sheet *sheet,
                const pinfold_dataset *dataset, const struct pfi_cli_options *o,
                const struct pfi_cli_terminal *terminal)
{
    const long long bad = tell_bad(sheet, dataset);
    const int code = o->sheet.term ? pfi_cli_sheet_show(sheet, terminal)
                                   : pfi_cli_sheet_save(sheet, o->arguments[1]);

    if (code)
        return code;
    if (o->json && !o->sheet.term)
        print_json(sheet, dataset);
    if (!o->quiet)
        (void)fprintf(
            stderr, "%lld of %lld sample%s, %lld bad%s%s\n",
            (long long)sheet->n, (long long)pinfold_dataset_size(dataset),
            pfi_cli_plural(pinfold_dataset_size(dataset), "s"), bad,
            o->sheet.term ? "" : ", in ", o->sheet.term ? "" : o->arguments[1]);
    return bad ? PFI_CLI_FAILED : PFI_CLI_OK;
}

static int run(const pinfold_dataset *dataset, const struct pfi_cli_options *o,
               const struct pfi_cli_terminal *terminal)
{
    const int32_t columns =
        o->sheet.columns ? o->sheet.columns : default_columns(o, terminal);
    const int64_t room = o->sheet.count  ? o->sheet.count
                         : o->sheet.term ? TERM_ROWS * columns
                                         : COUNT;
    int64_t *const indices = calloc((size_t)room, sizeof(*indices));
    struct pfi_cli_sheet sheet = {.columns = columns};
    int64_t n = 0;
    int code;

    if (!indices) {
        (void)fputs("pinfold: out of memory\n", stderr);
        return PFI_CLI_FAILED;
    }
    code = choose(dataset, o, indices, room, &n);
    if (n < columns)
        sheet.columns = (int32_t)n;
    if (!code)
        code = pfi_cli_sheet_make(&sheet, dataset, o, indices, n);
    if (!code)
        code = give(&sheet, dataset, o, terminal);
    pfi_cli_sheet_free(&sheet);
    free(indices);
    return code;
}

int pfi_cli_sheet(const struct pfi_cli_options *o)
{
    struct pfi_cli_terminal terminal = {0};
    pinfold_dataset *dataset;
    pinfold_error err;
    int code;

    if (!o->sheet.term && pfi_cli_sheet_name_wrong(o->arguments[1])) {
        pfi_cli_say("pinfold: %s: %s", o->arguments[1],
                    pfi_cli_sheet_name_wrong(o->arguments[1]));
        return PFI_CLI_USAGE;
    }
    if (o->sheet.term && !pfi_cli_terminal_find(&terminal, o->sheet.term))
        return PFI_CLI_USAGE;
    if (pfi_cli_dataset_open(&dataset, o, &err))
        return pfi_cli_fail(&err);
    code = run(dataset, o, &terminal);
    pinfold_dataset_close(dataset);
    return code;
}
