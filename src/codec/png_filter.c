/* SPDX-License-Identifier: Apache-2.0
 * PNG's row filters (PNG specification, third edition, 9.2): each byte was
 * stored less a guess from its neighbours. */
#include "src/codec/png_filter.h"

#include <stdlib.h>

/* The loops are written once; with bpp known at compile time the pixels to the
 * left stay in registers. */
#define FOR_EACH_BPP(function)                                                 \
    switch (bpp) {                                                             \
    case 1: function(row, up, n, 1); break;                                    \
    case 2: function(row, up, n, 2); break;                                    \
    case 3: function(row, up, n, 3); break;                                    \
    case 4: function(row, up, n, 4); break;                                    \
    case 6: function(row, up, n, 6); break;                                    \
    default: function(row, up, n, bpp); break;                                 \
    }

static inline void undo_sub(unsigned char *row, const unsigned char *up,
                            size_t n, size_t bpp)
{
    (void)up;
    for (size_t i = bpp; i < n; i++)
        row[i] = (unsigned char)(row[i] + row[i - bpp]);
}

static void undo_up(unsigned char *row, const unsigned char *up, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] = (unsigned char)(row[i] + up[i]);
}

static inline void undo_average(unsigned char *row, const unsigned char *up,
                                size_t n, size_t bpp)
{
    for (size_t i = 0; i < bpp && i < n; i++)
        row[i] = (unsigned char)(row[i] + (up[i] >> 1));
    for (size_t i = bpp; i < n; i++)
        row[i] = (unsigned char)(row[i] + ((row[i - bpp] + up[i]) >> 1));
}

/* Of left, up and up-left the one nearest to left + up - up-left; ties go to
 * the first named. */
static inline int paeth(int left, int up, int corner)
{
    const int to_left = abs(up - corner), to_up = abs(left - corner);
    const int to_corner = abs(left + up - 2 * corner);
    const int nearer = to_up <= to_corner ? up : corner;

    return to_left <= to_up && to_left <= to_corner ? left : nearer;
}

static inline void undo_paeth(unsigned char *row, const unsigned char *up,
                              size_t n, size_t bpp)
{
    for (size_t i = 0; i < bpp && i < n; i++)
        row[i] = (unsigned char)(row[i] + up[i]);
    for (size_t i = bpp; i < n; i++)
        row[i] = (unsigned char)(row[i] +
                                 paeth(row[i - bpp], up[i], up[i - bpp]));
}

void pfi_png_unfilter(unsigned char *row, const unsigned char *up, size_t n,
                      size_t bpp, int type)
{
    if (type == 1) {
        FOR_EACH_BPP(undo_sub)
    } else if (type == 2) {
        undo_up(row, up, n);
    } else if (type == 3) {
        FOR_EACH_BPP(undo_average)
    } else if (type == 4) {
        FOR_EACH_BPP(undo_paeth)
    }
}
