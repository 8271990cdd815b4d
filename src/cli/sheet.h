/* SPDX-License-Identifier: Apache-2.0
 * Contact sheets: what they hold, how they are made and drawn. */
#ifndef PFI_CLI_SHEET_H
#define PFI_CLI_SHEET_H

#include "src/cli/image.h"
#include "src/cli/label.h"
#include "src/cli/term.h"

struct pfi_cli_tile {
    int64_t index;               /* in the data set */
    struct pfi_cli_image after;  /* what the model sees; empty where bad */
    struct pfi_cli_image before; /* the whole picture, within a pane */
    double crop[4]; /* left, top, right, bottom: shares of the whole picture */
    char name[PFI_CLI_LABEL], what[PFI_CLI_LABEL]; /* the two labels */
    char wrong[PFI_CLI_LABEL]; /* "", or why there is no picture */
};

struct pfi_cli_sheet {
    int32_t width, height; /* of a pane: the model's picture */
    bool before;           /* tiles have two panes */
    int32_t columns;
    int64_t n;
    struct pfi_cli_tile *tiles;
    char caption[PFI_CLI_LABEL];
};

/* Makes the tiles of the samples `indices` of n, with the class as the second
 * label, of a sheet whose columns are set.  On failure, or after a signal,
 * prints why and returns the exit status; the sheet is to be freed in any case.
 */
int pfi_cli_sheet_make(struct pfi_cli_sheet *sheet,
                       const pinfold_dataset *dataset,
                       const struct pfi_cli_options *o, const int64_t *indices,
                       int64_t n);
/* Prints which sample is bad, and why. */
void pfi_cli_tile_tell(const struct pfi_cli_tile *tile,
                       const pinfold_dataset *dataset);
void pfi_cli_sheet_free(struct pfi_cli_sheet *sheet);

/* What a drawn sheet measures, in pixels. */
struct pfi_cli_layout {
    int32_t scale; /* of the font */
    int32_t margin, gap;
    int32_t pane_width, pane_height;
    int32_t tile_width, tile_height, caption;
    int32_t width, height;
};

/* With panes of the model's size, or smaller ones, so that a sheet is at most
 * `width` wide; 0 = any. */
void pfi_cli_sheet_lay(struct pfi_cli_layout *layout,
                       const struct pfi_cli_sheet *sheet, int32_t width);
/* Where tile i's last pane, which is what the model sees, has its corner. */
void pfi_cli_sheet_place(const struct pfi_cli_layout *layout,
                         const struct pfi_cli_sheet *sheet, int64_t i,
                         int32_t *left, int32_t *top);
/* false when out of memory. */
bool pfi_cli_sheet_draw(const struct pfi_cli_sheet *sheet,
                        const struct pfi_cli_layout *layout,
                        struct pfi_cli_image *out);

/* A pane of its own size: a picture scaled down, the whole picture with what
 * the crop leaves out darkened, or a sign for a bad one; false when out of
 * memory. */
bool pfi_cli_pane(struct pfi_cli_image *out, const struct pfi_cli_tile *tile,
                  bool before, int32_t width, int32_t height);

/* Draw a sheet, as a PNG file or on a terminal; on failure print why.  Each
 * returns the exit status. */
int pfi_cli_sheet_save(const struct pfi_cli_sheet *sheet, const char *path);
int pfi_cli_sheet_show(const struct pfi_cli_sheet *sheet,
                       const struct pfi_cli_terminal *terminal);

#endif
