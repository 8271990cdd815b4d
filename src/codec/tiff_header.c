/* SPDX-License-Identifier: Apache-2.0
 * The first directory's fields, combined as TiffImageFile._setup() does, with
 * what Python's types make of values of an odd type. */
#include "src/codec/tiff_header.h"

#include <string.h>

#include "src/codec/exif.h"

enum {
    WIDTH,
    HEIGHT,
    BITS,
    COMPRESSION,
    PHOTOMETRIC,
    FILL,
    STRIPS,
    ORIENTATION,
    SAMPLES,
    ROWS,
    STRIP_SIZES,
    PLANAR,
    COLORMAP,
    TILE_WIDTH,
    TILE_HEIGHT,
    TILES,
    TILE_SIZES,
    EXTRAS,
    FORMAT,
    XMP,
    PHOTO,
    N_FIELDS
};

static const uint16_t tags[N_FIELDS] = {256, 257, 258, 259, 262, 266, 273,
                                        274, 277, 278, 279, 284, 320, 322,
                                        323, 324, 325, 338, 339, 700, 0xBC01};

struct setup {
    struct pfi_tiff_info *info;
    struct pfi_ifd_field fields[N_FIELDS];
    struct pfi_tiff_key key;
    int64_t compression, planar, samples;
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "TIFF: %s", why);
}

static pinfold_status unsupported(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0, "TIFF: %s", why);
}

/* ------------------------------------------------------------------ values --- */

/* A field of one value; of several the first counts. */
static int64_t whole(const struct setup *s, int field, int64_t absent)
{
    int64_t value;

    if (!s->fields[field].type)
        return absent;
    return pfi_ifd_whole(&s->info->ifd, &s->fields[field], 0, &value)
               ? value
               : PFI_TIFF_OTHER;
}

/* Element `i` of a field that Python sees as a sequence of numbers. */
static int64_t element(const struct setup *s, int field, uint64_t i)
{
    const struct pfi_ifd_field *const f = &s->fields[field];
    int64_t value;

    if (f->type == PFI_IFD_BYTE && i < f->count)
        return f->data[i];
    return pfi_ifd_whole(&s->info->ifd, f, i, &value) ? value : PFI_TIFF_OTHER;
}

/* Bytes are a sequence, but not a tuple: they are equal to none. */
static bool is_tuple(const struct setup *s, int field)
{
    return s->fields[field].type != PFI_IFD_BYTE;
}

/* A photometric interpretation of several values is none. */
static int64_t photometric(const struct setup *s)
{
    const struct pfi_ifd_field *const f = &s->fields[PHOTOMETRIC];
    const bool one = f->type == PFI_IFD_BYTE || f->type == PFI_IFD_UNDEFINED ||
                     f->type == PFI_IFD_ASCII || f->count == 1;

    if (s->compression == 6)
        return 6;
    return one ? whole(s, PHOTOMETRIC, 0) : 0;
}

static bool is_known_compression(int64_t value)
{
    static const int32_t known[] = {1,     2,     3,     4,     5,     6,
                                    7,     8,     32771, 32773, 32809, 32946,
                                    34676, 34677, 34925, 50000, 50001};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i] == value)
            return true;
    return false;
}

/* A sample format for each band counts where all are the same. */
static int64_t sample_format(const struct setup *s)
{
    const uint64_t n = s->fields[FORMAT].count;
    const int64_t first = element(s, FORMAT, 0);

    if (!s->fields[FORMAT].type)
        return 1;
    for (uint64_t i = 1; i < n; i++)
        if (element(s, FORMAT, i) != first)
            return PFI_TIFF_OTHER;
    return n > 1 || is_tuple(s, FORMAT) ? first : PFI_TIFF_OTHER;
}

/* -------------------------------------------------------------------- mode --- */

/* The bits of each sample, which are the same in all that is known; fills in the
 * number of samples. */
static void take_bits(struct setup *s, uint64_t cut)
{
    const bool given = s->fields[BITS].type != 0;
    uint64_t n = given ? s->fields[BITS].count : 1;

    n = n > cut ? n - cut : 0;
    if (s->samples < (int64_t)n)
        n = s->samples > 0 ? (uint64_t)s->samples : 0;
    s->key.bits = PFI_TIFF_OTHER;
    s->key.samples = s->samples;
    if (!n || (s->samples > (int64_t)n && n != 1) ||
        (given && !is_tuple(s, BITS)))
        return;
    s->key.bits = given ? element(s, BITS, 0) : 1;
    for (uint64_t i = 1; i < n; i++)
        if (element(s, BITS, i) != s->key.bits)
            s->key.bits = PFI_TIFF_OTHER;
}

/* The extra samples: fills in their number and the first, where the others are
 * 0, as in all that is known.  Returns how many are left out. */
static uint64_t take_extras(struct setup *s)
{
    const struct pfi_ifd_field *const f = &s->fields[EXTRAS];
    int64_t most = PFI_TIFF_OTHER;
    bool zeros = true;

    if (!f->type)
        return 0;
    for (uint64_t i = 0; i < f->count; i++) {
        const int64_t value = element(s, EXTRAS, i);

        most = value > most ? value : most;
        zeros &= i == 0 || value == 0;
    }
    /* In planes of their own they can be passed over. */
    if (s->planar == 2 && most == 0)
        return f->count;
    s->key.extras = (int64_t)(f->count > 255 ? 255 : f->count);
    s->key.extra = zeros && is_tuple(s, EXTRAS) ? element(s, EXTRAS, 0)
                                                : PFI_TIFF_OTHER;
    return 0;
}

static pinfold_status take_mode(struct setup *s, pinfold_error *err)
{
    struct pfi_tiff_info *const info = s->info;
    struct pfi_tiff_key *const key = &s->key;
    uint64_t cut;

    key->order = info->ifd.big_endian ? 'M' : 'I';
    key->photometric = photometric(s);
    key->format = sample_format(s);
    key->fill = whole(s, FILL, 1);
    cut = take_extras(s);
    s->samples = whole(s, SAMPLES,
                       s->compression == 6 && key->photometric == 6 ? 3 : 1);
    if (s->samples < 1 || s->samples > 255)
        return unsupported(err, "an unknown number of samples");
    s->samples -= (int64_t)(cut > 255 ? 255 : cut);
    if (s->samples < 1 || s->samples > 6)
        return unsupported(err, "an unknown number of samples");
    take_bits(s, cut);
    if (!pfi_tiff_mode(key, &info->mode, &info->raw))
        return unsupported(err, "unknown kind of pixels");
    info->bits = key->bits * key->samples;
    info->bands = key->photometric == 2 || key->photometric == 6 ||
                          key->photometric == 8
                      ? 3
                  : key->photometric == 5 ? 4
                                          : 1;
    info->bands += key->extras;
    return PINFOLD_OK;
}

/* From 4.7 on libtiff wants as many sizes as offsets, where it looks: lists of
 * up to four values are read beforehand. */
static bool is_inconsistent(const struct setup *s)
{
    const bool many_offsets =
        s->fields[STRIPS].listed > 4 || s->fields[TILES].listed > 4;
    const bool many_sizes =
        s->fields[STRIP_SIZES].listed > 4 || s->fields[TILE_SIZES].listed > 4;

    return many_offsets != many_sizes;
}

/* libtiff turns bits round, gives the machine's byte order, and makes RGB of
 * YCbCr. */
static pinfold_status adapt_to_libtiff(struct setup *s, pinfold_error *err)
{
    struct pfi_tiff_info *const info = s->info;

    if (is_inconsistent(s))
        return corrupt(err, "another number of sizes than of offsets");
    if (s->key.fill == 2) {
        s->key.fill = 1;
        if (!pfi_tiff_mode(&s->key, &info->mode, &info->raw))
            return unsupported(err, "unknown kind of pixels");
    }
    if (s->key.photometric == 6) {
        info->mode = "RGB";
        info->raw = s->compression == 7 && s->planar == 1 ? "RGB" : "RGBX";
        return PINFOLD_OK;
    }
    static const char *const native[][2] = {
        {"I;16", "I;16N"},       {"I;16B", "I;16N"},
        {"RGB;16L", "RGB;16N"},  {"RGB;16B", "RGB;16N"},
        {"RGBA;16L", "RGBA;16N"}, {"RGBA;16B", "RGBA;16N"},
        {"RGBX;16L", "RGBX;16N"}, {"RGBX;16B", "RGBX;16N"},
        {"RGBa;16L", "RGBa;16N"}, {"RGBa;16B", "RGBa;16N"},
        {"CMYK;16L", "CMYK;16N"}, {"CMYK;16B", "CMYK;16N"}};

    for (size_t i = 0; i < sizeof(native) / sizeof(native[0]); i++)
        if (!strcmp(info->raw, native[i][0]))
            info->raw = native[i][1];
    return PINFOLD_OK;
}

/* ------------------------------------------------------------------- parts --- */

static pinfold_status take_size(struct setup *s, pinfold_error *err)
{
    const struct pfi_ifd *const ifd = &s->info->ifd;
    int64_t width, height;

    if (!pfi_ifd_int(ifd, &s->fields[WIDTH], 0, &width) ||
        !pfi_ifd_int(ifd, &s->fields[HEIGHT], 0, &height) || width < 1 ||
        height < 1)
        return corrupt(err, "no directory, no width or no height");
    if (width > INT32_MAX || height > INT32_MAX)
        return corrupt(err, "a side above 2147483647 pixels");
    s->info->width = (int32_t)width;
    s->info->height = (int32_t)height;
    return PINFOLD_OK;
}

static pinfold_status take_parts(struct setup *s, pinfold_error *err)
{
    struct pfi_tiff_info *const info = s->info;

    info->planar = s->planar == 2;
    info->tile_width = info->width;
    info->tile_height = info->height;
    if (s->fields[STRIPS].type) {
        info->offsets = s->fields[STRIPS];
        if (s->fields[ROWS].type &&
            !pfi_ifd_int(&info->ifd, &s->fields[ROWS], 0, &info->tile_height))
            return corrupt(err, "broken strips");
    } else if (s->fields[TILES].type) {
        info->offsets = s->fields[TILES];
        if (!pfi_ifd_int(&info->ifd, &s->fields[TILE_WIDTH], 0,
                         &info->tile_width) ||
            !pfi_ifd_int(&info->ifd, &s->fields[TILE_HEIGHT], 0,
                         &info->tile_height))
            return corrupt(err, "broken tiles");
    } else {
        return corrupt(err, "neither strips nor tiles");
    }
    if (info->tile_width < 1 || info->tile_height < 1)
        return corrupt(err, "strips or tiles of 0 pixels");
    return PINFOLD_OK;
}

/* All reds, all greens, all blues; of 16 bits the high byte. */
static pinfold_status take_palette(struct setup *s, pinfold_error *err)
{
    const struct pfi_ifd_field *const f = &s->fields[COLORMAP];
    const uint64_t n = f->count / 3;
    int64_t value;

    if (!f->type)
        return corrupt(err, "no palette");
    if (f->count * 8 / 24 > 256)
        return corrupt(err, "a palette of more than 256 colours");
    for (uint64_t i = 0; i < f->count; i++) {
        if (f->type == PFI_IFD_BYTE)
            value = 0;
        else if (!pfi_ifd_int(&s->info->ifd, f, i, &value) || value < 0 ||
                 value > 65535)
            return corrupt(err, "a broken palette");
        if (i < n * 3)
            s->info->palette[i % n][i / n] = (unsigned char)(value >> 8);
    }
    return PINFOLD_OK;
}

/* As Image.getexif(), which falls back on XMP where there is no such field. */
static pinfold_status take_orientation(struct setup *s, pinfold_error *err)
{
    const struct pfi_ifd_field *const xmp = &s->fields[XMP];
    int64_t value = whole(s, ORIENTATION, 0);

    const bool is_odd = xmp->type && xmp->type != PFI_IFD_BYTE &&
                        xmp->type != PFI_IFD_UNDEFINED &&
                        xmp->type != PFI_IFD_ASCII;

    /* What turns the picture then cuts the orientation out of XMP. */
    if (is_odd && value >= 2 && value <= 8)
        return corrupt(err, "XMP is not bytes");
    if (!s->fields[ORIENTATION].type && xmp->type) {
        if (xmp->type == PFI_IFD_BYTE || xmp->type == PFI_IFD_UNDEFINED)
            value = pfi_exif_xmp(xmp->data, (size_t)xmp->count);
        else if (!(xmp->count == 1 && element(s, XMP, 0) == 0) &&
                 !(xmp->type == PFI_IFD_ASCII && xmp->count == 1 &&
                   !xmp->data[0]))
            return corrupt(err, "XMP is not bytes");
    }
    if (value >= 1 && value <= 8)
        s->info->orientation = (int32_t)value;
    return PINFOLD_OK;
}

static pinfold_status check_kind(struct setup *s, pinfold_error *err)
{
    if (s->fields[PHOTO].type)
        return unsupported(err, "Windows Media Photo");
    s->compression = whole(s, COMPRESSION, 1);
    s->planar = whole(s, PLANAR, 1);
    s->info->compressed = s->compression != 1;
    if (!is_known_compression(s->compression))
        return unsupported(err, "unknown compression");
    if (s->compression == 50001)
        return unsupported(err, "WebP in TIFF, which Pillow's libtiff lacks");
    return PINFOLD_OK;
}

pinfold_status pfi_tiff_header(const unsigned char *data, size_t size,
                               struct pfi_tiff_info *out, pinfold_error *err)
{
    struct setup s = {.info = out};
    pinfold_status status;

    *out = (struct pfi_tiff_info){0};
    if (!pfi_ifd_header(&out->ifd, data, size, false) || !out->ifd.next ||
        out->ifd.next > INT64_MAX)
        return corrupt(err, "no directory");
    out->offset = out->ifd.next;
    for (int i = 0; i < N_FIELDS; i++)
        s.fields[i].tag = tags[i];
    pfi_ifd_read(&out->ifd, s.fields, N_FIELDS);
    status = check_kind(&s, err);
    if (!status)
        status = take_size(&s, err);
    if (!status)
        status = take_mode(&s, err);
    if (!status)
        status = out->compressed ? adapt_to_libtiff(&s, err)
                                 : take_parts(&s, err);
    if (!status && out->mode[0] == 'P')
        status = take_palette(&s, err);
    if (!status && !strcmp(out->mode, "LAB"))
        status = unsupported(err, "CIE L*a*b* pixels are not supported");
    if (!status && !strcmp(out->mode, "La"))
        status = unsupported(err, "grey multiplied by alpha is not supported");
    return status ? status : take_orientation(&s, err);
}
