/* SPDX-License-Identifier: Apache-2.0
 * Golden pictures, and the codecs' interface in one call. */
#include "tests/support/pictures.h"

#include <stdio.h>
#include <stdlib.h>

unsigned char *picture_load(const char *name, size_t *size)
{
    unsigned char *data = NULL;
    char path[512];
    FILE *file;
    long n;

    (void)snprintf(path, sizeof(path), PFI_GOLDEN_DIR "/formats/%s", name);
    file = fopen(path, "rb");
    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END) && (n = ftell(file)) > 0) {
        rewind(file);
        data = malloc((size_t)n);
        *size = fread(data, 1, (size_t)n, file);
    }
    (void)fclose(file);
    return data;
}

static pinfold_status decode(struct picture *picture,
                             struct pfi_decoder *decoder, pinfold_error *err)
{
    struct pfi_window *const w = &picture->window;
    pinfold_status status;
    size_t stride;

    picture->width = decoder->width;
    picture->height = decoder->height;
    if (!w->right)
        *w = (struct pfi_window){0, 0, decoder->width, decoder->height};
    stride = (size_t)(w->right - w->left) * 3;
    picture->rgb = malloc(stride * (size_t)(w->bottom - w->top));
    status = pfi_decoder_start(decoder, w, err);
    for (int32_t y = w->top; !status && y < w->bottom; y++)
        status = pfi_decoder_row(
            decoder, picture->rgb + (size_t)(y - w->top) * stride, err);
    return status ? status : pfi_decoder_finish(decoder, err);
}

pinfold_status picture_decode(struct picture *picture, const unsigned char *data,
                              size_t size, pinfold_error *err)
{
    const struct pfi_limits limits = {
        .pixels = picture->max_pixels ? picture->max_pixels : UINT64_MAX,
        .scratch = picture->max_scratch ? picture->max_scratch : UINT64_MAX,
        .ancillary = 1 << 20,
        .scans = 256,
        .side = INT32_MAX};
    struct pfi_arena arena;
    struct pfi_decoder decoder;
    pinfold_status status;

    picture->rgb = NULL;
    pfi_error_clear(err);
    if (!pfi_arena_init(&arena, 4096))
        return PINFOLD_E_MEMORY;
    status = pfi_decoder_open(&decoder, &arena, data, size, &limits,
                              picture->turn, err);
    if (!status) {
        status = decode(picture, &decoder, err);
        pfi_decoder_close(&decoder);
    }
    pfi_arena_end(&arena);
    return status;
}
