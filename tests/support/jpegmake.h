/* SPDX-License-Identifier: Apache-2.0
 * Makes JPEGs with libjpeg's own encoder. */
#ifndef PFI_TESTS_JPEGMAKE_H
#define PFI_TESTS_JPEGMAKE_H

#include <stdbool.h>
#include <stddef.h>

enum jpeg_scans {
    JPEG_ONE_SCAN,
    JPEG_PROGRESSIVE, /* libjpeg's script */
    JPEG_UNFINISHED   /* progressive, DC only */
};

struct jpeg_options {
    int width, height;
    int components;  /* 1, 3 (as YCbCr) or 4 (as CMYK) */
    int h, v;        /* sampling factors of the first component; 0 = 1 */
    enum jpeg_scans scans;
    bool arithmetic;
    unsigned restart; /* MCUs between markers; 0 = none */
    int level;        /* of all samples; -1 = a pattern */
};

/* Bytes to be freed. */
unsigned char *make_jpeg(const struct jpeg_options *options, size_t *size);

#endif
