/* SPDX-License-Identifier: Apache-2.0
 * Writes small random JPEGs for fuzz_fastjpeg to begin with.
 * usage: make_jpegs FOLDER COUNT */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/jpegdraw.h"

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        char path[4096];
        struct drawn_jpeg file;
        FILE *out;

        draw_jpeg(&file, 8u << i % 4);
        (void)snprintf(path, sizeof(path), "%s/%d.jpg", argv[1], i);
        out = fopen(path, "wb");
        if (!out || fwrite(file.data, 1, file.size, out) != file.size ||
            fclose(out))
            return 1;
        free(file.data);
    }
    return 0;
}
