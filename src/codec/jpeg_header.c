/* SPDX-License-Identifier: Apache-2.0
 * The walk over a JPEG's markers that decides what Pillow calls a picture. */
#include "src/codec/jpeg_header.h"

#include <string.h>

#include "src/codec/jpeg_apps.h"

struct walk {
    const unsigned char *data;
    size_t size, at;
    struct pfi_jpeg_header header;
    struct pfi_jpeg_apps apps;
    unsigned char *exif; /* where to join the EXIF segments, or NULL */
    size_t exif_size;
    bool in_scan;
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "JPEG header: %s", why);
}

static pinfold_status take_frame(struct walk *w, int marker,
                                 const unsigned char *s, size_t n,
                                 pinfold_error *err)
{
    pinfold_status status;

    if (n < 6)
        return corrupt(err, "the frame header is cut short");
    if (s[0] != 8)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "JPEG of %d bits a sample is not supported", s[0]);
    w->header.height = s[1] << 8 | s[2];
    w->header.width = s[3] << 8 | s[4];
    w->header.components = s[5];
    if (s[5] != 1 && s[5] != 3 && s[5] != 4)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "JPEG of %d components is not supported", s[5]);
    w->header.arithmetic = marker >= 0xC9 && marker != 0xDE;
    status = pfi_jpeg_join_icc(&w->apps, err);
    if (!status && (n - 6) % 3)
        return corrupt(err, "the frame header's size is odd");
    return status;
}

static pinfold_status check_tables(const unsigned char *s, size_t n,
                                   pinfold_error *err)
{
    while (n) {
        const size_t length = 1 + (s[0] >> 4 ? 2u : 1u) * 64;

        if (n < length)
            return corrupt(err, "a quantisation table is cut short");
        s += length;
        n -= length;
    }
    return PINFOLD_OK;
}

static bool is_frame(int marker)
{
    /* DHP, and SOF0 .. SOF15 but for DHT, JPG and DAC */
    return marker == 0xDE || (marker >= 0xC0 && marker <= 0xCF &&
                              marker != 0xC4 && marker != 0xC8 &&
                              marker != 0xCC);
}

/* Markers without a segment: JPG, RSTn, SOI, EOI, and the reserved JPGn. */
static bool is_bare(int marker)
{
    return marker == 0xC8 || (marker >= 0xD0 && marker <= 0xD9) ||
           (marker >= 0xF0 && marker <= 0xFD);
}

/* The second walk: copies what the first one counted. */
static pinfold_status join_exif(struct walk *w, int marker,
                                const unsigned char *s, size_t n)
{
    const size_t left_out = w->exif_size ? 6 : 0;

    if (!pfi_jpeg_is_exif(marker, s, n))
        return PINFOLD_OK;
    memcpy(w->exif + w->exif_size, s + left_out, n - left_out);
    w->exif_size += n - left_out;
    return PINFOLD_OK;
}

/* The segment behind a marker; `at` is behind the marker and moves on. */
static pinfold_status take_segment(struct walk *w, int marker,
                                   pinfold_error *err)
{
    const unsigned char *s = w->data + w->at;
    size_t n;

    if (w->size - w->at < 2)
        return corrupt(err, "cut short");
    n = (size_t)(s[0] << 8 | s[1]);
    w->at += 2;
    if (n < 2)
        n = 2; /* reads nothing */
    n -= 2;
    if (w->size - w->at < n)
        return corrupt(err, "a segment is cut short");
    s = w->data + w->at;
    w->at += n;
    if (w->exif)
        return join_exif(w, marker, s, n);
    if (is_frame(marker))
        return take_frame(w, marker, s, n, err);
    if (marker == 0xDB)
        return check_tables(s, n, err);
    return pfi_jpeg_app(&w->apps, marker, s, n, err);
}

static pinfold_status take_marker(struct walk *w, int marker,
                                  pinfold_error *err)
{
    if (marker < 0xC0)
        return corrupt(err, "no marker where one was expected");
    if (marker == 0xDA)
        w->in_scan = true;
    return is_bare(marker) ? PINFOLD_OK : take_segment(w, marker, err);
}

/* Steps to the next 0xFF and what follows it. */
static pinfold_status step(struct walk *w, pinfold_error *err)
{
    int marker;

    while (w->at < w->size && w->data[w->at] != 0xFF)
        w->at++;
    if (w->size - w->at < 2)
        return corrupt(err, "ends before the picture begins");
    marker = w->data[w->at + 1];
    if (marker == 0xFF) { /* padding */
        w->at++;
        return PINFOLD_OK;
    }
    w->at += 2;
    return marker == 0 ? PINFOLD_OK : take_marker(w, marker, err);
}

static pinfold_status walk(struct walk *w, pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;

    w->in_scan = false;
    /* Pillow reads the first three bytes, FF D8 FF, and goes on from the last. */
    for (w->at = 2; !status && !w->in_scan;)
        status = step(w, err);
    return status;
}

static pinfold_status check_exif(struct walk *w, struct pfi_arena *arena,
                                 pinfold_error *err)
{
    const struct pfi_jpeg_apps *const apps = &w->apps;

    if (!apps->exif || apps->has_dpi)
        return PINFOLD_OK;
    if (apps->exif_size == apps->exif_first)
        return pfi_jpeg_check_exif(apps->exif, apps->exif_size, err);
    w->exif = pfi_arena_alloc(arena, apps->exif_size);
    if (!w->exif)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for EXIF data");
    const pinfold_status status = walk(w, err);

    return status ? status : pfi_jpeg_check_exif(w->exif, w->exif_size, err);
}

pinfold_status pfi_jpeg_header(const unsigned char *data, size_t size,
                               struct pfi_arena *arena,
                               struct pfi_jpeg_header *out, pinfold_error *err)
{
    struct walk w = {.data = data, .size = size};
    pinfold_status status = walk(&w, err);

    if (status)
        return status;
    if (w.header.components == 0)
        return corrupt(err, "no frame before the first scan");
    if (w.header.width == 0 || w.header.height == 0)
        return corrupt(err, "a side of 0 pixels");
    *out = w.header;
    out->scan = w.at;
    return check_exif(&w, arena, err);
}

int32_t pfi_jpeg_scans(const unsigned char *data, size_t size, size_t at,
                       int32_t most)
{
    int32_t scans = 1;

    while (scans <= most && at < size) {
        const unsigned char *const p = memchr(data + at, 0xFF, size - at);
        int marker;

        if (!p || (size_t)(p - data) + 2 > size)
            return scans;
        marker = p[1];
        at = (size_t)(p - data) + (marker == 0xFF ? 1 : 2);
        if (marker == 0xD9)
            return scans;
        if (marker < 0xC0 || marker == 0xFF || is_bare(marker))
            continue;
        if (size - at < 2)
            return scans;
        scans += marker == 0xDA;
        at += (size_t)(data[at] << 8 | data[at + 1]);
    }
    return scans;
}
