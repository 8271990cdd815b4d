/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer: whatever the fast decoder takes, at any CPU level, libjpeg-turbo
 * must accept, with the same pixels.  The last 4 bytes choose the window; a
 * decoder that has seen the end marker does not look at them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/codec/fastjpeg/fast.h"

#define MOST_PIXELS (1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char ours[MOST_PIXELS * 3], theirs[MOST_PIXELS * 3];
static struct pfi_arena arena;
static const struct pfi_limits limits = {.pixels = MOST_PIXELS,
                                         .scratch = 1 << 28,
                                         .ancillary = 1 << 20,
                                         .scans = 256,
                                         .libjpeg = true};

static struct pfi_window window_of(const uint8_t *last, int32_t width,
                                   int32_t height)
{
    const int32_t left = last[0] * width / 256, top = last[1] * height / 256;

    return (struct pfi_window){
        left, top, left + 1 + last[2] * (width - left) / 256,
        top + 1 + last[3] * (height - top) / 256};
}

static pinfold_status by_libjpeg(struct pfi_decoder *decoder,
                                 const struct pfi_window *w, size_t stride)
{
    pinfold_status status = pfi_decoder_start(decoder, w, NULL);

    for (int32_t y = w->top; !status && y < w->bottom; y++)
        status = pfi_decoder_row(
            decoder, theirs + (size_t)(y - w->top) * stride, NULL);
    if (!status)
        status = pfi_decoder_finish(decoder, NULL);
    return status;
}

static void compare(const uint8_t *data, size_t size,
                    const struct pfi_window *w, pinfold_status status)
{
    const size_t stride = (size_t)(w->right - w->left) * 3;
    const size_t bytes = stride * (size_t)(w->bottom - w->top);
    const struct pfi_fast_kernels *k;

    for (int i = 0; (k = pfi_fast_kernels_at(i)); i++) {
        struct pfi_fast *f;

        pfi_arena_reset(&arena);
        if (pfi_fast_open(&f, &arena, data, size, w, &limits, k) ||
            pfi_fast_decode_window(f))
            continue;
        for (int32_t y = w->top; y < w->bottom; y++)
            pfi_fast_row(f, ours + (size_t)(y - w->top) * stride);
        if (status || memcmp(ours, theirs, bytes) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pfi_decoder decoder;
    struct pfi_window w;
    pinfold_status status;

    /* Too small for anything: every buffer is the heap's and has its own end. */
    if (!arena.block && !pfi_arena_init(&arena, 64))
        abort();
    pfi_arena_reset(&arena);
    if (size < 4 ||
        pfi_decoder_open(&decoder, &arena, data, size, &limits, false, NULL))
        return 0;
    if (strcmp(decoder.codec->format, "JPEG") != 0) {
        pfi_decoder_close(&decoder);
        return 0;
    }
    w = window_of(data + size - 4, decoder.width, decoder.height);
    status =
        by_libjpeg(&decoder, &w, (size_t)(w.right - w.left) * 3);
    pfi_decoder_close(&decoder);
    compare(data, size, &w, status);
    return 0;
}
