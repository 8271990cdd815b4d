/* SPDX-License-Identifier: Apache-2.0
 * Order and extensions of names. */
#include "datasets/names.h"

#include <stdint.h>
#include <string.h>

/* The code point at *s, which moves on; a bad sequence gives one byte. */
static uint32_t next_point(const unsigned char **s)
{
    const unsigned char *const p = *s;
    const int n = p[0] < 0x80   ? 1
                  : p[0] < 0xC2 ? 0
                  : p[0] < 0xE0 ? 2
                  : p[0] < 0xF0 ? 3
                  : p[0] < 0xF5 ? 4
                                : 0;
    uint32_t point = n == 2   ? p[0] & 0x1Fu
                     : n == 3 ? p[0] & 0x0Fu
                     : n == 4 ? p[0] & 0x07u
                              : p[0];
    bool good = n > 0;

    for (int i = 1; good && i < n; i++) {
        good = (p[i] & 0xC0) == 0x80;
        point = point << 6 | (p[i] & 0x3Fu);
    }
    /* Overlong forms, surrogates and what is beyond Unicode are no UTF-8. */
    if (!good || (n == 3 && (point < 0x800 || (point >> 11) == 0x1B)) ||
        (n == 4 && (point < 0x10000 || point > 0x10FFFF))) {
        *s = p + 1;
        return 0xDC00u + p[0];
    }
    *s = p + n;
    return point;
}

int pfi_path_compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
    const unsigned char *p = (const unsigned char *)a;
    const unsigned char *q = (const unsigned char *)b;
    const unsigned char *const p_end = p + a_size, *const q_end = q + b_size;

    while (p < p_end && q < q_end) {
        const uint32_t x = next_point(&p), y = next_point(&q);

        if (x != y)
            return x < y ? -1 : 1;
    }
    return p < p_end ? 1 : q < q_end ? -1 : 0;
}

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

int pfi_name_compare(const char *a, const char *b)
{
    /* Most names are ASCII, and begin alike. */
    while (*a == *b && is_ascii(*a) && *a) {
        a++;
        b++;
    }
    if (is_ascii(*a) && is_ascii(*b))
        return (*a > *b) - (*a < *b);
    return pfi_path_compare(a, strlen(a), b, strlen(b));
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool ends_with(const char *name, size_t length, const char *end)
{
    const size_t n = strlen(end);

    if (length < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower(name[length - n + i]) != end[i])
            return false;
    return true;
}

bool pfi_name_is_picture(const char *name)
{
    static const char ends[][6] = {".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                   ".pgm", ".tif",  ".tiff", ".webp"};
    const size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_with(name, length, ends[i]))
            return true;
    return false;
}
