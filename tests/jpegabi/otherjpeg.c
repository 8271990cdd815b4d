/* SPDX-License-Identifier: Apache-2.0
 * Another libjpeg, of ABI 80, as far as a program notices: whoever calls it
 * with the structures of ABI 62 is stopped. */
#include <stdio.h>
#include <stdlib.h>

#define OTHER(name)                                                            \
    void name(void);                                                           \
    void name(void)                                                            \
    {                                                                          \
        (void)fputs("Wrong JPEG library version: library is 80, caller "       \
                    "expects 62 (" #name ")\n",                                \
                    stderr);                                                   \
        exit(1);                                                               \
    }

OTHER(jpeg_std_error)
OTHER(jpeg_CreateDecompress)
OTHER(jpeg_read_header)
OTHER(jpeg_start_decompress)
OTHER(jpeg_read_scanlines)
OTHER(jpeg_finish_decompress)
OTHER(jpeg_destroy_decompress)
OTHER(jpeg_resync_to_restart)
