/* SPDX-License-Identifier: Apache-2.0
 * DEC's sixels, and the graphics protocol of kitty. */
#include "src/cli/term.h"

#include <stdlib.h>
#include <string.h>

#include "src/cli/png.h"

/* ------------------------------------------------------------------ sixels ---
 */

/* Six levels a channel: 216 of the 256 registers that terminals have. */
enum { LEVELS = 6, REGISTERS = LEVELS * LEVELS * LEVELS, BAND = 6 };

static int register_of(const struct pfi_cli_image *image, int32_t x, int32_t y)
{
    const unsigned char *const p =
        image->rgb + ((size_t)y * (size_t)image->width + (size_t)x) * 3;
    const int more = pfi_cli_spread(x, y) * 255 / 16 + 8;
    int n = 0;

    for (int c = 0; c < 3; c++)
        n = n * LEVELS + (p[c] * (LEVELS - 1) + more) / 255;
    return n;
}

static void put_run(FILE *out, int bits, int32_t length)
{
    if (length > 3)
        (void)fprintf(out, "!%d%c", length, 63 + bits);
    else
        while (length-- > 0)
            (void)fputc(63 + bits, out);
}

/* One colour of six rows: a character has a column's. */
static void put_colour(FILE *out, const unsigned char *band, int32_t width,
                       int rows, int colour)
{
    int32_t length = 0;
    int last = 0;

    (void)fprintf(out, "#%d", colour);
    for (int32_t x = 0; x < width; x++) {
        int bits = 0;

        for (int y = 0; y < rows; y++)
            bits |= (band[(size_t)y * (size_t)width + (size_t)x] == colour)
                    << y;
        if (bits != last) {
            put_run(out, last, length);
            length = 0;
        }
        last = bits;
        length++;
    }
    if (last)
        put_run(out, last, length);
    (void)fputc('$', out);
}

static void put_band(FILE *out, const struct pfi_cli_image *image, int32_t top,
                     unsigned char *band)
{
    const int rows =
        image->height - top < BAND ? (int)(image->height - top) : BAND;
    bool used[REGISTERS] = {false};

    for (int y = 0; y < rows; y++) {
        for (int32_t x = 0; x < image->width; x++) {
            const int colour = register_of(image, x, top + y);

            band[(size_t)y * (size_t)image->width + (size_t)x] =
                (unsigned char)colour;
            used[colour] = true;
        }
    }
    for (int colour = 0; colour < REGISTERS; colour++)
        if (used[colour])
            put_colour(out, band, image->width, rows, colour);
    (void)fputs("-\n", out);
}

bool pfi_cli_sixel(FILE *out, const struct pfi_cli_image *image)
{
    unsigned char *const band = malloc((size_t)image->width * BAND);

    if (!band)
        return false;
    (void)fprintf(out, "\033P0;1;0q\"1;1;%d;%d\n", image->width, image->height);
    for (int i = 0; i < REGISTERS; i++)
        (void)fprintf(out, "#%d;2;%d;%d;%d", i,
                      i / (LEVELS * LEVELS) * 100 / (LEVELS - 1),
                      i / LEVELS % LEVELS * 100 / (LEVELS - 1),
                      i % LEVELS * 100 / (LEVELS - 1));
    for (int32_t y = 0; y < image->height; y += BAND)
        put_band(out, image, y, band);
    (void)fputs("\033\\\n", out);
    free(band);
    return true;
}

/* ------------------------------------------------------------------- kitty ---
 */

/* Bytes that make one message of at most 4096 characters. */
enum { CHUNK = 3072 };

static void put_base64(FILE *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned n = (unsigned)bytes[i] << 16 |
                           (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                           (left > 2 ? bytes[i + 2] : 0u);

        (void)fputc(digits[n >> 18], out);
        (void)fputc(digits[n >> 12 & 63], out);
        (void)fputc(left > 1 ? digits[n >> 6 & 63] : '=', out);
        (void)fputc(left > 2 ? digits[n & 63] : '=', out);
    }
}

bool pfi_cli_kitty(FILE *out, const struct pfi_cli_image *image)
{
    size_t size;
    unsigned char *const png = pfi_cli_png(image, &size);

    if (!png)
        return false;
    for (size_t i = 0; i < size; i += CHUNK) {
        const size_t n = size - i < CHUNK ? size - i : CHUNK;

        (void)fprintf(out, "\033_G%sm=%d;", i ? "" : "a=T,f=100,q=2,",
                      i + n < size);
        put_base64(out, png + i, n);
        (void)fputs("\033\\", out);
    }
    (void)fputc('\n', out);
    free(png);
    return true;
}
