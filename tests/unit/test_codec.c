/* SPDX-License-Identifier: Apache-2.0
 * Odd and damaged files, listed in tests/golden/codec.tsv with what Pillow
 * 13.0.0 makes of them (scripts/make-codec-golden). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/decode.h"
#include "tests/support/sha256hex.h"

struct line {
    char file[128], verdict[16], width[16], height[16], pixels[65], cuts[65];
};

static int verdict_is(const struct line *l, const char *verdict)
{
    return !strcmp(l->verdict, verdict);
}

static void check_pixels(const struct line *l, const struct decoded *d)
{
    char hex[65];

    sha256_hex(d->rgb, d->size, hex);
    cr_expect_eq(d->width, atoi(l->width), "%s", l->file);
    cr_expect_eq(d->height, atoi(l->height), "%s", l->file);
    cr_expect_str_eq(hex, l->pixels, "%s", l->file);
}

static void check(const struct line *l, const unsigned char *data, size_t size,
                  int *refused_newer)
{
    struct decoded d = decode(data, size);
    const pinfold_status status = d.err.status;

    if (verdict_is(l, "decode"))
        cr_expect_eq(status, PINFOLD_OK, "%s: %s", l->file, d.err.message);
    else if (verdict_is(l, "limit"))
        cr_expect_eq(status, PINFOLD_E_LIMIT, "%s: %s", l->file, d.err.message);
    else if (verdict_is(l, "error"))
        cr_expect(status == PINFOLD_E_CORRUPT ||
                      status == PINFOLD_E_UNSUPPORTED ||
                      status == PINFOLD_E_FORMAT,
                  "%s: status %d: %s", l->file, status, d.err.message);
    else if (status != PINFOLD_OK) {
        cr_expect_eq(status, PINFOLD_E_UNSUPPORTED, "%s: %s", l->file,
                     d.err.message);
        ++*refused_newer;
    }
    if (status == PINFOLD_OK && !verdict_is(l, "error"))
        check_pixels(l, &d);
    free(d.rgb);
}

/* What becomes of the file's beginnings, as the generator writes it. */
static void check_cuts(const struct line *l, const unsigned char *data,
                       size_t size)
{
    char *const all = malloc((size + 1) * 64 + 1), *p = all, hex[65];

    for (size_t n = 0; n <= size; n++) {
        struct decoded d = decode(data, n);

        if (d.err.status == PINFOLD_OK) {
            sha256_hex(d.rgb, d.size, p);
            p += 64;
        } else {
            *p++ = 'E';
        }
        free(d.rgb);
    }
    sha256_hex(all, (size_t)(p - all), hex);
    cr_expect_str_eq(hex, l->cuts, "beginnings of %s", l->file);
    free(all);
}

static int each_line(void (*call)(const struct line *, const unsigned char *,
                                  size_t, int *),
                     int *count)
{
    FILE *const list = fopen(PFI_GOLDEN_DIR "/codec.tsv", "r");
    char text[512], path[1024];
    struct line l;
    int lines = 0;

    cr_assert_not_null(list);
    while (fgets(text, sizeof(text), list)) {
        size_t size;
        unsigned char *data;

        if (text[0] == '#')
            continue;
        cr_assert_eq(sscanf(text, "%127s %15s %15s %15s %64s %64s", l.file,
                            l.verdict, l.width, l.height, l.pixels, l.cuts),
                     6, "%s", text);
        (void)snprintf(path, sizeof(path), PFI_GOLDEN_DIR "/codec/%s", l.file);
        data = read_file(path, &size);
        cr_assert_not_null(data, "%s", path);
        call(&l, data, size, count);
        free(data);
        lines++;
    }
    (void)fclose(list);
    return lines;
}

Test(codec, gives_pillows_verdict_and_pixels)
{
    int refused_newer = 0;
    const int lines = each_line(check, &refused_newer);

    cr_assert_geq(lines, 400);
    /* None of these is made for a libjpeg-turbo of 3.0.1 or later to refuse. */
    cr_assert_leq(refused_newer, 80);
}

static void cut(const struct line *l, const unsigned char *data, size_t size,
                int *count)
{
    if (strcmp(l->cuts, "-")) {
        check_cuts(l, data, size);
        ++*count;
    }
}

Test(codec, judges_every_beginning_as_pillow)
{
    int files = 0;

    (void)each_line(cut, &files);
    cr_assert_eq(files, 44);
}
