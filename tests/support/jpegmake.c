/* SPDX-License-Identifier: Apache-2.0
 * A JPEG writer for tests; libjpeg's own error handler ends the program. */
#include "tests/support/jpegmake.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

static const jpeg_scan_info dc_only[3][1] = {
    {{1, {0}, 0, 0, 0, 0}}, {{0}}, {{3, {0, 1, 2}, 0, 0, 0, 0}}};

static void set_up(struct jpeg_compress_struct *c,
                   const struct jpeg_options *o)
{
    c->image_width = (JDIMENSION)o->width;
    c->image_height = (JDIMENSION)o->height;
    c->input_components = o->components;
    c->in_color_space = o->components == 1   ? JCS_GRAYSCALE
                        : o->components == 4 ? JCS_CMYK
                                             : JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, 90, TRUE);
    for (int i = 0; i < o->components; i++)
        c->comp_info[i].h_samp_factor = c->comp_info[i].v_samp_factor = 1;
    c->comp_info[0].h_samp_factor = o->h ? o->h : 1;
    c->comp_info[0].v_samp_factor = o->v ? o->v : 1;
    c->arith_code = o->arithmetic;
    c->restart_interval = o->restart;
    if (o->scans == JPEG_PROGRESSIVE)
        jpeg_simple_progression(c);
    if (o->scans == JPEG_UNFINISHED) {
        c->scan_info = dc_only[o->components - 1];
        c->num_scans = 1;
    }
}

unsigned char *make_jpeg(const struct jpeg_options *o, size_t *size)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *out = NULL;
    unsigned long n = 0;
    unsigned char *const row =
        malloc((size_t)o->width * (size_t)o->components);

    if (!row)
        abort();
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, &n);
    set_up(&c, o);
    jpeg_start_compress(&c, TRUE);
    for (int y = 0; y < o->height; y++) {
        JSAMPROW at = row;

        for (int i = 0; i < o->width * o->components; i++)
            row[i] = (unsigned char)(o->level >= 0 ? o->level
                                                   : i * 7 + y * (i % 5) * 3);
        (void)jpeg_write_scanlines(&c, &at, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
    *size = n;
    return out;
}
