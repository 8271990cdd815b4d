/* SPDX-License-Identifier: Apache-2.0
 * The APPn segments as JpegImagePlugin.APP() of Pillow 13.0.0 reads them. */
#include "src/codec/jpeg_apps.h"

#include <string.h>

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "JPEG header: %s", why);
}

static bool starts(const unsigned char *s, size_t n, const char *with,
                   size_t size)
{
    return n >= size && !memcmp(s, with, size);
}

bool pfi_jpeg_is_exif(int marker, const unsigned char *s, size_t n)
{
    return marker == 0xE1 && starts(s, n, "Exif\0", 6);
}

static uint32_t big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

#define PFI_RESOLUTION 0x03ED /* resource code; Pillow wants 14 bytes of it */

/* Image resource blocks.  Pillow stops at one whose numbers are cut, and fails
 * over one that is cut before the length of its name. */
static pinfold_status take_photoshop(const unsigned char *s, size_t n,
                                     pinfold_error *err)
{
    uint64_t at = 14;

    while (at + 6 <= n && !memcmp(s + at, "8BIM", 4)) {
        const int code = s[at + 4] << 8 | s[at + 5];

        at += 6;
        if (at >= n)
            return corrupt(err, "a Photoshop resource is cut short");
        at += 1 + (uint64_t)s[at];
        at += at & 1;
        if (at + 4 > n)
            return PINFOLD_OK;
        const uint64_t size = big32(s + at);

        at += 4;
        if (code == PFI_RESOLUTION && (size < 14 || n - at < 14))
            return PINFOLD_OK;
        at += size;
        at += at & 1;
    }
    return PINFOLD_OK;
}

static void take_icc(struct pfi_jpeg_apps *apps, const unsigned char *s,
                     size_t n)
{
    const size_t both = n < apps->icc_size ? n : apps->icc_size;
    const int order = apps->icc ? memcmp(s, apps->icc, both) : -1;

    if (order < 0 || (order == 0 && n < apps->icc_size)) {
        apps->icc = s;
        apps->icc_size = n;
    }
}

pinfold_status pfi_jpeg_app(struct pfi_jpeg_apps *apps, int marker,
                            const unsigned char *s, size_t n,
                            pinfold_error *err)
{
    if (marker == 0xE0 && starts(s, n, "JFIF", 4)) {
        if (n < 7)
            return corrupt(err, "the JFIF segment is cut short");
        if (n >= 12 && (s[7] == 1 || s[7] == 2))
            apps->has_dpi = true;
    } else if (pfi_jpeg_is_exif(marker, s, n)) {
        apps->exif_size += apps->exif ? n - 6 : n;
        if (!apps->exif) {
            apps->exif = s;
            apps->exif_first = n;
        }
    } else if (marker == 0xE2 && starts(s, n, "ICC_PROFILE", 12)) {
        take_icc(apps, s, n);
    } else if (marker == 0xED && starts(s, n, "Photoshop 3.0", 14)) {
        return take_photoshop(s, n, err);
    } else if (marker == 0xEE && starts(s, n, "Adobe", 5) && n < 7) {
        return corrupt(err, "the Adobe segment is cut short");
    }
    return PINFOLD_OK;
}

pinfold_status pfi_jpeg_join_icc(struct pfi_jpeg_apps *apps, pinfold_error *err)
{
    if (apps->icc && apps->icc_size < 14)
        return corrupt(err, "the ICC_PROFILE segment is cut short");
    apps->icc = NULL;
    apps->icc_size = 0;
    return PINFOLD_OK;
}

/* -------------------------------------------------------------------- EXIF --- */

#define PFI_TIFF_ENTRY 12

struct tag {
    int type;
    const unsigned char *s; /* NULL: not there */
    size_t n;
};

struct exif {
    const unsigned char *s;
    size_t n;
    bool big_endian;
    uint64_t outside; /* bytes of the values that lie outside their entries */
    struct tag unit, x;
    unsigned char seen[65536 / 8]; /* a bit for each tag */
};

static uint32_t get(const struct exif *e, const unsigned char *p, int bytes)
{
    uint32_t v = 0;

    for (int i = 0; i < bytes; i++)
        v = v << 8 | p[e->big_endian ? i : bytes - 1 - i];
    return v;
}

/* Bytes of a value of TIFF type `type`; 0 where Pillow knows no such. */
static unsigned unit_size(uint32_t type)
{
    static const unsigned char sizes[17] = {0, 1, 1, 2, 4, 8, 1, 1, 2,
                                            4, 8, 4, 8, 4, 0, 0, 8};

    return type < sizeof(sizes) ? sizes[type] : 0;
}

/* One entry of the directory; false where Pillow stops reading. */
static bool take_entry(struct exif *e, const unsigned char *entry)
{
    const uint32_t tag = get(e, entry, 2), type = get(e, entry + 2, 2);
    const uint64_t size = (uint64_t)get(e, entry + 4, 4) * unit_size(type);
    const unsigned char *s = entry + 8;
    struct tag *const to = tag == 0x128   ? &e->unit
                           : tag == 0x11A ? &e->x
                                          : NULL;

    if (!size || e->seen[tag / 8] >> (tag % 8) & 1)
        return true;
    if (size > 4) {
        const uint32_t at = get(e, entry + 8, 4);

        e->outside += size;
        if (e->outside > e->n)
            return true;
        if (at > e->n || e->n - at < size)
            return false;
        s = e->s + at;
    }
    e->seen[tag / 8] |= (unsigned char)(1 << tag % 8);
    if (to)
        *to = (struct tag){(int)type, s, (size_t)size};
    return true;
}

static void take_directory(struct exif *e, uint32_t at)
{
    uint32_t count;

    if (at > e->n || e->n - at < 2)
        return;
    count = get(e, e->s + at, 2);
    for (size_t p = (size_t)at + 2;
         count && e->n - p >= PFI_TIFF_ENTRY && take_entry(e, e->s + p);
         p += PFI_TIFF_ENTRY)
        count--;
}

/* Pillow divides the first element of the resolution by the second, and catches
 * every mistake but that there is none. */
static bool lacks_elements(const struct tag *x)
{
    const size_t n = x->n - (x->s[x->n - 1] == 0);

    if (x->type == 1 || x->type == 7)
        return x->n == 1;
    return x->type == 2 &&
           (n == 0 || (n == 1 && x->s[0] >= '0' && x->s[0] <= '9'));
}

pinfold_status pfi_jpeg_check_exif(const unsigned char *s, size_t n,
                                   pinfold_error *err)
{
    struct exif e = {0};

    for (int i = 0; i < 2 && starts(s, n, "Exif\0", 6); i++) {
        s += 6;
        n -= 6;
    }
    if (n < 8 || (memcmp(s, "II", 2) && memcmp(s, "MM", 2)))
        return PINFOLD_OK;
    e.s = s;
    e.n = n;
    e.big_endian = s[0] == 'M';
    /* TIFF, or with its two bytes swapped; BigTIFF's header is longer than what
     * Pillow reads here unless it is big-endian. */
    if (memcmp(s + 2, "*\0", 2) && memcmp(s + 2, "\0*", 2) &&
        (!e.big_endian || memcmp(s + 2, "\0+", 2)))
        return PINFOLD_OK;
    take_directory(&e, get(&e, s + 4, 4));
    if (e.unit.s && e.x.s && lacks_elements(&e.x))
        return corrupt(err, "the EXIF resolution is cut short");
    return PINFOLD_OK;
}
