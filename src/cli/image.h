/* SPDX-License-Identifier: Apache-2.0
 * A picture in memory: rows of red, green and blue bytes. */
#ifndef PFI_CLI_IMAGE_H
#define PFI_CLI_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty one that pfi_cli_image_free() accepts. */
struct pfi_cli_image {
    int32_t width, height;
    unsigned char *rgb;
};

struct pfi_cli_colour {
    unsigned char r, g, b;
};

struct pfi_cli_rect {
    int32_t left, top, right, bottom; /* [left, right) x [top, bottom) */
};

/* Whether a picture has a pixel, and no more than are of use to eyes. */
bool pfi_cli_image_fits(int32_t width, int32_t height);
/* Of unset pixels; false where it does not fit, or memory is out. */
bool pfi_cli_image_make(struct pfi_cli_image *image, int32_t width,
                        int32_t height);
void pfi_cli_image_free(struct pfi_cli_image *image);

/* Everything below leaves out what lies beside the picture. */
void pfi_cli_image_fill(struct pfi_cli_image *image, struct pfi_cli_rect rect,
                        struct pfi_cli_colour colour);
/* Lines of `thickness` along the rectangle's inner edge. */
void pfi_cli_image_frame(struct pfi_cli_image *image, struct pfi_cli_rect rect,
                         int32_t thickness, struct pfi_cli_colour colour);
/* Makes what lies outside the rectangle darker. */
void pfi_cli_image_dim(struct pfi_cli_image *image, struct pfi_cli_rect keep);
void pfi_cli_image_paste(struct pfi_cli_image *image,
                         const struct pfi_cli_image *what, int32_t left,
                         int32_t top);

/* A resized copy, by the library; false where it has no memory. */
bool pfi_cli_image_scale(struct pfi_cli_image *out,
                         const struct pfi_cli_image *image, int32_t width,
                         int32_t height);

#endif
