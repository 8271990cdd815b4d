/* SPDX-License-Identifier: Apache-2.0
 * A bitmap font for labels: ASCII. */
#ifndef PFI_CLI_FONT_H
#define PFI_CLI_FONT_H

#include "src/cli/image.h"

/* From one character, or line, to the next. */
enum { PFI_CLI_FONT_WIDTH = 6, PFI_CLI_FONT_HEIGHT = 11 };

/* Draws `text`, each pixel `scale` wide and high, from its top left corner. */
void pfi_cli_font_draw(struct pfi_cli_image *image, int32_t left, int32_t top,
                       int32_t scale, struct pfi_cli_colour colour,
                       const char *text);

#endif
