/* SPDX-License-Identifier: Apache-2.0
 * TIFF, its pixels kept in Pillow's mode until a row is asked for. */
#include <string.h>

#include "src/codec/tiff_state.h"

unsigned char *pfi_tiff_place(const struct pfi_decoder *decoder, int64_t x,
                              int64_t y)
{
    const struct pfi_tiff_state *const s = decoder->state;
    const struct pfi_window *const w = &decoder->window;

    if (y < w->top || y >= w->bottom)
        return NULL;
    return s->picture + (size_t)(y - w->top) * s->stride +
           (size_t)x * pfi_mode_size(s->info.mode);
}

static bool sniff(const unsigned char *data, size_t size)
{
    static const char magics[6][5] = {"MM\0*", "II*\0", "MM*\0",
                                      "II\0*", "MM\0+", "II+\0"};

    for (int i = 0; size >= 4 && i < 6; i++)
        if (!memcmp(data, magics[i], 4))
            return true;
    return false;
}

static pinfold_status open_picture(struct pfi_decoder *decoder,
                                   pinfold_error *err)
{
    struct pfi_tiff_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    memset(s, 0, sizeof(*s));
    decoder->state = s;
    status = pfi_tiff_header(decoder->data, decoder->size, &s->info, err);
    decoder->width = s->info.width;
    decoder->height = s->info.height;
    decoder->mode = s->info.mode;
    decoder->orientation = s->info.orientation;
    decoder->turn_always = true;
    return status;
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct pfi_tiff_state *const s = decoder->state;
    const struct pfi_window *const w = &decoder->window;
    const size_t rows = (size_t)(w->bottom - w->top);
    pinfold_status status;
    size_t bytes;

    s->stride = (size_t)decoder->width * pfi_mode_size(s->info.mode);
    if (!pfi_mul(s->stride, rows, &bytes))
        bytes = SIZE_MAX;
    status = pfi_decoder_scratch(decoder, bytes, err);
    if (status)
        return status;
    s->picture = pfi_arena_alloc(decoder->arena, bytes);
    if (!s->picture)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a picture");
    memset(s->picture, 0, bytes);
    return s->info.compressed ? pfi_tiff_compressed(decoder, err)
                              : pfi_tiff_raw(decoder, err);
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    struct pfi_tiff_state *const s = decoder->state;
    const struct pfi_window *const w = &decoder->window;

    (void)err;
    pfi_mode_to_rgb(s->info.mode, rgb,
                    s->picture + (size_t)s->next * s->stride +
                        (size_t)w->left * pfi_mode_size(s->info.mode),
                    (size_t)(w->right - w->left),
                    (const unsigned char(*)[3])s->info.palette);
    s->next++;
    return PINFOLD_OK;
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    (void)decoder;
    (void)err;
    return PINFOLD_OK;
}

/* libtiff's handle lives no longer than the start. */
static void close_picture(struct pfi_decoder *decoder)
{
    (void)decoder;
}

const struct pfi_codec pfi_codec_tiff = {
    "TIFF", sniff, open_picture, start, row, finish, close_picture};
