/* SPDX-License-Identifier: Apache-2.0
 * Pictures on a terminal: as half blocks of text, by sixels, or by kitty's
 * graphics protocol. */
#ifndef PFI_CLI_TERM_H
#define PFI_CLI_TERM_H

#include <stdio.h>

#include "src/cli/image.h"
#include "src/cli/options.h"

enum pfi_cli_colours { PFI_CLI_NO_COLOURS, PFI_CLI_256, PFI_CLI_24_BIT };

struct pfi_cli_terminal {
    enum pfi_cli_term kind; /* not auto */
    enum pfi_cli_colours colours;
    int32_t columns; /* characters */
    int32_t pixels;  /* as wide as that; a guess where it does not tell */
};

/* What stdout's terminal can, by what the environment says of it.  Where `kind`
 * is auto and stdout is no terminal, says so and returns false. */
bool pfi_cli_terminal_find(struct pfi_cli_terminal *out,
                           enum pfi_cli_term kind);

/* Two of the picture's rows, from `row` on, as a line of half blocks without
 * its end; without colours as characters from dark to bright. */
void pfi_cli_blocks_line(FILE *out, const struct pfi_cli_terminal *terminal,
                         const struct pfi_cli_image *image, int32_t row);

/* 0 to 15, each once in 4 x 4 pixels: from which part of the way between two
 * colours on a pixel takes the next one. */
int pfi_cli_spread(int32_t x, int32_t y);

/* false when out of memory. */
bool pfi_cli_sixel(FILE *out, const struct pfi_cli_image *image);
bool pfi_cli_kitty(FILE *out, const struct pfi_cli_image *image);

#endif
