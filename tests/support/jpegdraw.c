/* SPDX-License-Identifier: Apache-2.0
 * Random JPEGs of the kinds that the fast decoder takes, and damage to them. */
#include "tests/support/jpegdraw.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* Coarse tables are meant. */
static void quiet(j_common_ptr c, int level)
{
    (void)c;
    (void)level;
}

/* ---------------------------------------------------------- progressions --- */

#define MOST_SCANS 32

struct script {
    jpeg_scan_info scan[MOST_SCANS];
    int n;
};

static void add_scan(struct script *s, int first, int n, const int *band, int ah,
                     int al)
{
    jpeg_scan_info *const scan = &s->scan[s->n++];

    *scan = (jpeg_scan_info){.comps_in_scan = n, .Ss = band[0], .Se = band[1],
                             .Ah = ah, .Al = al};
    for (int i = 0; i < n; i++)
        scan->component_index[i] = first + i;
}

/* The DC of all components, in a scan each or in one. */
static void add_dc(struct script *s, int n, int ah, int al)
{
    static const int dc[2] = {0, 0};

    if (draw(2))
        add_scan(s, 0, n, dc, ah, al);
    else
        for (int c = 0; c < n; c++)
            add_scan(s, c, 1, dc, ah, al);
}

/* The AC of a component in one band or two. */
static void add_ac(struct script *s, int c, int ah, int al)
{
    const int middle = 1 + (int)draw(62);
    const int bands[][2] = {{1, middle}, {middle + 1, 63}, {1, 63}};

    if (draw(2)) {
        add_scan(s, c, 1, bands[2], ah, al);
    } else {
        const int late = (int)draw(2);

        add_scan(s, c, 1, bands[late], ah, al);
        add_scan(s, c, 1, bands[1 - late], ah, al);
    }
}

/* A random script of scans after which all is known. */
static void draw_script(struct script *s, int n)
{
    int ac[3], dc = (int)draw(3);

    s->n = 0;
    add_dc(s, n, 0, dc);
    for (int c = 0; c < n; c++) {
        ac[c] = (int)draw(3);
        add_ac(s, c, 0, ac[c]);
    }
    while (dc || ac[0] || ac[n - 1] || ac[n / 2]) {
        const int c = (int)draw((uint32_t)n);

        if (dc && draw(2)) {
            add_dc(s, n, dc, dc - 1);
            dc--;
        }
        if (ac[c]) {
            add_ac(s, c, ac[c], ac[c] - 1);
            ac[c]--;
        }
    }
}

static void set_scans(struct jpeg_compress_struct *c, struct drawn_jpeg *file)
{
    static struct script script; /* until the file is written */
    const size_t end = strlen(file->what);

    if (draw(3))
        return;
    if (draw(2)) {
        jpeg_simple_progression(c);
    } else {
        draw_script(&script, c->num_components);
        c->scan_info = script.scan;
        c->num_scans = script.n;
    }
    if (draw(4) == 0)
        c->restart_in_rows = 1 + (int)draw(3);
    (void)snprintf(file->what + end, sizeof(file->what) - end,
                   ", %d scans, restart in %d rows", c->num_scans,
                   c->restart_in_rows);
}

static void set_options(struct jpeg_compress_struct *c, struct drawn_jpeg *file)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}};
    const int *const s = samplings[draw(3)];
    const int quality = 1 + (int)draw(100);
    const int restart = draw(3) ? 0 : 1 + (int)draw(draw(4) ? 9 : 200);
    const bool rgb = c->input_components == 3 && draw(6) == 0;

    jpeg_set_defaults(c);
    jpeg_set_quality(c, quality, draw(4) != 0);
    if (rgb)
        jpeg_set_colorspace(c, JCS_RGB);
    c->comp_info[0].h_samp_factor = s[0];
    c->comp_info[0].v_samp_factor = s[1];
    c->optimize_coding = (int)draw(2);
    c->restart_interval = (unsigned)restart;
    c->dct_method = draw(2) ? JDCT_ISLOW : JDCT_IFAST;
    /* Without JFIF's marker the components' names decide. */
    c->write_JFIF_header = draw(4) != 0;
    c->write_Adobe_marker = rgb || draw(4) == 0;
    (void)snprintf(file->what, sizeof(file->what),
                   "%u x %u, %d components%s, %d x %d, quality %d, restart %d%s",
                   c->image_width, c->image_height, c->num_components,
                   rgb ? " (RGB)" : "", s[0], s[1], quality, restart,
                   c->optimize_coding ? ", optimised" : "");
    set_scans(c, file);
}

/* From flat through a slope and soft waves to full noise. */
static void make_row(unsigned char *row, size_t n, uint32_t y, uint32_t kind,
                     uint32_t noise)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t v = 128;

        if (kind & 1)
            v += (uint32_t)(i * 3 + y * 5) / 2;
        if (kind & 2)
            v += (uint32_t)((i / 7 + y / 5) % 2) * 90;
        if (kind & 4)
            v = draw(2) ? 255 : 0;
        row[i] = (unsigned char)(v + draw(noise));
    }
}

void draw_jpeg(struct drawn_jpeg *file, uint32_t side)
{
    unsigned char *const row = malloc((size_t)side * 3);
    const uint32_t kind = draw(16) ? draw(4) : 4;
    const uint32_t noise = 1u << draw(9);
    const bool grey = draw(5) == 0;
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    JSAMPROW rows = row;

    if (!row)
        abort();
    c.err = jpeg_std_error(&errors);
    errors.emit_message = quiet;
    jpeg_create_compress(&c);
    file->data = NULL;
    jpeg_mem_dest(&c, &file->data, &file->size);
    c.image_width = 1 + draw(draw(4) ? side : 20 < side ? 20 : side);
    c.image_height = 1 + draw(draw(4) ? side : 20 < side ? 20 : side);
    c.input_components = grey ? 1 : 3;
    c.in_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    set_options(&c, file);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        make_row(row, (size_t)c.image_width * 3, c.next_scanline, kind, noise);
        (void)jpeg_write_scanlines(&c, &rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
}

/* A random value whose size in bits is random too, `bits` at most. */
static JCOEF wild_value(uint32_t bits)
{
    const int value = (int)draw(1u << draw(bits + 1));

    return (JCOEF)(draw(2) ? value : -value);
}

static void fill_wildly(struct jpeg_compress_struct *c, jvirt_barray_ptr *arrays)
{
    const uint32_t bits = 4 + draw(7), density = 1 + draw(64);

    for (int i = 0; i < c->num_components; i++) {
        const jpeg_component_info *const info = &c->comp_info[i];

        for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
            const JBLOCKARRAY rows = c->mem->access_virt_barray(
                (j_common_ptr)c, arrays[i], y, 1, TRUE);

            for (JDIMENSION x = 0; x < info->width_in_blocks; x++) {
                memset(rows[0][x], 0, sizeof(JBLOCK));
                for (uint32_t k = 0; k < density; k++)
                    rows[0][x][draw(draw(2) ? 8 : 64)] = wild_value(bits);
                /* Differences must fit in 11 bits. */
                rows[0][x][0] = wild_value(10);
            }
        }
    }
}

/* The sizes that libjpeg works out when it starts, which is after the arrays
 * must be there. */
static void request_arrays(struct jpeg_compress_struct *c,
                           jvirt_barray_ptr *arrays)
{
    const JDIMENSION h = (JDIMENSION)c->comp_info[0].h_samp_factor;
    const JDIMENSION v = (JDIMENSION)c->comp_info[0].v_samp_factor;

    for (int i = 0; i < c->num_components; i++) {
        jpeg_component_info *const info = &c->comp_info[i];
        const JDIMENSION own_h = (JDIMENSION)info->h_samp_factor;
        const JDIMENSION own_v = (JDIMENSION)info->v_samp_factor;
        const JDIMENSION across = (c->image_width + 8 * h - 1) / (8 * h);
        const JDIMENSION down = (c->image_height + 8 * v - 1) / (8 * v);

        info->width_in_blocks =
            (c->image_width * own_h + 8 * h - 1) / (8 * h);
        info->height_in_blocks =
            (c->image_height * own_v + 8 * v - 1) / (8 * v);
        arrays[i] = c->mem->request_virt_barray(
            (j_common_ptr)c, JPOOL_IMAGE, TRUE, across * own_h, down * own_v,
            own_v);
    }
}

void draw_wild_jpeg(struct drawn_jpeg *file, uint32_t side)
{
    jvirt_barray_ptr arrays[3];
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;

    c.err = jpeg_std_error(&errors);
    errors.emit_message = quiet;
    jpeg_create_compress(&c);
    file->data = NULL;
    jpeg_mem_dest(&c, &file->data, &file->size);
    c.image_width = 1 + draw(side);
    c.image_height = 1 + draw(side);
    c.input_components = draw(5) ? 3 : 1;
    c.in_color_space = c.input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    set_options(&c, file);
    c.optimize_coding = TRUE;
    request_arrays(&c, arrays);
    jpeg_write_coefficients(&c, arrays);
    fill_wildly(&c, arrays);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}

void damage_jpeg(struct drawn_jpeg *file)
{
    const uint32_t n = 1 + draw(4);

    for (uint32_t i = 0; i < n; i++) {
        const size_t at = 2 + draw((uint32_t)file->size - 2);

        switch (draw(4)) {
        case 0: file->data[at] = (unsigned char)draw(256); break;
        case 1: file->data[at] ^= (unsigned char)(1u << draw(8)); break;
        case 2:
            file->data[at - 1] = 0xFF;
            file->data[at] = (unsigned char)(0xC0 + draw(64));
            break;
        default:
            if (draw(3) == 0)
                file->size = at;
            if (file->size < 4)
                return;
        }
    }
}
