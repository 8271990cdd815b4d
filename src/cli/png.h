/* SPDX-License-Identifier: Apache-2.0
 * Pictures as PNG files. */
#ifndef PFI_CLI_PNG_H
#define PFI_CLI_PNG_H

#include "src/cli/image.h"

/* Returns the bytes of a PNG file, which the caller frees; NULL when out of
 * memory. */
unsigned char *pfi_cli_png(const struct pfi_cli_image *image, size_t *size);

#endif
