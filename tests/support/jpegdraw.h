/* SPDX-License-Identifier: Apache-2.0
 * Random JPEGs of the kinds that the fast decoder takes, and damage to them. */
#ifndef PFI_TESTS_JPEGDRAW_H
#define PFI_TESTS_JPEGDRAW_H

#include "tests/support/draw.h"

struct drawn_jpeg {
    unsigned char *data; /* from malloc() */
    unsigned long size;
    char what[160];
};

/* Sides of 1 to `side`, grey or three components, 4:4:4, 4:2:2 or 4:2:0, any
 * quality, restart interval and tables, smooth to noisy; a third of them
 * progressive, in random scans. */
void draw_jpeg(struct drawn_jpeg *file, uint32_t side);

/* One whose coefficients are random, so that they may be more than any picture
 * has. */
void draw_wild_jpeg(struct drawn_jpeg *file, uint32_t side);

/* Some wrong bytes, a cut, or markers, anywhere behind the start. */
void damage_jpeg(struct drawn_jpeg *file);

#endif
