/* SPDX-License-Identifier: Apache-2.0
 * Loads the golden pictures and decodes them below the public interface. */
#ifndef PFI_TESTS_PICTURES_H
#define PFI_TESTS_PICTURES_H

#include "src/codec/codec.h"

/* A file of tests/golden/formats, in memory of its own size; NULL where it is
 * not there. */
unsigned char *picture_load(const char *name, size_t *size);

/* What one decoding needs beside the file, and gives. */
struct picture {
    bool turn;
    uint64_t max_pixels, max_scratch; /* 0 = no limit */
    struct pfi_window window;         /* all 0 = the whole picture */
    unsigned char *rgb;               /* the window's rows; to be freed */
    int32_t width, height;            /* of the whole picture */
};

pinfold_status picture_decode(struct picture *picture, const unsigned char *data,
                              size_t size, pinfold_error *err);

#endif
