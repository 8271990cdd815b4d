/* SPDX-License-Identifier: Apache-2.0
 * Rectangles of colour, copies, sizes. */
#include "src/cli/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pinfold/pinfold.h>

#define MOST_PIXELS ((int64_t)1 << 28)

bool pfi_cli_image_fits(int32_t width, int32_t height)
{
    return width > 0 && height > 0 && (int64_t)width * height <= MOST_PIXELS;
}

bool pfi_cli_image_make(struct pfi_cli_image *image, int32_t width,
                        int32_t height)
{
    *image = (struct pfi_cli_image){.width = width, .height = height};
    if (!pfi_cli_image_fits(width, height))
        return false;
    image->rgb = malloc((size_t)width * (size_t)height * 3);
    return image->rgb != NULL;
}

void pfi_cli_image_free(struct pfi_cli_image *image)
{
    free(image->rgb);
    *image = (struct pfi_cli_image){0};
}

static unsigned char *pixel(const struct pfi_cli_image *image, int32_t x,
                            int32_t y)
{
    return image->rgb + ((size_t)y * (size_t)image->width + (size_t)x) * 3;
}

static struct pfi_cli_rect inside(const struct pfi_cli_image *image,
                                  struct pfi_cli_rect r)
{
    r.left = r.left < 0 ? 0 : r.left;
    r.top = r.top < 0 ? 0 : r.top;
    r.right = r.right > image->width ? image->width : r.right;
    r.bottom = r.bottom > image->height ? image->height : r.bottom;
    return r;
}

void pfi_cli_image_fill(struct pfi_cli_image *image, struct pfi_cli_rect rect,
                        struct pfi_cli_colour colour)
{
    const struct pfi_cli_rect r = inside(image, rect);

    for (int32_t y = r.top; y < r.bottom; y++)
        for (int32_t x = r.left; x < r.right; x++)
            memcpy(pixel(image, x, y), &colour, 3);
}

void pfi_cli_image_frame(struct pfi_cli_image *image, struct pfi_cli_rect rect,
                         int32_t thickness, struct pfi_cli_colour colour)
{
    struct pfi_cli_rect top = rect, bottom = rect, left = rect, right = rect;

    top.bottom = rect.top + thickness;
    bottom.top = rect.bottom - thickness;
    left.right = rect.left + thickness;
    right.left = rect.right - thickness;
    pfi_cli_image_fill(image, top, colour);
    pfi_cli_image_fill(image, bottom, colour);
    pfi_cli_image_fill(image, left, colour);
    pfi_cli_image_fill(image, right, colour);
}

void pfi_cli_image_dim(struct pfi_cli_image *image, struct pfi_cli_rect keep)
{
    for (int32_t y = 0; y < image->height; y++) {
        for (int32_t x = 0; x < image->width; x++) {
            unsigned char *const p = pixel(image, x, y);

            if (y >= keep.top && y < keep.bottom && x >= keep.left &&
                x < keep.right)
                continue;
            for (int c = 0; c < 3; c++)
                p[c] = (unsigned char)(p[c] * 2 / 5);
        }
    }
}

void pfi_cli_image_paste(struct pfi_cli_image *image,
                         const struct pfi_cli_image *what, int32_t left,
                         int32_t top)
{
    const struct pfi_cli_rect r =
        inside(image, (struct pfi_cli_rect){left, top, left + what->width,
                                            top + what->height});

    for (int32_t y = r.top; y < r.bottom && r.left < r.right; y++)
        memcpy(pixel(image, r.left, y), pixel(what, r.left - left, y - top),
               (size_t)(r.right - r.left) * 3);
}

/* The library resizes encoded pictures; PPM is the encoding of raw bytes. */
bool pfi_cli_image_scale(struct pfi_cli_image *out,
                         const struct pfi_cli_image *image, int32_t width,
                         int32_t height)
{
    const size_t size = (size_t)image->width * (size_t)image->height * 3;
    pinfold_recipe recipe = pinfold_recipe_default();
    unsigned char *const ppm = malloc(64 + size);
    size_t head;
    bool good;

    *out = (struct pfi_cli_image){0};
    if (!ppm)
        return false;
    head = (size_t)snprintf((char *)ppm, 64, "P6\n%d %d\n255\n", image->width,
                            image->height);
    memcpy(ppm + head, image->rgb, size);
    recipe.resize_height = height;
    recipe.resize_width = width;
    recipe.crop_height = PINFOLD_OFF;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    recipe.max_pixels = (uint64_t)MOST_PIXELS;
    good = pfi_cli_image_make(out, width, height) &&
           !pinfold_preprocess(&recipe, ppm, head + size, out->rgb,
                               (size_t)width * (size_t)height * 3, NULL);
    free(ppm);
    if (!good)
        pfi_cli_image_free(out);
    return good;
}
