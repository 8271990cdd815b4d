/* SPDX-License-Identifier: Apache-2.0
 * Reads the orientation out of an EXIF block or XMP, and finds a JPEG's. */
#include "src/codec/exif.h"

#include <string.h>

#include "src/codec/ifd.h"

#define PFI_TAG_ORIENTATION 274

int32_t pfi_exif_xmp(const unsigned char *xmp, size_t size)
{
    static const char name[] = "tiff:Orientation";
    const size_t n = sizeof(name) - 1;

    /* The regular expression tiff:Orientation(="|>)([0-9]). */
    for (size_t i = 0; i + n + 2 <= size; i++) {
        const unsigned char *p = xmp + i;

        if (memcmp(p, name, n))
            continue;
        p += n;
        if (*p == '>')
            p++;
        else if (size - i - n >= 3 && p[0] == '=' && p[1] == '"')
            p += 2;
        else
            continue;
        if (*p >= '0' && *p <= '9')
            return *p - '0';
    }
    return 0;
}

/* Behind at most `most` times "Exif\0\0". */
static void skip_names(const unsigned char **p, size_t *n, int most)
{
    for (int i = 0; i < most && *n >= 6 && !memcmp(*p, "Exif\0\0", 6); i++) {
        *p += 6;
        *n -= 6;
    }
}

/* false where the header is broken; *there says whether the block has the
 * field, of whatever type. */
static bool from_block(const struct pfi_exif *info, bool *there, int32_t *out)
{
    const unsigned char *p = info->exif;
    size_t n = info->exif_size;
    struct pfi_ifd_field field = {.tag = PFI_TAG_ORIENTATION};
    struct pfi_ifd ifd;
    int64_t value;

    skip_names(&p, &n, info->bare ? 1 : 2);
    if (!n)
        return true;
    if (!pfi_ifd_header(&ifd, p, n, true))
        return false;
    pfi_ifd_read(&ifd, &field, 1);
    *there = field.type != 0;
    if (*there && pfi_ifd_whole(&ifd, &field, 0, &value) && value >= 1 &&
        value <= 8)
        *out = (int32_t)value;
    return true;
}

pinfold_status pfi_exif_orientation(const struct pfi_exif *info,
                                    const char *format, int32_t *out,
                                    pinfold_error *err)
{
    bool there = false;
    int32_t value = 0;

    *out = 0;
    if (info->exif && !from_block(info, &there, &value)) {
        if (info->lenient)
            return PINFOLD_OK;
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "%s: the EXIF block is broken", format);
    }
    if (!there && info->xmp && info->xmp_is_text)
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "%s: XMP in a text chunk named xmp", format);
    if (!there && info->xmp)
        value = pfi_exif_xmp(info->xmp, info->xmp_size);
    *out = value >= 1 && value <= 8 ? value : 0;
    return PINFOLD_OK;
}

/* ------------------------------------------------------------------ JPEG --- */

/* The segments, joined where there are several. */
struct jpeg_walk {
    struct pfi_exif *out;
    struct pfi_arena *arena;
    bool has_dpi, ok;
};

static void add_exif(struct jpeg_walk *w, const unsigned char *s, size_t n)
{
    unsigned char *joined;

    if (!w->out->exif) {
        w->out->exif = s;
        w->out->exif_size = n;
        return;
    }
    joined = pfi_arena_alloc(w->arena, w->out->exif_size + n - 6);
    if (!joined) {
        w->ok = false;
        return;
    }
    memcpy(joined, w->out->exif, w->out->exif_size);
    memcpy(joined + w->out->exif_size, s + 6, n - 6);
    w->out->exif = joined;
    w->out->exif_size += n - 6;
}

static void take_app(struct jpeg_walk *w, int marker, const unsigned char *s,
                     size_t n)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/";

    if (marker == 0xE0 && n >= 12 && !memcmp(s, "JFIF", 4) &&
        (s[7] == 1 || s[7] == 2)) {
        w->has_dpi = true;
    } else if (marker == 0xE1 && n >= 6 && !memcmp(s, "Exif\0\0", 6)) {
        add_exif(w, s, n);
    } else if (marker == 0xE1 && n >= sizeof(xmp) &&
               !memcmp(s, xmp, sizeof(xmp))) {
        w->out->xmp = s + sizeof(xmp);
        w->out->xmp_size = n - sizeof(xmp);
    }
}

/* As pfi_jpeg_header(), which has found every marker whole. */
bool pfi_exif_from_jpeg(struct pfi_exif *out, struct pfi_arena *arena,
                        const unsigned char *data, size_t size)
{
    struct jpeg_walk w = {.out = out, .arena = arena, .ok = true};
    size_t at = 2;

    *out = (struct pfi_exif){0};
    while (w.ok) {
        while (at < size && data[at] != 0xFF)
            at++;
        if (at + 4 > size)
            break;
        const int marker = data[at + 1];
        const size_t n = (size_t)(data[at + 2] << 8 | data[at + 3]);

        if (marker == 0xFF) {
            at++;
            continue;
        }
        at += 2;
        if (marker == 0xDA)
            break;
        /* Without a segment: 00, JPG, RSTn, SOI, EOI, JPGn. */
        if (marker < 0xC0 || marker == 0xC8 || (marker >= 0xD0 && marker <= 0xD9) ||
            (marker >= 0xF0 && marker <= 0xFD))
            continue;
        if (n > 2 && size - at >= n)
            take_app(&w, marker, data + at + 2, n - 2);
        at += n < 2 ? 2 : n;
        if (at > size)
            break;
    }
    /* Pillow looks for a resolution in the EXIF block where JFIF has none, and
     * forgives all there; what it failed to load is not loaded again. */
    out->lenient = !w.has_dpi;
    return w.ok;
}
