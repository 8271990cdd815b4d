/* SPDX-License-Identifier: Apache-2.0
 * TIFF without compression: Pillow reads strips and tiles itself, in the order
 * of their offsets, and takes any number of them. */
#include <string.h>

#include "src/codec/tiff_state.h"

/* How the picture is cut: parts go from left to right, from top to bottom, plane
 * after plane, and then begin again. */
struct cut {
    const struct pfi_tiff_info *info;
    int64_t columns, per_plane; /* parts */
};

struct part {
    int64_t x, y, width, height;
    const struct pfi_unpacker *unpacker;
    uint64_t offset, row_bytes, step;
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "TIFF: %s", why);
}

static struct cut make_cut(const struct pfi_tiff_info *info)
{
    const int64_t w = info->tile_width, h = info->tile_height;
    const int64_t columns = (info->width - 1) / w + 1;

    return (struct cut){info, columns, columns * ((info->height - 1) / h + 1)};
}

static bool offset_of(const struct pfi_tiff_info *info, uint64_t i, uint64_t *out)
{
    int64_t value;

    if (info->offsets.type == PFI_IFD_BYTE) {
        *out = info->offsets.data[i];
        return true;
    }
    if (!pfi_ifd_int(&info->ifd, &info->offsets, i, &value) || value < 0)
        return false;
    *out = (uint64_t)value;
    return true;
}

/* The raw mode of the part's plane: a letter of the picture's, where planes are
 * separate. */
static const struct pfi_unpacker *find_unpacker(const struct pfi_tiff_info *info,
                                                int64_t plane)
{
    const size_t n = strlen(info->raw);

    if (!info->planar)
        return pfi_unpacker_find(info->mode, info->raw, n);
    return plane < (int64_t)n
               ? pfi_unpacker_find(info->mode, info->raw + plane, 1)
               : NULL;
}

static pinfold_status make_part(const struct cut *cut, uint64_t i,
                                struct part *out, pinfold_error *err)
{
    const struct pfi_tiff_info *const info = cut->info;
    const int64_t at = (int64_t)(i % (uint64_t)cut->per_plane);
    const int64_t w = info->tile_width, h = info->tile_height;
    int64_t step = 0;

    out->x = at % cut->columns * w;
    out->y = at / cut->columns * h;
    out->width = info->width - out->x < w ? info->width - out->x : w;
    out->height = info->height - out->y < h ? info->height - out->y : h;
    out->unpacker =
        find_unpacker(info, (int64_t)(i / (uint64_t)cut->per_plane));
    if (!out->unpacker)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "TIFF: %s%s is not supported", info->raw,
                        info->planar ? " in separate planes" : "");
    if (!offset_of(info, i, &out->offset))
        return corrupt(err, "a broken offset");
    /* Tiles are stored whole; as in Pillow only those at the right edge, where
     * it shows. */
    if (w > out->width && (w > INT64_MAX / 8 / info->bits))
        return corrupt(err, "tiles are too wide");
    if (w > out->width)
        step = info->planar ? w * info->bits / 8 / info->bands
                            : w * info->bits / 8;
    if (out->width > INT32_MAX / out->unpacker->bits - 7)
        return corrupt(err, "rows are too long");
    out->row_bytes = ((uint64_t)out->width * out->unpacker->bits + 7) / 8;
    out->step = step ? (uint64_t)step : out->row_bytes;
    if (out->step < out->row_bytes)
        return corrupt(err, "rows of tiles are too short");
    return PINFOLD_OK;
}

static pinfold_status check_part(const struct pfi_decoder *decoder,
                                 const struct part *part, pinfold_error *err)
{
    const uint64_t rows = (uint64_t)part->height - 1;
    const uint64_t left =
        part->offset < decoder->size ? decoder->size - part->offset : 0;

    if (left < part->row_bytes ||
        (rows && (left - part->row_bytes) / rows < part->step))
        return corrupt(err, "the file is cut short");
    return PINFOLD_OK;
}

static void unpack_part(const struct pfi_decoder *decoder,
                        const struct part *part)
{
    for (int64_t y = 0; y < part->height; y++) {
        unsigned char *const to =
            pfi_tiff_place(decoder, part->x, part->y + y);

        if (to)
            pfi_unpack(part->unpacker, to,
                       decoder->data + part->offset + (uint64_t)y * part->step,
                       (size_t)part->width);
    }
}

/* Of the parts for one place the one with the largest offset is read last, and
 * stays; all must be there. */
static pinfold_status read_place(const struct pfi_decoder *decoder,
                                 const struct cut *cut, uint64_t first,
                                 uint64_t every, pinfold_error *err)
{
    struct part last = {0}, part;

    for (uint64_t i = first; i < cut->info->offsets.count; i += every) {
        pinfold_status status = make_part(cut, i, &part, err);

        if (!status)
            status = check_part(decoder, &part, err);
        if (status)
            return status;
        if (i == first || part.offset >= last.offset)
            last = part;
    }
    unpack_part(decoder, &last);
    return PINFOLD_OK;
}

pinfold_status pfi_tiff_raw(struct pfi_decoder *decoder, pinfold_error *err)
{
    const struct pfi_tiff_state *const s = decoder->state;
    const struct cut cut = make_cut(&s->info);
    const uint64_t count = s->info.offsets.count;
    uint64_t places = (uint64_t)cut.per_plane;
    pinfold_status status = PINFOLD_OK;

    /* One part that is the whole picture: only the last offset is looked at. */
    if (s->info.tile_width == s->info.width &&
        s->info.tile_height == s->info.height && !s->info.planar)
        return read_place(decoder, &cut, count - 1, 1, err);
    if (s->info.planar) /* where they may not begin again */
        places = count;
    for (uint64_t i = 0; !status && i < places && i < count; i++)
        status = read_place(decoder, &cut, i, places, err);
    return status;
}
