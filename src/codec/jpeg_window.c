/* SPDX-License-Identifier: Apache-2.0
 * jpeg_crop_scanline() and jpeg_skip_scanlines() with the margins that make
 * their pixels equal to a full decode's: upsampling looks one column to each
 * side, and needs a strip that is wider than two (libjpeg-turbo 2.0.3 to 3.2.0,
 * jdapistd.c, jdsample.c). */
#include "src/codec/jpeg_window.h"

#include <string.h>

#define PFI_STRIP_MIN 16

bool pfi_jpeg_complete(j_decompress_ptr cinfo)
{
    for (int c = 0; cinfo->progressive_mode && c < cinfo->num_components; c++)
        for (int i = 0; i < DCTSIZE2; i++)
            if (cinfo->coef_bits[c][i] != 0)
                return false;
    return true;
}

int32_t pfi_jpeg_window_begin(j_decompress_ptr cinfo,
                              const struct pfi_window *window)
{
    const JDIMENSION full = cinfo->output_width;
    const JDIMENSION left = (JDIMENSION)window->left;
    JDIMENSION first = left > 0 ? left - 1 : 0;
    JDIMENSION end = (JDIMENSION)window->right + 1;
    JDIMENSION n;

    if (end < first + PFI_STRIP_MIN)
        end = first + PFI_STRIP_MIN;
    if (end > full)
        end = full;
    if (end - first < PFI_STRIP_MIN)
        first = end > PFI_STRIP_MIN ? end - PFI_STRIP_MIN : 0;
    n = end - first;
    if (n < full)
        jpeg_crop_scanline(cinfo, &first, &n);
    if (window->top > 0)
        (void)jpeg_skip_scanlines(cinfo, (JDIMENSION)window->top);
    return (int32_t)first;
}

bool pfi_jpeg_ends_well(const unsigned char *data, size_t size, size_t at)
{
    const unsigned char *p = data + at;
    const unsigned char *const end = data + size;

    while (p < end) {
        p = memchr(p, 0xFF, (size_t)(end - p));
        if (!p || p + 1 >= end)
            return false;
        p++;
        if (*p == JPEG_EOI)
            return true;
        /* Another 0xFF is padding, and may begin a marker itself. */
        if (*p != 0xFF && *p != 0 && (*p < JPEG_RST0 || *p > JPEG_RST0 + 7))
            return false;
    }
    return false;
}
