/* SPDX-License-Identifier: Apache-2.0
 * Walks a directory's entries by Pillow's rules on sizes, doubles and cuts. */
#include "src/codec/ifd.h"

#include <string.h>

static uint64_t get(const struct pfi_ifd *ifd, const unsigned char *p, size_t n)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++)
        value = value << 8 | p[ifd->big_endian ? i : n - 1 - i];
    return value;
}

bool pfi_ifd_header(struct pfi_ifd *ifd, const unsigned char *data, size_t size,
                    bool exif)
{
    *ifd = (struct pfi_ifd){.data = data, .size = size};
    if (size < 8 || data[0] != data[1] || (data[0] != 'I' && data[0] != 'M'))
        return false;
    ifd->big_endian = data[0] == 'M';
    /* 42 in either order; 43 in the right one. */
    if (!(data[2] == 0 && data[3] == 42) && !(data[2] == 42 && data[3] == 0) &&
        !(data[2] == (ifd->big_endian ? 0 : 43) &&
          data[3] == (ifd->big_endian ? 43 : 0)))
        return false;
    /* Pillow looks at the third byte only: a big-endian BigTIFF is read as if
     * it were a small one. */
    ifd->big = data[2] == 43;
    if (ifd->big && (exif || size < 16))
        return false;
    ifd->next = ifd->big ? get(ifd, data + 8, 8) : get(ifd, data + 4, 4);
    return true;
}

/* Bytes of one value; 0 for an unknown type. */
static size_t type_size(unsigned type)
{
    static const unsigned char sizes[17] = {0, 1, 1, 2, 4, 8, 1, 1, 2,
                                            4, 8, 4, 8, 4, 0, 0, 8};

    return type < 17 ? sizes[type] : 0;
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What the directory's fields may take outside of it, and which are known. */
struct walk {
    uint64_t total;
    unsigned char seen[8192];
};

/* Finds the bytes of the entry at `p`: false where the directory ends there.
 * *data is NULL where the entry is skipped. */
static bool entry_data(const struct pfi_ifd *ifd, struct walk *walk,
                       const unsigned char *p, uint64_t bytes,
                       const unsigned char **data)
{
    const size_t inside = ifd->big ? 8 : 4;
    const unsigned char *const value = p + (ifd->big ? 12 : 8);

    *data = NULL;
    if (bytes <= inside) {
        *data = bytes ? value : NULL;
        return true;
    }
    const uint64_t offset = get(ifd, value, inside);

    if (offset > INT64_MAX)
        return true;
    walk->total = add_up(walk->total, bytes);
    if (walk->total > ifd->size)
        return true;
    if (offset > ifd->size || ifd->size - offset < bytes)
        return false;
    *data = ifd->data + offset;
    return true;
}

static bool take_entry(const struct pfi_ifd *ifd, struct walk *walk,
                       const unsigned char *p, struct pfi_ifd_field *fields,
                       size_t n)
{
    const unsigned tag = (unsigned)get(ifd, p, 2);
    const unsigned type = (unsigned)get(ifd, p + 2, 2);
    const uint64_t count = get(ifd, p + 4, ifd->big ? 8 : 4);
    const uint64_t unit = type_size(type);
    const unsigned char bit = (unsigned char)(1u << tag % 8);
    const unsigned char *data;

    if (walk->seen[tag / 8] & bit || !unit)
        return true;
    if (!entry_data(ifd, walk, p,
                    count > UINT64_MAX / unit ? UINT64_MAX : count * unit,
                    &data))
        return false;
    if (!data)
        return true;
    walk->seen[tag / 8] |= bit;
    for (size_t i = 0; i < n; i++)
        if (fields[i].tag == tag)
            fields[i] =
                (struct pfi_ifd_field){(uint16_t)tag, (uint16_t)type, count,
                                       data, fields[i].listed};
    return true;
}

static void list_entry(const struct pfi_ifd *ifd, const unsigned char *p,
                       struct pfi_ifd_field *fields, size_t n)
{
    const uint64_t tag = get(ifd, p, 2);

    for (size_t i = 0; i < n; i++)
        if (fields[i].tag == tag && !fields[i].listed)
            fields[i].listed = get(ifd, p + 4, ifd->big ? 8 : 4);
}

void pfi_ifd_read(struct pfi_ifd *ifd, struct pfi_ifd_field *fields, size_t n)
{
    const size_t head = ifd->big ? 8 : 2, step = ifd->big ? 20 : 12;
    const size_t foot = ifd->big ? 8 : 4;
    struct walk walk = {0};

    for (size_t i = 0; i < n; i++)
        fields[i] = (struct pfi_ifd_field){.tag = fields[i].tag};
    if (ifd->next > ifd->size || ifd->size - ifd->next < head)
        return;
    uint64_t left = get(ifd, ifd->data + ifd->next, head);
    size_t at = (size_t)ifd->next + head;
    bool whole = true;

    for (; left; left--, at += step) {
        if (ifd->size - at < step)
            return;
        whole = whole && take_entry(ifd, &walk, ifd->data + at, fields, n);
        list_entry(ifd, ifd->data + at, fields, n);
    }
    if (whole && ifd->size - at >= foot)
        ifd->next = get(ifd, ifd->data + at, foot);
}

bool pfi_ifd_int(const struct pfi_ifd *ifd, const struct pfi_ifd_field *field,
                 uint64_t i, int64_t *out)
{
    const size_t unit = type_size(field->type);
    uint64_t value;

    if (i >= field->count)
        return false;
    switch (field->type) {
    case PFI_IFD_SBYTE:
    case PFI_IFD_SHORT:
    case PFI_IFD_SSHORT:
    case PFI_IFD_LONG:
    case PFI_IFD_SLONG:
    case PFI_IFD_IFD:
    case PFI_IFD_LONG8: break;
    default: return false;
    }
    value = get(ifd, field->data + i * unit, unit);
    if (field->type == PFI_IFD_SBYTE)
        *out = (int8_t)value;
    else if (field->type == PFI_IFD_SSHORT)
        *out = (int16_t)value;
    else if (field->type == PFI_IFD_SLONG)
        *out = (int32_t)value;
    else
        *out = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return true;
}

static bool whole_fraction(const struct pfi_ifd *ifd,
                           const struct pfi_ifd_field *field,
                           const unsigned char *p, int64_t *out)
{
    const uint32_t a = (uint32_t)get(ifd, p, 4), b = (uint32_t)get(ifd, p + 4, 4);
    const bool sign = field->type == PFI_IFD_SRATIONAL;
    const int64_t above = sign ? (int32_t)a : (int64_t)a;
    const int64_t below = sign ? (int32_t)b : (int64_t)b;

    if (below == 0 || above % below)
        return false;
    *out = above / below;
    return true;
}

bool pfi_ifd_whole(const struct pfi_ifd *ifd, const struct pfi_ifd_field *field,
                   uint64_t i, int64_t *out)
{
    const unsigned char *p;
    double value;

    if (i >= field->count)
        return false;
    p = field->data + i * type_size(field->type);
    if (field->type == PFI_IFD_RATIONAL || field->type == PFI_IFD_SRATIONAL)
        return whole_fraction(ifd, field, p, out);
    if (field->type == PFI_IFD_DOUBLE) {
        const uint64_t bits = get(ifd, p, 8);

        memcpy(&value, &bits, 8);
    } else if (field->type == PFI_IFD_FLOAT) {
        const uint32_t bits = (uint32_t)get(ifd, p, 4);
        float single;

        memcpy(&single, &bits, 4);
        value = (double)single;
    } else {
        return pfi_ifd_int(ifd, field, i, out);
    }
    /* Not a number fails both; larger ones are of no use to anybody here. */
    if (!(value >= -1e15 && value <= 1e15) || (double)(int64_t)value != value)
        return false;
    *out = (int64_t)value;
    return true;
}
