/* SPDX-License-Identifier: Apache-2.0
 * How libraries other than Pillow resize a picture. */
#ifndef PFI_CLI_DIFF_RESIZE_H
#define PFI_CLI_DIFF_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

enum pfi_cli_resize {
    PFI_CLI_RESIZE_LINEAR, /* between the two nearest pixels */
    PFI_CLI_RESIZE_AREA,   /* the mean of what a pixel covers */
    PFI_CLI_RESIZE_NEAREST
};

/* A window of the resized picture, in pixels of it. */
struct pfi_cli_resize_window {
    int32_t width, height; /* of the picture */
    int32_t resized_width, resized_height;
    int32_t left, top, out_width, out_height;
};

/* Resizes RGB pixels and writes [3][out_height][out_width] codes, not rounded;
 * false where the window leaves the picture, or without memory. */
bool pfi_cli_resize_window(const unsigned char *pixels,
                           const struct pfi_cli_resize_window *window,
                           enum pfi_cli_resize how, float *out);

#endif
