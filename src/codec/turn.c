/* SPDX-License-Identifier: Apache-2.0
 * Mirrors and turns: asks the codec for the stored window, and serves rows of
 * the turned one from memory.  A picture that is upright costs nothing. */
#include "src/codec/turn.h"

#include <string.h>

/* The pixel shown at (x, y) is stored at (x, y), or at (y, x) where `across`;
 * then counted from the right where `mirror_x`, from the bottom where
 * `mirror_y`. */
struct pfi_turn {
    struct pfi_decoder stored; /* as the codec knows it */
    bool across, mirror_x, mirror_y;
    unsigned char *picture; /* the stored window; NULL where rows stay rows */
    int32_t next;           /* row of the turned window, from its top */
};

/* What the eight orientations do; 0 and 1 do nothing. */
static const struct {
    bool across, mirror_x, mirror_y;
} actions[9] = {
    [2] = {false, true, false}, [3] = {false, true, true},
    [4] = {false, false, true}, [5] = {true, false, false},
    [6] = {true, false, true},  [7] = {true, true, true},
    [8] = {true, true, false},
};

pinfold_status pfi_turn_open(struct pfi_decoder *decoder, pinfold_error *err)
{
    const int32_t o = decoder->orientation;
    struct pfi_turn *turn;

    if (o < 2 || o > 8)
        return PINFOLD_OK;
    turn = pfi_arena_alloc(decoder->arena, sizeof(*turn));
    if (!turn)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    *turn = (struct pfi_turn){.stored = *decoder,
                              .across = actions[o].across,
                              .mirror_x = actions[o].mirror_x,
                              .mirror_y = actions[o].mirror_y};
    if (turn->across) {
        decoder->width = turn->stored.height;
        decoder->height = turn->stored.width;
    }
    decoder->turned = turn;
    return PINFOLD_OK;
}

static void mirror(int32_t *first, int32_t *end, int32_t size)
{
    const int32_t swap = *first;

    *first = size - *end;
    *end = size - swap;
}

static struct pfi_window stored_window(const struct pfi_turn *turn,
                                       struct pfi_window w)
{
    if (turn->across)
        w = (struct pfi_window){w.top, w.left, w.bottom, w.right};
    if (turn->mirror_x)
        mirror(&w.left, &w.right, turn->stored.width);
    if (turn->mirror_y)
        mirror(&w.top, &w.bottom, turn->stored.height);
    return w;
}

pinfold_status pfi_turn_start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct pfi_turn *const turn = decoder->turned;
    struct pfi_decoder *const stored = &turn->stored;
    const struct pfi_codec *const codec = stored->codec;
    const struct pfi_window w = stored_window(turn, decoder->window);
    const size_t stride = (size_t)(w.right - w.left) * 3;
    const size_t rows = (size_t)(w.bottom - w.top);
    pinfold_status status;
    size_t bytes;

    stored->window = w;
    status = codec->start(stored, err);
    decoder->attempt_ns = stored->attempt_ns;
    if (status || !(turn->across || turn->mirror_y))
        return status;
    if (!pfi_mul(stride, rows, &bytes))
        bytes = SIZE_MAX;
    status = pfi_decoder_scratch(stored, bytes, err);
    if (status)
        return status;
    turn->picture = pfi_arena_alloc(stored->arena, bytes);
    if (!turn->picture)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                        "no memory for a turned picture");
    for (size_t y = 0; !status && y < rows; y++)
        status = codec->row(stored, turn->picture + y * stride, err);
    return status;
}

void pfi_turn_foresee(struct pfi_decoder *decoder,
                      const struct pfi_window *window,
                      struct pfi_foreseen *out)
{
    struct pfi_turn *const turn = decoder->turned;
    const struct pfi_window w = stored_window(turn, *window);

    pfi_decoder_foresee(&turn->stored, &w, out);
}

static void mirror_row(unsigned char *rgb, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        unsigned char *const a = rgb + 3 * i, *const b = rgb + 3 * (n - 1 - i);
        unsigned char swap[3];

        memcpy(swap, a, 3);
        memcpy(a, b, 3);
        memcpy(b, swap, 3);
    }
}

pinfold_status pfi_turn_row(struct pfi_decoder *decoder, unsigned char *rgb,
                            pinfold_error *err)
{
    struct pfi_turn *const turn = decoder->turned;
    const struct pfi_window *const w = &turn->stored.window;
    const size_t columns = (size_t)(w->right - w->left);
    const size_t rows = (size_t)(w->bottom - w->top);
    const size_t stride = columns * 3, y = (size_t)turn->next++;

    if (!turn->picture) {
        const pinfold_status status =
            turn->stored.codec->row(&turn->stored, rgb, err);

        if (!status)
            mirror_row(rgb, columns);
        return status;
    }
    if (!turn->across) {
        memcpy(rgb, turn->picture + (rows - 1 - y) * stride, stride);
        if (turn->mirror_x)
            mirror_row(rgb, columns);
        return PINFOLD_OK;
    }
    const unsigned char *const column =
        turn->picture + 3 * (turn->mirror_x ? columns - 1 - y : y);

    for (size_t x = 0; x < rows; x++)
        memcpy(rgb + 3 * x,
               column + (turn->mirror_y ? rows - 1 - x : x) * stride, 3);
    return PINFOLD_OK;
}

pinfold_status pfi_turn_finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct pfi_decoder *const stored = &decoder->turned->stored;

    return stored->codec->finish(stored, err);
}
