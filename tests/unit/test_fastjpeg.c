/* SPDX-License-Identifier: Apache-2.0
 * The parts of the fast JPEG decoder: headers, lookup tables, unstuffing, and
 * every kernel against its C function. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "src/codec/fastjpeg/cache.h"
#include "src/codec/fastjpeg/fast.h"
#include "tests/support/draw.h"

/* -------------------------------------------------------------- headers --- */

/* Headers of one component of 8 x 8 samples. */
static const unsigned char grey[] = {
    0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0,
    /* one DC code, one AC code */
    0xFF, 0xC4, 0, 20, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0xFF, 0xC4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};
static const unsigned char scan[] = {0xFF, 0xDA, 0,  8, 1, 1, 0, 0,
                                     63,   0,    0x3F, 0xFF, 0xD9};

/* `grey`, a quantisation table of ones, `scan`; then size bytes at `at` are
 * replaced by `with`. */
static const char *why_not(size_t at, const char *with, size_t size)
{
    static struct pfi_fast_header header;
    unsigned char file[sizeof(grey) + 69 + sizeof(scan)];

    memcpy(file, grey, sizeof(grey));
    memcpy(file + sizeof(grey), "\xFF\xDB\0\x43\0", 5);
    memset(file + sizeof(grey) + 5, 1, 64);
    memcpy(file + sizeof(grey) + 69, scan, sizeof(scan));
    memcpy(file + at, with, size);
    return pfi_fast_header_read(&header, file, sizeof(file));
}

Test(fastjpeg, header)
{
    const size_t dqt = sizeof(grey), sos = sizeof(grey) + 69;

    cr_assert_null(why_not(0, "", 0));
    cr_assert_null(why_not(3, "\xC1", 1), "extended sequential");
    cr_assert_null(why_not(13, "\x22", 1), "factors of one component");
    cr_assert_str_eq(why_not(1, "\xD9", 1), "no start");
    cr_assert_str_eq(why_not(2, "\0", 1), "bytes between the headers");
    cr_assert_null(why_not(3, "\xC2", 1), "progressive");
    cr_assert_str_eq(why_not(3, "\xC9", 1),
                     "arithmetic, lossless or hierarchical coding");
    cr_assert_str_eq(why_not(3, "\xD8", 1), "an unusual marker");
    cr_assert_str_eq(why_not(6, "\x0C", 1), "not 8 bits a sample");
    cr_assert_str_eq(why_not(11, "\x04", 1), "not 1 or 3 components");
    cr_assert_str_eq(why_not(8, "\0", 1), "an unusual frame header");
    cr_assert_str_eq(why_not(13, "\x51", 1),
                     "sampling factors that are not allowed");
    cr_assert_str_eq(why_not(dqt + 4, "\x04", 1),
                     "an unusual quantisation table");
    cr_assert_str_eq(why_not(dqt + 4, "\x10", 1),
                     "an unusual quantisation table");
    cr_assert_str_eq(why_not(19, "\x04", 1), "an unusual Huffman table");
    cr_assert_str_eq(why_not(20, "\xFF", 1), "a damaged Huffman table");
    cr_assert_str_eq(why_not(sos + 4, "\x02", 1), "several scans");
    cr_assert_str_eq(why_not(sos + 5, "\x02", 1),
                     "components in another order");
    cr_assert_str_eq(why_not(sos + 6, "\x01", 1), "a table that is not there");
    cr_assert_str_eq(why_not(sos + 8, "\x05", 1), "an unusual scan header");
}

/* --------------------------------------------------------- lookup tables --- */

/* A random table; no code is all ones.  DC symbols are below 16. */
static void random_table(struct pfi_fast_huffman *h, bool dc)
{
    const uint32_t most = dc ? 16 : 162;
    uint32_t room = 1, n = 0;

    memset(h, 0, sizeof(*h));
    for (int length = 1; length <= 16; length++) {
        uint32_t count;

        room = 2 * room;
        count = draw(room < 40 ? room : 40) * draw(2);
        count = count > most - n ? most - n : count;
        h->counts[length - 1] = (unsigned char)count;
        n += count;
        room -= count;
    }
    for (uint32_t i = 0; i < n; i++)
        h->symbols[i] = (unsigned char)(dc ? draw(16) : draw(256));
}

struct bits {
    uint32_t bits;
    uint32_t left;
};

/* The next symbol, bit by bit (ITU-T T.81, F.16); -1: the bits do not do. */
static int next_symbol(struct bits *b, const struct pfi_fast_huffman *h)
{
    uint32_t code = 0, first = 0, n = 0;

    for (int length = 0; length < 16 && b->left; length++) {
        code = code << 1 | (b->bits >> --b->left & 1);
        if (code - first < h->counts[length])
            return h->symbols[n + code - first];
        n += h->counts[length];
        first = (first + h->counts[length]) << 1;
    }
    return -1;
}

/* What the symbols of an entry come to, bit by bit. */
struct decoded {
    uint32_t used, advance, tail;
    int values[300]; /* but the tail's */
};

/* Goes on until `used` bits are taken; false: no symbol ends there, or a value
 * before the last is not all there. */
static bool by_bits(uint32_t entry, uint32_t used,
                    const struct pfi_fast_huffman *h, struct decoded *d)
{
    struct bits b = {entry, PFI_FAST_BITS};

    *d = (struct decoded){0};
    while (d->used < used) {
        const uint32_t before = b.left;
        const int symbol = next_symbol(&b, h);
        const uint32_t size = (uint32_t)symbol & 15;

        if (symbol < 0 || d->advance >= PFI_FAST_END)
            return false;
        d->used += before - b.left + size;
        d->advance += symbol ? (uint32_t)(symbol >> 4) + 1 : PFI_FAST_END;
        if (d->used == used) {
            d->tail = size;
            return true;
        }
        if (size > b.left)
            return false;
        b.left -= size;
        if (size) {
            const int value = (int)(b.bits >> b.left & ((1u << size) - 1));

            d->values[d->advance - 1] =
                value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
        }
    }
    return false;
}

/* Whether the first symbol is one that no entry has. */
static bool is_special(uint32_t entry, const struct pfi_fast_huffman *h,
                       uint32_t largest)
{
    struct bits b = {entry, PFI_FAST_BITS};
    const int symbol = next_symbol(&b, h);
    const uint32_t size = (uint32_t)symbol & 15;

    return symbol < 0 || size > largest ||
           PFI_FAST_BITS - b.left + size > PFI_FAST_REACH ||
           (!size && symbol && symbol != 0xF0);
}

static void check_entry(uint32_t entry, const struct pfi_fast_table *t,
                        const struct pfi_fast_huffman *h, uint32_t largest)
{
    const uint32_t c = t->control[entry];
    struct decoded right;
    int got[300] = {0};

    cr_assert_eq(c == PFI_FAST_SPECIAL << 8, is_special(entry, h, largest));
    if (c == PFI_FAST_SPECIAL << 8)
        return;
    cr_assert(PFI_FAST_USED(c) <= PFI_FAST_REACH);
    cr_assert(by_bits(entry, PFI_FAST_USED(c), h, &right));
    cr_assert_eq(PFI_FAST_ADVANCE(c), right.advance);
    cr_assert_eq(t->tail[entry], (1u << right.tail) - 1);
    cr_assert(right.tail <= largest);
    for (uint32_t i = 0; i < 8; i++)
        got[t->offset[entry] + i] = (int8_t)(t->values[entry] >> 8 * i & 255);
    cr_assert_arr_eq(got, right.values, sizeof(got));
}

static void check_size(uint32_t entry, const struct pfi_fast_coder *coder)
{
    struct bits b = {entry, PFI_FAST_DC_BITS};
    const int symbol = next_symbol(&b, &coder->dc_from);
    const uint32_t c = coder->dc.entry[entry];

    cr_assert_eq(c, symbol < 0 ? 0
                               : (PFI_FAST_DC_BITS - b.left) |
                                     (uint32_t)symbol << 8);
}

Test(fastjpeg, lookup_tables)
{
    struct pfi_fast_building *const room = malloc(sizeof(*room));
    struct pfi_fast_coder *const coder = malloc(sizeof(*coder));
    struct pfi_fast_huffman dc, ac;

    draw_seed(1);
    for (int i = 0; i < 300; i++) {
        random_table(&dc, true);
        random_table(&ac, false);
        cr_assert(pfi_fast_coder_make(coder, &dc, &ac, room));
        for (uint32_t e = 0; e < 1u << PFI_FAST_DC_BITS; e++)
            check_size(e, coder);
        for (uint32_t e = 0; e < PFI_FAST_ENTRIES; e++)
            check_entry(e, &coder->ac, &ac, 15);
        /* As for a progressive scan. */
        const uint32_t largest = 7 + draw(9);

        pfi_fast_table_make(&coder->ac, &ac, largest, room);
        for (uint32_t e = 0; e < PFI_FAST_ENTRIES; e++)
            check_entry(e, &coder->ac, &ac, largest);
    }
    free(coder);
    free(room);
}

Test(fastjpeg, tables_that_libjpeg_refuses)
{
    static struct pfi_fast_building room;
    static struct pfi_fast_coder coder;
    const struct pfi_fast_huffman good = {.counts = {1}};
    const struct pfi_fast_huffman all_ones = {.counts = {2}};
    const struct pfi_fast_huffman too_many = {.counts = {1, 3}};
    const struct pfi_fast_huffman symbol = {.counts = {1}, .symbols = {16}};

    cr_assert(pfi_fast_coder_make(&coder, &good, &good, &room));
    cr_assert_not(pfi_fast_coder_make(&coder, &all_ones, &good, &room));
    cr_assert_not(pfi_fast_coder_make(&coder, &good, &all_ones, &room));
    cr_assert_not(pfi_fast_coder_make(&coder, &good, &too_many, &room));
    cr_assert_not(pfi_fast_coder_make(&coder, &symbol, &good, &room));
    cr_assert(pfi_fast_coder_make(&coder, &good, &symbol, &room));
}

/* Tables that differ in one length, or in the last of 256 symbols, are others;
 * the same ones are not made again. */
Test(fastjpeg, cached_tables)
{
    static struct pfi_fast_header header;
    struct pfi_fast_huffman *const tables[] = {&header.dc[0], &header.ac[0]};
    const struct pfi_fast_coder *coder, *again;
    struct pfi_arena arena;
    struct pfi_fast_cache *cache;

    cr_assert(pfi_arena_init(&arena, 1024));
    cache = pfi_fast_cache_of(&arena);
    cr_assert_not_null(cache);
    header.n_components = 1;
    header.dc[0].counts[15] = header.ac[0].counts[15] = 200;
    for (int i = 0; i < 8; i++) {
        struct pfi_fast_huffman *const t = tables[i & 1];

        if (i & 2)
            t->counts[i & 4 ? 15 : 14]++;
        else
            t->symbols[i & 4 ? 255 : 0]++;
        cr_assert_null(pfi_fast_cache_take(cache, &header, &coder));
        cr_assert_arr_eq(&coder->dc_from, &header.dc[0], sizeof(*t));
        cr_assert_arr_eq(&coder->ac_from, &header.ac[0], sizeof(*t));
        cr_assert_null(pfi_fast_cache_take(cache, &header, &again));
        cr_assert_eq(again, coder);
    }
    pfi_arena_end(&arena);
}

/* ------------------------------------------------------------ unstuffing --- */

/* Data of every length around a chunk's, with an FF 00 at every place around its
 * end, then RST0 and a second segment. */
Test(fastjpeg, unstuffing)
{
    static unsigned char data[PFI_FAST_CHUNK * 3];
    static unsigned char chunk[PFI_FAST_CHUNK + PFI_FAST_SLACK];
    static struct pfi_fast_scan s;

    for (size_t at = PFI_FAST_CHUNK - 3; at < PFI_FAST_CHUNK + 3; at++) {
        const size_t size = PFI_FAST_CHUNK + 100;

        for (size_t i = 0; i < size; i++)
            data[i] = (unsigned char)(i % 251);
        memcpy(data + at, "\xFF\0", 2);
        memcpy(data + size, "\xFF\xFF\xD0\x12\x34\xFF\xD9", 7);
        s = (struct pfi_fast_scan){.chunk = chunk, .restart = 5};
        pfi_fast_scan_begin(&s, data, data + size + 7);
        for (size_t i = 0; i < size; i++) {
            if (s.reader.at >= s.limit)
                cr_assert(pfi_fast_scan_more(&s));
            if (i == at + 1)
                continue; /* the 0 that was stuffed in */
            cr_assert_eq(*s.reader.at++, data[i]);
        }
        cr_assert(pfi_fast_scan_within(&s));
        cr_assert(pfi_fast_scan_restart(&s));
        cr_assert_eq(s.reader.at[0], 0x12);
        cr_assert_eq(s.reader.at[1], 0x34);
        s.reader.at += 2;
        cr_assert(pfi_fast_scan_finish(&s, true));
        s.reader.at++; /* a byte beyond the segment */
        cr_assert_not(pfi_fast_scan_finish(&s, true));
        cr_assert_not(pfi_fast_scan_finish(&s, false));
    }
}

Test(fastjpeg, ends)
{
    static unsigned char chunk[PFI_FAST_CHUNK + PFI_FAST_SLACK];
    static struct pfi_fast_scan s;
    static const struct {
        const char *data;
        size_t size;
        bool exact, sound;
    } cases[] = {
        {"\xFF\xD9", 2, true, true},
        {"\xFF\xFF\xD9", 3, true, true},
        {"\xFF\xD9junk", 6, true, true},
        {"\xFF", 1, false, false},
        {"", 0, false, false},
        {"\x55", 1, false, false},
        {"\x55\xFF\xD9", 3, false, true},
        {"\xFF\xD8\xFF\xD9", 4, false, false},
        {"\xFF\xD3\x01\xFF\xD9", 5, false, true},
        {"\xFF\x00\xFF\xD9", 4, false, true},
        {"\x01\xFF\xDA\xFF\xD9", 5, false, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const unsigned char *const data = (const void *)cases[i].data;

        s = (struct pfi_fast_scan){.chunk = chunk};
        pfi_fast_scan_begin(&s, data, data + cases[i].size);
        cr_assert_eq(pfi_fast_scan_finish(&s, true), cases[i].exact, "%zu", i);
        cr_assert_eq(pfi_fast_scan_finish(&s, false), cases[i].sound, "%zu", i);
    }
}

/* Seventeen DC differences of +2047 leave 16 bits: where libjpeg wraps. */
Test(fastjpeg, dc_beyond_16_bits)
{
    static unsigned char chunk[PFI_FAST_CHUNK + PFI_FAST_SLACK];
    unsigned char bits[40] = {0}, data[80];
    size_t size = 0;
    static int16_t blocks[18 * 64];
    static struct pfi_fast_building room;
    static struct pfi_fast_coder coder;
    static struct pfi_fast_scan s;
    const struct pfi_fast_huffman dc = {.counts = {1}, .symbols = {11}};
    const struct pfi_fast_huffman ac = {.counts = {1}, .symbols = {0}};
    const struct pfi_fast_kernels *k;

    cr_assert(pfi_fast_coder_make(&coder, &dc, &ac, &room));
    for (size_t bit = 0; bit < 17 * 13; bit++) /* 0 11111111111 0 */
        if (bit % 13 != 0 && bit % 13 != 12)
            bits[bit / 8] |= (unsigned char)(128 >> bit % 8);
    for (size_t i = 0; i < sizeof(bits); i++) {
        data[size++] = bits[i];
        if (bits[i] == 0xFF)
            data[size++] = 0;
    }
    for (int i = 0; (k = pfi_fast_kernels_at(i)); i++) {
        for (uint32_t count = 16; count <= 17; count++) {
            memset(blocks, 0, sizeof(blocks));
            s = (struct pfi_fast_scan){.n_blocks = 1, .chunk = chunk};
            s.coder[0] = &coder;
            pfi_fast_scan_begin(&s, data, data + size);
            cr_assert_eq(k->decode(&s, count, blocks), count == 16, "%s",
                         k->name);
            cr_assert_eq(blocks[15 * 64], 16 * 2047);
        }
    }
}

/* --------------------------------------------------------------- kernels --- */

#define MOST 200

static void random_bytes(unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(draw(3) ? draw(256) : draw(2) * 255);
}

Test(fastjpeg, idct_kernels)
{
    static int16_t blocks[7][64];
    static unsigned char right[7 * 64], got[7 * 64];
    const int16_t *from[7];
    unsigned char *to_right[7], *to_got[7];
    const struct pfi_fast_kernels *k;
    struct pfi_fast_quant quant;
    int doubts = 0;

    draw_seed(2);
    for (int round = 0; round < 20000; round++) {
        const int count = 1 + (int)draw(7);
        const uint32_t bits = draw(16);
        const int used[] = {1, 32, 64}, n = used[draw(3)];

        for (int i = 0; i < 64; i++) {
            quant.factor[i] = (int16_t)draw(draw(4) ? 4 : 256);
            quant.largest[i] = (int16_t)(
                PFI_FAST_DEQUANTISED / (quant.factor[i] ? quant.factor[i] : 1));
        }
        for (int b = 0; b < count; b++) {
            from[b] = blocks[b];
            to_right[b] = right + 64 * b;
            to_got[b] = got + 64 * b;
            memset(blocks[b], 0, sizeof(blocks[b]));
            for (int i = 0; i < n; i++)
                blocks[b][i] = (int16_t)((int)draw(1u << bits) - (1 << bits) / 2);
        }
        memset(right, 0, sizeof(right));
        const unsigned doubt = pfi_fast_idct_c(from, to_right, count, 8, &quant);
        doubts += doubt != 0;
        for (int i = 0; (k = pfi_fast_kernels_at(i)); i++) {
            memset(got, 0, sizeof(got));
            cr_assert_eq(!k->idct(from, to_got, count, 8, &quant), !doubt, "%s",
                         k->name);
            cr_assert(doubt || !memcmp(got, right, sizeof(got)), "%s", k->name);
        }
    }
    cr_assert(doubts > 2000 && doubts < 18000, "%d", doubts);
}

/* Just inside and just outside each bound. */
Test(fastjpeg, idct_bounds)
{
    static const struct {
        int at, value, doubt;
    } cases[] = {
        {0, 4091, 0}, {0, 4092, 1}, {0, -4096, 0}, {0, -4097, 1},
        {0, 8192, 1}, {0, -8192, 1}, {0, 32767, 1}, {0, -32768, 1},
        {1, 8191, 1}, {1, -32768, 1}, {63, -32768, 1}, {63, 8192, 1},
    };
    const struct pfi_fast_kernels *k;
    struct pfi_fast_quant quant;

    for (int i = 0; i < 64; i++) {
        quant.factor[i] = 1;
        quant.largest[i] = PFI_FAST_DEQUANTISED;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int16_t block[64] = {0};
        const int16_t *const from = block;
        unsigned char out[64];
        unsigned char *const to = out;

        block[cases[i].at] = (int16_t)cases[i].value;
        for (int l = 0; (k = pfi_fast_kernels_at(l)); l++)
            cr_assert_eq(k->idct(&from, &to, 1, 8, &quant) != 0, cases[i].doubt,
                         "%s: %d at %d", k->name, cases[i].value, cases[i].at);
    }
}

Test(fastjpeg, upsampling_kernels)
{
    unsigned char near[MOST + 65], far[MOST + 65], right[2 * MOST + 64],
        got[2 * MOST + 64];
    uint16_t sums[MOST + 66], sums_got[MOST + 66];
    const struct pfi_fast_kernels *k;

    draw_seed(3);
    for (size_t n = 1; n <= MOST; n++) {
        random_bytes(near, sizeof(near));
        random_bytes(far, sizeof(far));
        for (int i = 0; (k = pfi_fast_kernels_at(i)); i++) {
            pfi_fast_blend_rows_c(sums, near, far, n + 2);
            k->blend_rows(sums_got, near, far, n + 2);
            cr_assert_arr_eq(sums_got, sums, (n + 2) * sizeof(*sums));
            pfi_fast_double_blended_c(right, sums + 1, n);
            k->double_blended(got, sums + 1, n);
            cr_assert_arr_eq(got, right, 2 * n);
            pfi_fast_double_row_c(right, near + 1, n);
            k->double_row(got, near + 1, n);
            cr_assert_arr_eq(got, right, 2 * n);
        }
    }
}

/* All pairs of chroma, luma in turn, and every length. */
Test(fastjpeg, colour_kernels)
{
    static unsigned char y[65536 + 64], cb[65536 + 64], cr[65536 + 64];
    static unsigned char right[3 * 65536 + 1], got[3 * 65536 + 1];
    const struct pfi_fast_kernels *k;

    for (int step = 0; step < 16; step++) {
        for (size_t i = 0; i < 65536; i++) {
            y[i] = (unsigned char)(i * 16 + i / 251 + (size_t)step * 17);
            cb[i] = (unsigned char)(i >> 8);
            cr[i] = (unsigned char)i;
        }
        pfi_fast_ycc_to_rgb_c(right, y, cb, cr, 65536);
        for (int l = 0; (k = pfi_fast_kernels_at(l)); l++) {
            k->ycc_to_rgb(got, y, cb, cr, 65536);
            cr_assert(!memcmp(got, right, 3 * 65536), "%s", k->name);
        }
    }
    for (size_t n = 1; n < 300; n++) {
        for (int l = 0; (k = pfi_fast_kernels_at(l)); l++) {
            memset(got, 0xA5, 3 * n + 1);
            k->ycc_to_rgb(got, y, cb, cr, n);
            cr_assert(!memcmp(got, right, 3 * n), "%s", k->name);
            cr_assert_eq(got[3 * n], 0xA5, "%s writes behind %zu", k->name, n);
        }
    }
}
