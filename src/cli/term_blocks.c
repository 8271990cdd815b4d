/* SPDX-License-Identifier: Apache-2.0
 * A character for two pixels: its upper half in the one's colour, its lower in
 * the other's. */
#include "src/cli/term.h"

#include <stdlib.h>

int pfi_cli_spread(int32_t x, int32_t y)
{
    static const int thresholds[4][4] = {
        {0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};

    return thresholds[y & 3][x & 3];
}

static bool is_grey(const unsigned char *p)
{
    return abs(p[0] - p[1]) < 16 && abs(p[1] - p[2]) < 16 &&
           abs(p[2] - p[0]) < 16;
}

/* Of xterm's 256: a cube of 6 x 6 x 6 from 16 on, 24 greys of 8 to 238 from 232
 * on.  Without spreading a little what lies between two levels of the cube,
 * brown would turn grey; all of it would be noise on so few pixels. */
static int colour_256(const unsigned char *p, int32_t x, int32_t y)
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    const int threshold = 9 + pfi_cli_spread(x, y); /* of 32 */
    int n = 0;

    if (is_grey(p) && p[1] > 3 && p[1] < 243)
        return 232 + (p[1] > 8 ? (p[1] - 3) / 10 : 0);
    for (int c = 0; c < 3; c++) {
        int i = 0;

        while (i < 4 && p[c] >= levels[i + 1])
            i++;
        n = 6 * n + i +
            (32 * (p[c] - levels[i]) > threshold * (levels[i + 1] - levels[i]));
    }
    return 16 + n;
}

/* A number for a colour; the pixel is the picture's at (x, y). */
static int code_of(const unsigned char *p, bool full, int32_t x, int32_t y)
{
    return full ? p[0] << 16 | p[1] << 8 | p[2] : colour_256(p, x, y);
}

static void set_colour(FILE *out, bool full, int which, int code)
{
    if (full)
        (void)fprintf(out, "\033[%d;2;%d;%d;%dm", which, code >> 16,
                      code >> 8 & 255, code & 255);
    else
        (void)fprintf(out, "\033[%d;5;%dm", which, code);
}

static int bright(const unsigned char *p)
{
    return (2 * p[0] + 5 * p[1] + p[2]) / 8;
}

static void put_characters(FILE *out, const unsigned char *top,
                           const unsigned char *bottom, int32_t n)
{
    static const char ramp[] = " .:-=+*#%@";

    for (; n > 0; n--, top += 3, bottom += 3)
        (void)fputc(ramp[(bright(top) + bright(bottom)) * 10 / 512], out);
}

void pfi_cli_blocks_line(FILE *out, const struct pfi_cli_terminal *terminal,
                         const struct pfi_cli_image *image, int32_t row)
{
    const bool full = terminal->colours == PFI_CLI_24_BIT;
    const size_t stride = (size_t)image->width * 3;
    const unsigned char *top = image->rgb + (size_t)row * stride;
    const unsigned char *bottom = row + 1 < image->height ? top + stride : top;
    int front = -1, back = -1;

    if (!terminal->colours) {
        put_characters(out, top, bottom, image->width);
        return;
    }
    for (int32_t x = 0; x < image->width; x++, top += 3, bottom += 3) {
        const int upper = code_of(top, full, x, row);
        const int lower = code_of(bottom, full, x, row + 1);

        if (upper != front)
            set_colour(out, full, 38, upper);
        if (lower != back)
            set_colour(out, full, 48, lower);
        front = upper;
        back = lower;
        (void)fputs("\u2580", out);
    }
    (void)fputs("\033[0m", out);
}
