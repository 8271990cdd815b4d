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

/* Whether only coded data and restart markers lie before the end marker: then
 * whatever the data are, libjpeg can do no worse than warn. */
static bool ends_well(const unsigned char *at, size_t size)
{
    const unsigned char *const end = at + size;

    while (at < end) {
        at = memchr(at, 0xFF, (size_t)(end - at));
        if (!at || at + 1 >= end)
            return false;
        at++;
        if (*at == JPEG_EOI)
            return true;
        /* Another 0xFF is padding, and may begin a marker itself. */
        if (*at != 0xFF && *at != 0 && (*at < JPEG_RST0 || *at > JPEG_RST0 + 7))
            return false;
    }
    return false;
}

bool pfi_jpeg_window_sound(j_decompress_ptr cinfo)
{
    /* Files of several scans were read to their end at the start. */
    if (jpeg_has_multiple_scans(cinfo))
        return true;
    if (cinfo->unread_marker)
        return cinfo->unread_marker == JPEG_EOI;
    return ends_well(cinfo->src->next_input_byte, cinfo->src->bytes_in_buffer);
}
