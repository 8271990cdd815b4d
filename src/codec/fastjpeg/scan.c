/* SPDX-License-Identifier: Apache-2.0
 * Takes stuffing out of the coded data, a chunk at a time, and steps from one
 * restart segment to the next. */
#include "src/codec/fastjpeg/scan.h"

#include <string.h>

enum { RST0 = 0xD0, RST7 = 0xD7, EOI = 0xD9 };

/* Copies up to `room` bytes of the segment to `to`, FF 00 as FF, and returns how
 * many.  Stops for good at any other FF: libjpeg's two readers differ in what
 * FF FF 00 is (jdhuff.c), and a marker ends the segment. */
static size_t unstuff(struct pfi_fast_scan *scan, unsigned char *to,
                      size_t room)
{
    unsigned char *const start = to;

    while (room) {
        const size_t have = (size_t)(scan->end - scan->from);
        const size_t n = have < room ? have : room;
        const unsigned char *const ff = memchr(scan->from, 0xFF, n);
        const size_t plain = ff ? (size_t)(ff - scan->from) : n;

        memcpy(to, scan->from, plain);
        to += plain;
        room -= plain;
        scan->from += plain;
        if (!ff && n < room + plain)
            break; /* no data left */
        if (!ff)
            continue;
        if (scan->end - scan->from < 2 || scan->from[1] != 0)
            break;
        *to++ = 0xFF;
        room--;
        scan->from += 2;
    }
    scan->segment_ends = room > 0;
    return (size_t)(to - start);
}

/* Unstuffs behind the `kept` bytes that the chunk begins with. */
static void fill(struct pfi_fast_scan *scan, size_t kept)
{
    const size_t n = unstuff(scan, scan->chunk + kept, PFI_FAST_CHUNK - kept);
    unsigned char *const end = scan->chunk + kept + n;

    scan->data_end = end;
    /* The reader looks up to 8 bytes ahead: of what follows a segment it must
     * see the same whenever it is decoded. */
    memset(end, 0, 64);
    scan->limit = scan->segment_ends ? end : end - PFI_FAST_MCU_BYTES - 8;
}

static void begin_segment(struct pfi_fast_scan *scan)
{
    fill(scan, 0);
    scan->reader = (struct pfi_fast_bits){.at = scan->chunk};
    memset(scan->dc, 0, sizeof(scan->dc));
    scan->mcus_left = scan->restart ? scan->restart : UINT32_MAX;
}

void pfi_fast_scan_begin(struct pfi_fast_scan *scan, const unsigned char *data,
                         const unsigned char *end)
{
    scan->from = data;
    scan->end = end;
    scan->next_restart = 0;
    scan->doubt = 0;
    memset(scan->chunk, 0, PFI_FAST_CHUNK + PFI_FAST_SLACK);
    begin_segment(scan);
}

bool pfi_fast_scan_within(const struct pfi_fast_scan *scan)
{
    const struct pfi_fast_bits *const r = &scan->reader;

    return !scan->segment_ends ||
           (r->at - scan->data_end) * 8 <= (ptrdiff_t)r->n;
}

bool pfi_fast_scan_more(struct pfi_fast_scan *scan)
{
    const size_t kept = (size_t)(scan->data_end - scan->reader.at);

    if (scan->segment_ends)
        return pfi_fast_scan_within(scan);
    memmove(scan->chunk, scan->reader.at, kept);
    scan->reader.at = scan->chunk;
    fill(scan, kept);
    return true;
}

bool pfi_fast_scan_used_up(struct pfi_fast_scan *scan)
{
    const struct pfi_fast_bits *const r = &scan->reader;
    ptrdiff_t left;

    if (!scan->segment_ends && !pfi_fast_scan_more(scan))
        return false;
    left = (scan->data_end - r->at) * 8 + (ptrdiff_t)r->n;
    return scan->segment_ends && left >= 0 && left < 8;
}

/* The marker at scan->from, behind any padding; 0 = none. */
static int marker(const struct pfi_fast_scan *scan)
{
    const unsigned char *at = scan->from;

    if (at == scan->end || *at != 0xFF)
        return 0;
    while (at < scan->end && *at == 0xFF)
        at++;
    return at < scan->end ? *at : 0;
}

static void skip_marker(struct pfi_fast_scan *scan)
{
    while (*scan->from == 0xFF)
        scan->from++;
    scan->from++;
}

bool pfi_fast_scan_restart(struct pfi_fast_scan *scan)
{
    if (!pfi_fast_scan_used_up(scan) ||
        marker(scan) != RST0 + scan->next_restart)
        return false;
    skip_marker(scan);
    scan->next_restart = (scan->next_restart + 1) & 7;
    begin_segment(scan);
    return true;
}

bool pfi_fast_scan_finish(struct pfi_fast_scan *scan, bool exact)
{
    const unsigned char *at = scan->from;

    if (!pfi_fast_scan_within(scan) || scan->doubt)
        return false;
    if (exact)
        return pfi_fast_scan_used_up(scan) && marker(scan) == EOI;
    while (at < scan->end) {
        at = memchr(at, 0xFF, (size_t)(scan->end - at));
        if (!at || at + 1 >= scan->end)
            return false;
        at++;
        if (*at == EOI)
            return true;
        if (*at != 0xFF && *at != 0 && (*at < RST0 || *at > RST7))
            return false;
    }
    return false;
}
