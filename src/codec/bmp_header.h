/* SPDX-License-Identifier: Apache-2.0
 * A BMP's headers and palette, by Pillow's rules. */
#ifndef PFI_CODEC_BMP_HEADER_H
#define PFI_CODEC_BMP_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

enum pfi_bmp_rle { PFI_BMP_RAW = 0, PFI_BMP_RLE8 = 1, PFI_BMP_RLE4 = 2 };

struct pfi_bmp_header {
    int32_t width, height;
    bool top_down;
    enum pfi_bmp_rle rle;
    const char *mode; /* Pillow's; "1", "L" and "P" are indices, others not */
    int bits;         /* of a stored pixel, as Pillow unpacks it */
    int green_bits;   /* 16 bits a pixel: 5 or 6 */
    int red, green, blue;         /* whole bytes: where they lie in a pixel */
    uint64_t stride;              /* bytes from row to row */
    uint64_t offset;              /* of the first row */
    const unsigned char *palette; /* mode "P": B, G, R and maybe a byte more */
    int palette_size;             /* entries that are there */
    int palette_step;             /* bytes an entry */
};

/* Reads what BmpImagePlugin of Pillow 13.0.0 reads.  `dib` says that the file
 * begins with the second header. */
pinfold_status pfi_bmp_header(const unsigned char *data, size_t size, bool dib,
                              struct pfi_bmp_header *out, pinfold_error *err);

/* Whether `size` is that of a second header. */
bool pfi_bmp_header_size(uint32_t size);

#endif
