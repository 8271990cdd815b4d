/* SPDX-License-Identifier: Apache-2.0
 * A whole picture's RGB pixels through the public interface. */
#ifndef PFI_TESTS_DECODE_H
#define PFI_TESTS_DECODE_H

#include <pinfold/pinfold.h>

struct decoded {
    pinfold_error err; /* status PINFOLD_OK where it worked */
    unsigned char *rgb; /* to be freed; NULL on error */
    size_t size;
    int32_t width, height;
};

struct decoded decode(const void *data, size_t size);

/* As decode(), with the recipe's limits. */
struct decoded decode_with(const pinfold_recipe *limits, const void *data,
                           size_t size);

/* A file's bytes, to be freed; NULL if it cannot be read. */
unsigned char *read_file(const char *path, size_t *size);

#endif
