/* SPDX-License-Identifier: Apache-2.0
 * A TIFF directory, read as Pillow reads it (ImageFileDirectory_v2 of
 * TiffImagePlugin.py, 13.0.0): TIFF's own, and the one in an EXIF block. */
#ifndef PFI_CODEC_IFD_H
#define PFI_CODEC_IFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of a field; those that are not here are skipped. */
enum {
    PFI_IFD_BYTE = 1,
    PFI_IFD_ASCII = 2,
    PFI_IFD_SHORT = 3,
    PFI_IFD_LONG = 4,
    PFI_IFD_RATIONAL = 5,
    PFI_IFD_SBYTE = 6,
    PFI_IFD_UNDEFINED = 7,
    PFI_IFD_SSHORT = 8,
    PFI_IFD_SLONG = 9,
    PFI_IFD_SRATIONAL = 10,
    PFI_IFD_FLOAT = 11,
    PFI_IFD_DOUBLE = 12,
    PFI_IFD_IFD = 13,
    PFI_IFD_LONG8 = 16
};

struct pfi_ifd {
    const unsigned char *data; /* offsets count from here */
    size_t size;
    bool big_endian;
    bool big;      /* BigTIFF */
    uint64_t next; /* offset of the first directory; after reading, the next */
};

/* A field that is wanted, and what was found of it. */
struct pfi_ifd_field {
    uint16_t tag;
    uint16_t type;             /* 0 = not there */
    uint64_t count;            /* values, at least 1 */
    const unsigned char *data; /* inside the file */
    uint64_t listed; /* values that the first such entry claims, there or not */
};

/* Reads the header; false where Pillow refuses it.  EXIF blocks are never
 * BigTIFF: `exif` refuses the long header. */
bool pfi_ifd_header(struct pfi_ifd *ifd, const unsigned char *data, size_t size,
                    bool exif);

/* Looks the fields up, whose tags are set, in the directory at ifd->next.  Of a
 * tag that is there twice the first counts; a directory that is cut short has
 * the fields before the cut. */
void pfi_ifd_read(struct pfi_ifd *ifd, struct pfi_ifd_field *fields, size_t n);

/* Whether Python sees value `i` as an int, and which. */
bool pfi_ifd_int(const struct pfi_ifd *ifd, const struct pfi_ifd_field *field,
                 uint64_t i, int64_t *out);

/* Whether value `i` is a number that equals an integer, and which: 6.0 and 12/2
 * are found in a dict where 6 is. */
bool pfi_ifd_whole(const struct pfi_ifd *ifd, const struct pfi_ifd_field *field,
                   uint64_t i, int64_t *out);

#endif
