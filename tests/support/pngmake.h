/* SPDX-License-Identifier: Apache-2.0
 * Builds PNGs chunk by chunk. */
#ifndef PFI_TESTS_PNGMAKE_H
#define PFI_TESTS_PNGMAKE_H

#include <stddef.h>
#include <stdint.h>

/* Grows as it is written; zero at the start, free `data` at the end. */
struct bytes {
    unsigned char *data;
    size_t size;
};

void put_bytes(struct bytes *b, const void *data, size_t size);
void put_signature(struct bytes *b);
void put_chunk(struct bytes *b, const char *name, const void *data, size_t size);
/* `prefix` as it is, then `size` bytes of `data` deflated, as one chunk. */
void put_packed(struct bytes *b, const char *name, const void *prefix,
                size_t prefix_size, const void *data, size_t size);
void put_header(struct bytes *b, uint32_t width, uint32_t height, int depth,
                int colour, int interlace);

#endif
