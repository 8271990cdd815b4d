/* SPDX-License-Identifier: Apache-2.0
 * A contact sheet as one picture: tiles of one or two panes with two lines of
 * text below each. */
#include "src/cli/sheet.h"

#include <string.h>

#include "src/cli/font.h"

static const struct pfi_cli_colour ground = {30, 30, 33},
                                   text = {235, 235, 235},
                                   faint = {160, 160, 166}, red = {226, 74, 62},
                                   dark_red = {62, 24, 24},
                                   pale_red = {255, 178, 168},
                                   bay = {44, 44, 48}, white = {255, 255, 255};

/* A label needs so many characters to tell anything. */
enum { LEAST_CHARACTERS = 16, PANE_GAP = 4 };

/* ------------------------------------------------------------------- panes ---
 */

static struct pfi_cli_rect all_of(const struct pfi_cli_image *image)
{
    return (struct pfi_cli_rect){0, 0, image->width, image->height};
}

/* Rounded to the nearest pixel. */
static int32_t at(double share, int32_t side)
{
    const double place = share * side;

    return (int32_t)(place < 0 ? place - 0.5 : place + 0.5);
}

/* The whole picture in the middle, bright where the crop is. */
static bool draw_before(struct pfi_cli_image *out,
                        const struct pfi_cli_tile *tile, double scale)
{
    const struct pfi_cli_image *const b = &tile->before;
    const int32_t w = at(scale, b->width), h = at(scale, b->height);
    struct pfi_cli_image whole;
    struct pfi_cli_rect crop;

    pfi_cli_image_fill(out, all_of(out), bay);
    if (!b->rgb)
        return true;
    if (!pfi_cli_image_scale(&whole, b, w < 1 ? 1 : w, h < 1 ? 1 : h))
        return false;
    crop = (struct pfi_cli_rect){
        at(tile->crop[0], whole.width), at(tile->crop[1], whole.height),
        at(tile->crop[2], whole.width), at(tile->crop[3], whole.height)};
    pfi_cli_image_dim(&whole, crop);
    const int32_t left = (out->width - whole.width) / 2;
    const int32_t top = (out->height - whole.height) / 2;

    pfi_cli_image_paste(out, &whole, left, top);
    pfi_cli_image_free(&whole);
    crop.left += left;
    crop.right += left;
    crop.top += top;
    crop.bottom += top;
    /* On few pixels a frame would hide more than it shows. */
    if (out->width >= 64)
        pfi_cli_image_frame(out, crop, out->width >= 200 ? 2 : 1, white);
    return true;
}

bool pfi_cli_pane(struct pfi_cli_image *out, const struct pfi_cli_tile *tile,
                  bool before, int32_t width, int32_t height)
{
    if (!before && tile->after.rgb)
        return pfi_cli_image_scale(out, &tile->after, width, height);
    if (!pfi_cli_image_make(out, width, height))
        return false;
    if (tile->after.rgb) {
        if (draw_before(out, tile, (double)width / (double)tile->after.width))
            return true;
        pfi_cli_image_free(out);
        return false;
    }
    pfi_cli_image_fill(out, all_of(out), dark_red);
    pfi_cli_image_frame(out, all_of(out), width >= 200 ? 2 : 1, red);
    return true;
}

/* ------------------------------------------------------------------ layout ---
 */

static int32_t panes(const struct pfi_cli_sheet *sheet)
{
    return sheet->before ? 2 : 1;
}

static int32_t rows(const struct pfi_cli_sheet *sheet)
{
    return (int32_t)((sheet->n + sheet->columns - 1) / sheet->columns);
}

/* So that sheets of any size can be compared with the limit. */
static int32_t bounded(int64_t pixels)
{
    return pixels > INT32_MAX ? INT32_MAX : (int32_t)pixels;
}

void pfi_cli_sheet_lay(struct pfi_cli_layout *l,
                       const struct pfi_cli_sheet *sheet, int32_t width)
{
    const int32_t between = (panes(sheet) - 1) * PANE_GAP;
    int32_t least;

    *l = (struct pfi_cli_layout){.pane_width = sheet->width};
    l->scale = sheet->width >= 200 ? 2 : 1;
    if (width) {
        const int32_t room =
            (width - 6 * (sheet->columns + 1)) / sheet->columns;
        const int32_t pane = (room - between) / panes(sheet);

        l->pane_width = pane < sheet->width ? pane : sheet->width;
        l->pane_width = l->pane_width < 8 ? 8 : l->pane_width;
        l->scale = 1;
    }
    l->margin = l->gap = 6 * l->scale;
    l->pane_height =
        bounded((int64_t)l->pane_width * sheet->height / sheet->width);
    l->pane_height = l->pane_height < 1 ? 1 : l->pane_height;
    least = LEAST_CHARACTERS * PFI_CLI_FONT_WIDTH * l->scale;
    l->tile_width = bounded((int64_t)panes(sheet) * l->pane_width + between);
    if (!width && l->tile_width < least)
        l->tile_width = least;
    l->tile_height = bounded((int64_t)l->pane_height +
                             (2 * PFI_CLI_FONT_HEIGHT + 6) * l->scale);
    l->caption = width ? 0 : (PFI_CLI_FONT_HEIGHT + 4) * l->scale;
    l->width = bounded(2 * (int64_t)l->margin - l->gap +
                       sheet->columns * ((int64_t)l->tile_width + l->gap));
    l->height = bounded(2 * (int64_t)l->margin - l->gap + l->caption +
                        rows(sheet) * ((int64_t)l->tile_height + l->gap));
}

static struct pfi_cli_rect tile_place(const struct pfi_cli_layout *l,
                                      const struct pfi_cli_sheet *sheet,
                                      int64_t i)
{
    struct pfi_cli_rect r;

    r.left =
        l->margin + (int32_t)(i % sheet->columns) * (l->tile_width + l->gap);
    r.top = l->margin + l->caption +
            (int32_t)(i / sheet->columns) * (l->tile_height + l->gap);
    r.right = r.left + l->tile_width;
    r.bottom = r.top + l->tile_height;
    return r;
}

void pfi_cli_sheet_place(const struct pfi_cli_layout *l,
                         const struct pfi_cli_sheet *sheet, int64_t i,
                         int32_t *left, int32_t *top)
{
    const struct pfi_cli_rect r = tile_place(l, sheet, i);

    *left = r.left + (panes(sheet) - 1) * (l->pane_width + PANE_GAP);
    *top = r.top;
}

/* ------------------------------------------------------------------- tiles ---
 */

static void put_text(struct pfi_cli_image *out, const struct pfi_cli_layout *l,
                     int32_t left, int32_t top, int32_t width,
                     struct pfi_cli_colour colour, const char *words)
{
    char shown[PFI_CLI_LABEL];

    (void)strcpy(shown, words);
    pfi_cli_shorten_name(shown,
                         (size_t)(width / (PFI_CLI_FONT_WIDTH * l->scale)));
    pfi_cli_font_draw(out, left, top, l->scale, colour, shown);
}

/* Lines of whole words, as many as the pane has room for. */
static void put_reason(struct pfi_cli_image *out,
                       const struct pfi_cli_layout *l, struct pfi_cli_rect r,
                       const char *words)
{
    const int32_t line = PFI_CLI_FONT_HEIGHT * l->scale, inset = 4 * l->scale;
    const size_t most = (size_t)((r.right - r.left - 2 * inset) /
                                 (PFI_CLI_FONT_WIDTH * l->scale));

    for (int32_t top = r.top + inset;
         *words && most && top + line <= r.top + l->pane_height; top += line) {
        char shown[PFI_CLI_LABEL];
        size_t size = strlen(words);

        if (size > most) {
            for (size = most; size && words[size] != ' ';)
                size--;
            size = size ? size : most;
        }
        memcpy(shown, words, size);
        shown[size] = '\0';
        pfi_cli_font_draw(out, r.left + inset, top, l->scale, pale_red, shown);
        words += size + (words[size] == ' ');
    }
}

static bool draw_panes(struct pfi_cli_image *out,
                       const struct pfi_cli_layout *l,
                       const struct pfi_cli_sheet *sheet,
                       const struct pfi_cli_tile *tile, struct pfi_cli_rect r)
{
    const bool bad = !tile->after.rgb;
    const int32_t n = bad ? 1 : panes(sheet);
    const int32_t width = bad ? l->tile_width : l->pane_width;

    for (int32_t i = 0; i < n; i++) {
        struct pfi_cli_image pane;

        if (!pfi_cli_pane(&pane, tile, i + 1 < n, width, l->pane_height))
            return false;
        pfi_cli_image_paste(out, &pane, r.left + i * (width + PANE_GAP), r.top);
        pfi_cli_image_free(&pane);
    }
    if (bad)
        put_reason(out, l, r, tile->wrong);
    return true;
}

static bool draw_tile(struct pfi_cli_image *out, const struct pfi_cli_layout *l,
                      const struct pfi_cli_sheet *sheet, int64_t i)
{
    const struct pfi_cli_tile *const tile = &sheet->tiles[i];
    const struct pfi_cli_rect r = tile_place(l, sheet, i);
    const int32_t top = r.top + l->pane_height + 3 * l->scale;

    put_text(out, l, r.left, top, l->tile_width, text, tile->name);
    put_text(out, l, r.left, top + PFI_CLI_FONT_HEIGHT * l->scale,
             l->tile_width, faint, tile->what);
    return draw_panes(out, l, sheet, tile, r);
}

bool pfi_cli_sheet_draw(const struct pfi_cli_sheet *sheet,
                        const struct pfi_cli_layout *l,
                        struct pfi_cli_image *out)
{
    if (!pfi_cli_image_make(out, l->width, l->height))
        return false;
    pfi_cli_image_fill(out, all_of(out), ground);
    if (l->caption)
        put_text(out, l, l->margin, l->margin, l->width - 2 * l->margin, faint,
                 sheet->caption);
    for (int64_t i = 0; i < sheet->n; i++) {
        if (!draw_tile(out, l, sheet, i)) {
            pfi_cli_image_free(out);
            return false;
        }
    }
    return true;
}
