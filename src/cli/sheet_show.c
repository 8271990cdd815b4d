/* SPDX-License-Identifier: Apache-2.0
 * Where contact sheets go: a PNG file, or a terminal. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/output.h"
#include "src/cli/png.h"
#include "src/cli/run.h"
#include "src/cli/sheet.h"
#include "src/cli/text.h"

static int fail(const char *why)
{
    pfi_cli_say("pinfold: a sheet of %s", why);
    return PFI_CLI_FAILED;
}

static int draw(const struct pfi_cli_sheet *sheet, int32_t width,
                struct pfi_cli_image *out)
{
    struct pfi_cli_layout layout;

    pfi_cli_sheet_lay(&layout, sheet, width);
    return pfi_cli_sheet_draw(sheet, &layout, out)
               ? PFI_CLI_OK
               : fail("pixels that memory has no room for");
}

static int write_png(const struct pfi_cli_image *image, const char *path)
{
    struct pfi_cli_output output;
    size_t size;
    unsigned char *png;
    int code = pfi_cli_output_open(&output, path);

    if (code)
        return code;
    png = pfi_cli_png(image, &size);
    if (!png)
        code = fail("pixels that memory has no room to compress");
    else if (fwrite(png, 1, size, output.part.file) != size) {
        pfi_cli_cannot(path, "write");
        code = PFI_CLI_FAILED;
    } else if (pfi_cli_signal())
        code = PFI_CLI_FAILED;
    free(png);
    return pfi_cli_output_close(&output, code);
}

int pfi_cli_sheet_save(const struct pfi_cli_sheet *sheet, const char *path)
{
    struct pfi_cli_image image;
    int code = draw(sheet, 0, &image);

    if (code)
        return code;
    code = write_png(&image, path);
    pfi_cli_image_free(&image);
    return code;
}

/* ----------------------------------------------------------------- blocks ---
 */

/* How a row of tiles is made of characters. */
struct grid {
    const struct pfi_cli_terminal *terminal;
    const struct pfi_cli_sheet *sheet;
    int32_t panes;                /* of a tile */
    int32_t width, lines;         /* of a pane */
    int32_t tile;                 /* its width */
    struct pfi_cli_image *images; /* of a row */
};

static void lay_grid(struct grid *g)
{
    const struct pfi_cli_sheet *const s = g->sheet;

    g->panes = s->before ? 2 : 1;
    g->tile = (g->terminal->columns - (s->columns - 1)) / s->columns;
    g->width = (g->tile - (g->panes - 1)) / g->panes;
    g->width = g->width < 1 ? 1 : g->width;
    g->tile = g->panes * g->width + g->panes - 1;
    g->lines = (int32_t)(((int64_t)g->width * s->height / s->width + 1) / 2);
    g->lines = g->lines < 1 ? 1 : g->lines;
}

static bool make_panes(const struct grid *g, int64_t first, int32_t n)
{
    for (int32_t i = 0; i < n * g->panes; i++) {
        const struct pfi_cli_tile *const tile =
            &g->sheet->tiles[first + i / g->panes];
        const bool before = g->panes == 2 && i % 2 == 0;

        if (!pfi_cli_pane(&g->images[i], tile, before, g->width, 2 * g->lines))
            return false;
    }
    return true;
}

/* Names are bold, and reasons red. */
static void print_labels(const struct grid *g, int64_t first, int32_t n,
                         bool second)
{
    for (int32_t i = 0; i < n; i++) {
        const struct pfi_cli_tile *const t = &g->sheet->tiles[first + i];
        const bool bad = second && t->wrong[0], last = i + 1 == n;
        char words[PFI_CLI_LABEL];

        (void)strcpy(words, bad ? t->wrong : second ? t->what : t->name);
        (bad ? pfi_cli_shorten_words : pfi_cli_shorten_name)(words,
                                                             (size_t)g->tile);
        if (g->terminal->colours && (bad || !second))
            (void)printf("\033[%dm", bad ? 31 : 1);
        (void)printf("%-*s", last ? 0 : g->tile, words);
        if (g->terminal->colours && (bad || !second))
            (void)fputs("\033[0m", stdout);
        (void)fputs(last ? "\n" : " ", stdout);
    }
}

static void print_row(const struct grid *g, int64_t first, int32_t n)
{
    for (int32_t line = 0; line < g->lines; line++) {
        for (int32_t i = 0; i < n * g->panes; i++) {
            if (i)
                (void)fputc(' ', stdout);
            pfi_cli_blocks_line(stdout, g->terminal, &g->images[i], 2 * line);
        }
        (void)fputc('\n', stdout);
    }
    print_labels(g, first, n, false);
    print_labels(g, first, n, true);
}

static int show_blocks(const struct pfi_cli_sheet *sheet,
                       const struct pfi_cli_terminal *terminal)
{
    struct grid g = {.terminal = terminal, .sheet = sheet};
    const int32_t columns = sheet->columns;
    int code = PFI_CLI_OK;

    lay_grid(&g);
    g.images = calloc((size_t)(columns * g.panes), sizeof(*g.images));
    for (int64_t i = 0; g.images && !code && i < sheet->n; i += columns) {
        const int64_t left = sheet->n - i;
        const int32_t n = left < columns ? (int32_t)left : columns;

        if (make_panes(&g, i, n) && !pfi_cli_signal())
            print_row(&g, i, n);
        else
            code = PFI_CLI_FAILED;
        if (i + columns < sheet->n)
            (void)fputc('\n', stdout);
        for (int32_t k = 0; k < n * g.panes; k++)
            pfi_cli_image_free(&g.images[k]);
    }
    if (!g.images || (code && !pfi_cli_signal()))
        code = fail("blocks that memory has no room for");
    free(g.images);
    return code;
}

/* ---------------------------------------------------------------- terminal ---
 */

int pfi_cli_sheet_show(const struct pfi_cli_sheet *sheet,
                       const struct pfi_cli_terminal *terminal)
{
    char caption[PFI_CLI_LABEL];
    struct pfi_cli_image image;
    bool good;
    int code;

    (void)strcpy(caption, sheet->caption);
    pfi_cli_shorten_words(caption, (size_t)terminal->columns);
    (void)puts(caption);
    if (terminal->kind == PFI_CLI_TERM_BLOCKS)
        return show_blocks(sheet, terminal);
    code = draw(sheet, terminal->pixels, &image);
    if (code)
        return code;
    good = terminal->kind == PFI_CLI_TERM_KITTY ? pfi_cli_kitty(stdout, &image)
                                                : pfi_cli_sixel(stdout, &image);
    pfi_cli_image_free(&image);
    return good ? PFI_CLI_OK : fail("pixels that memory has no room for");
}
