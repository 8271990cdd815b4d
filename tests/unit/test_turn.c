/* SPDX-License-Identifier: Apache-2.0
 * The eight orientations, whole and in windows, on a format made for it. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "src/codec/turn.h"

/* A picture of 3 columns and 2 rows whose pixels are a b c / d e f. */
#define COLUMNS 3
#define ROWS 2

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    (void)err;
    *(int32_t *)decoder->state = decoder->window.top;
    return PINFOLD_OK;
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    int32_t *const y = decoder->state;

    (void)err;
    for (int32_t x = decoder->window.left; x < decoder->window.right; x++)
        memset(rgb + 3 * (x - decoder->window.left), 'a' + *y * COLUMNS + x, 3);
    ++*y;
    return PINFOLD_OK;
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    (void)err;
    *(int32_t *)decoder->state = -1;
    return PINFOLD_OK;
}

static const struct pfi_codec codec = {"test", NULL, NULL, start,
                                       row,    finish, NULL};

/* The window's pixels as letters, row after row, of the picture shown with that
 * orientation; its size before. */
static void show(int32_t orientation, struct pfi_window window, char out[32])
{
    const struct pfi_limits limits = {.scratch = 1 << 20};
    int32_t y = 0;
    struct pfi_arena arena;
    struct pfi_decoder d = {.codec = &codec,
                            .arena = &arena,
                            .width = COLUMNS,
                            .height = ROWS,
                            .limits = &limits,
                            .orientation = orientation,
                            .state = &y};
    unsigned char rgb[3 * COLUMNS * ROWS];
    size_t n;

    cr_assert(pfi_arena_init(&arena, 4096));
    cr_assert_eq(pfi_turn_open(&d, NULL), PINFOLD_OK);
    n = (size_t)sprintf(out, "%dx%d", d.width, d.height);
    if (!window.right)
        window = (struct pfi_window){0, 0, d.width, d.height};
    cr_assert_eq(pfi_decoder_start(&d, &window, NULL), PINFOLD_OK);
    for (int32_t i = window.top; i < window.bottom; i++) {
        cr_assert_eq(pfi_decoder_row(&d, rgb, NULL), PINFOLD_OK);
        out[n++] = ' ';
        for (int32_t x = 0; x < window.right - window.left; x++) {
            cr_assert(rgb[3 * x] == rgb[3 * x + 1] &&
                      rgb[3 * x] == rgb[3 * x + 2]);
            out[n++] = (char)rgb[3 * x];
        }
    }
    out[n] = '\0';
    cr_assert_eq(pfi_decoder_finish(&d, NULL), PINFOLD_OK);
    cr_assert_eq(y, -1, "the codec's finish was not called");
    pfi_arena_end(&arena);
}

Test(turn, shows_the_eight_orientations)
{
    static const char *const shown[] = {
        "3x2 abc def",  "3x2 abc def",  "3x2 cba fed",  "3x2 fed cba",
        "3x2 def abc",  "2x3 ad be cf", "2x3 da eb fc", "2x3 fc eb da",
        "2x3 cf be ad", "3x2 abc def"};

    for (int32_t o = 0; o < 10; o++) {
        char out[32];

        show(o, (struct pfi_window){0}, out);
        cr_assert_str_eq(out, shown[o], "orientation %d", o);
    }
}

/* Pixel (x, y) of the text that show() writes. */
static char at(const char *text, int32_t width, int32_t x, int32_t y)
{
    return text[4 + y * (width + 1) + x];
}

Test(turn, shows_windows)
{
    for (int32_t o = 0; o < 9; o++) {
        char whole[32], part[32];

        show(o, (struct pfi_window){0}, whole);
        const int32_t width = whole[0] - '0', height = whole[2] - '0';

        for (int32_t i = 0; i < width * height; i++)
            for (int32_t j = i; j < width * height; j++) {
                const struct pfi_window w = {i % width, i / width,
                                             j % width + 1, j / width + 1};

                if (w.right <= w.left)
                    continue;
                show(o, w, part);
                for (int32_t y = w.top; y < w.bottom; y++)
                    for (int32_t x = w.left; x < w.right; x++)
                        cr_assert_eq(at(part, w.right - w.left, x - w.left,
                                        y - w.top),
                                     at(whole, width, x, y), "%d: %s, %s", o,
                                     whole, part);
            }
    }
}

Test(turn, costs_nothing_where_upright)
{
    struct pfi_decoder d = {.width = 3, .height = 2, .orientation = 1};

    cr_assert_eq(pfi_turn_open(&d, NULL), PINFOLD_OK);
    cr_assert_null(d.turned);
}

Test(turn, is_limited)
{
    const struct pfi_limits limits = {.scratch = 17};
    const struct pfi_window window = {0, 0, ROWS, COLUMNS};
    int32_t y = 0;
    struct pfi_arena arena;
    struct pfi_decoder d = {.codec = &codec,
                            .arena = &arena,
                            .width = COLUMNS,
                            .height = ROWS,
                            .limits = &limits,
                            .orientation = 6,
                            .state = &y};

    cr_assert(pfi_arena_init(&arena, 4096));
    cr_assert_eq(pfi_turn_open(&d, NULL), PINFOLD_OK);
    cr_assert_eq(pfi_decoder_start(&d, &window, NULL), PINFOLD_E_LIMIT);
    pfi_arena_end(&arena);
}
