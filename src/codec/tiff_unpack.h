/* SPDX-License-Identifier: Apache-2.0
 * Pillow's modes of a TIFF's pixels: how stored samples become a row of such a
 * mode, and that a row of RGB (Unpack.c and Convert.c, 13.0.0). */
#ifndef PFI_CODEC_TIFF_UNPACK_H
#define PFI_CODEC_TIFF_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One way of storing a pixel.  The names are Pillow's raw modes. */
struct pfi_unpacker {
    const char *mode, *raw;
    unsigned char bits; /* of a pixel */
    unsigned char kind, a, b;
    unsigned char flags;
};

/* NULL where Pillow knows no such pair.  `n` bytes of `raw` count. */
const struct pfi_unpacker *pfi_unpacker_find(const char *mode, const char *raw,
                                             size_t n);

/* Of one band of four, as libtiff's separate planes hold it: 8 or 16 bits in the
 * machine's order. */
const struct pfi_unpacker *pfi_unpacker_band(int band, int bits);

/* Unpacks `n` pixels to `out`, pfi_mode_size() bytes each. */
void pfi_unpack(const struct pfi_unpacker *unpacker, unsigned char *out,
                const unsigned char *in, size_t n);

/* Bytes of a pixel of that mode. */
size_t pfi_mode_size(const char *mode);

/* Bands of a pixel, as separate planes count them. */
int pfi_mode_bands(const char *mode);

/* A row of that mode as RGB.  `palette` is for P and PA. */
void pfi_mode_to_rgb(const char *mode, unsigned char *rgb,
                     const unsigned char *in, size_t n,
                     const unsigned char (*palette)[3]);

#endif
