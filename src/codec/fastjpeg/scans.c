/* SPDX-License-Identifier: Apache-2.0
 * What stands between a progressive JPEG's scans.  libjpeg-turbo mends much of
 * it or only warns (jdmarker.c, jdphuff.c); here all of that is refused. */
#include <string.h>

#include "src/codec/fastjpeg/progress.h"

enum {
    DHT = 0xC4,
    RST0 = 0xD0,
    RST7 = 0xD7,
    EOI = 0xD9,
    SOS = 0xDA,
    DRI = 0xDD
};

/* The frame's component named `id`; -1 = none. */
static int component_of(const struct pfi_fast_header *h, int id)
{
    for (int c = 0; c < h->n_components; c++)
        if (h->component[c].id == id)
            return c;
    return -1;
}

static const char *take_scan(const struct pfi_fast_header *h,
                             const unsigned char *s, size_t n,
                             struct pfi_fast_band *out)
{
    const int count = n ? s[0] : 0;

    if (count < 1 || count > h->n_components || n != 4 + 2 * (size_t)count)
        return "an unusual scan header";
    for (int i = 0; i < count; i++) {
        const int c = component_of(h, s[1 + 2 * i]);

        if (c < 0 || (i && c <= out->component[i - 1]))
            return "components in another order";
        out->component[i] = c;
        out->dc[i] = s[2 + 2 * i] >> 4;
        out->ac[i] = s[2 + 2 * i] & 15;
    }
    s += 1 + 2 * count;
    out->n = count;
    out->first = s[0];
    out->last = s[1];
    out->before = s[2] >> 4;
    out->shift = s[2] & 15;
    return NULL;
}

static const char *read_band(struct pfi_fast_header *header,
                             const unsigned char *data, size_t size, size_t *at,
                             struct pfi_fast_band *out)
{
    out->n = 0;
    for (;;) {
        const unsigned char *const s = data + *at;
        const size_t left = size - *at;
        const char *why;
        size_t n;

        if (left < 2 || s[0] != 0xFF)
            return "bytes between the scans";
        if (s[1] == EOI)
            return NULL;
        if (s[1] == 0xFF) { /* padding */
            ++*at;
            continue;
        }
        if (s[1] != SOS && s[1] != DHT && s[1] != DRI)
            return "an unusual marker between scans";
        n = left < 4 ? 0 : (size_t)(s[2] << 8 | s[3]);
        if (n < 2 || left - 2 < n)
            return "headers cut short";
        *at += 2 + n;
        if (s[1] == SOS)
            return take_scan(header, s + 4, n - 2, out);
        why = s[1] == DHT ? pfi_fast_header_huffman(header, s + 4, n - 2)
                          : pfi_fast_header_restart(header, s + 4, n - 2);
        if (why)
            return why;
    }
}

/* Whether a scan may follow those before it, without a remark of libjpeg's
 * (jdphuff.c, start_pass_phuff_decoder()). */
static bool follows(struct pfi_fast_known *known, const struct pfi_fast_band *b)
{
    if (b->shift > PFI_FAST_MOST_SHIFT || b->last > 63 ||
        (b->before && b->before != b->shift + 1) ||
        (b->first ? b->n != 1 || b->last < b->first : b->last != 0))
        return false;
    for (int i = 0; i < b->n; i++) {
        int8_t *const low = known->low[b->component[i]];

        if (b->first && low[0] < 0)
            return false;
        for (int k = b->first; k <= b->last; k++) {
            if (low[k] != (b->before ? b->before : -1))
                return false;
            low[k] = (int8_t)b->shift;
        }
    }
    return true;
}

static bool is_complete(const struct pfi_fast_known *known, int n_components)
{
    for (int c = 0; c < n_components; c++)
        for (int k = 0; k < 64; k++)
            if (known->low[c][k] != 0)
                return false;
    return true;
}

void pfi_fast_scans_begin(struct pfi_fast_known *known)
{
    memset(known->low, -1, sizeof(known->low));
    known->scans = 0;
}

const char *pfi_fast_scans_next(struct pfi_fast_header *header,
                                struct pfi_fast_known *known,
                                const unsigned char *data, size_t size,
                                size_t *at, struct pfi_fast_band *out)
{
    const char *const why = read_band(header, data, size, at, out);

    if (why)
        return why;
    if (!out->n)
        return is_complete(known, header->n_components)
                   ? NULL
                   : "scans that are missing";
    known->scans++;
    return follows(known, out) ? NULL : "scans in an unusual order";
}

/* The next marker that is no restart marker; size = none. */
static size_t behind_data(const unsigned char *data, size_t size, size_t at)
{
    while (at < size) {
        const unsigned char *const ff = memchr(data + at, 0xFF, size - at);

        if (!ff)
            return size;
        at = (size_t)(ff - data);
        if (size - at < 2)
            return size;
        if (ff[1] == 0xFF)
            at++; /* padding */
        else if (ff[1] == 0 || (ff[1] >= RST0 && ff[1] <= RST7))
            at += 2;
        else
            return at;
    }
    return size;
}

const char *pfi_fast_scans_check(const struct pfi_fast_header *header,
                                 const unsigned char *data, size_t size,
                                 int32_t most)
{
    struct pfi_fast_header tables = *header;
    struct pfi_fast_known known;
    struct pfi_fast_band band;
    size_t at = header->scan_at;

    pfi_fast_scans_begin(&known);
    for (;;) {
        const char *const why =
            pfi_fast_scans_next(&tables, &known, data, size, &at, &band);

        if (why || !band.n)
            return why;
        if (known.scans > most)
            return "very many scans";
        at = behind_data(data, size, at);
    }
}
