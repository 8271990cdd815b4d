/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes one codec, FUZZ_CODEC: a window of a picture must have the pixels that
 * the whole picture has there, and the same verdict.  The last 4 bytes choose
 * the window, and whether EXIF's orientation counts. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

struct decoding {
    unsigned char *rgb; /* of the window's own size */
    pinfold_status status;
    pinfold_error err;
};

static const struct pfi_limits limits = {.pixels = FUZZ_PIXELS,
                                         .scratch = FUZZ_SCRATCH,
                                         .ancillary = 1 << 18,
                                         .scans = 16,
                                         .side = 1 << 16};

static pinfold_status rows(struct pfi_decoder *decoder,
                           const struct pfi_window *w, struct decoding *out)
{
    const size_t stride = (size_t)(w->right - w->left) * 3;
    pinfold_status status = pfi_decoder_start(decoder, w, &out->err);

    for (int32_t y = w->top; !status && y < w->bottom; y++)
        status = pfi_decoder_row(
            decoder, out->rgb + (size_t)(y - w->top) * stride, &out->err);
    return status ? status : pfi_decoder_finish(decoder, &out->err);
}

/* Decodes the window that `choice` chooses of the picture, or all of it where
 * choice is NULL; stores the sides and the window. */
static void decode(struct decoding *out, const uint8_t *data, size_t size,
                   bool turn, const uint8_t *choice, int32_t sides[2],
                   struct pfi_window *w)
{
    struct pfi_decoder decoder;
    struct pfi_arena arena;

    *out = (struct decoding){0};
    pfi_error_clear(&out->err);
    fuzz_require(pfi_arena_init(&arena, 64), "no memory");
    out->status = pfi_decoder_open(&decoder, &arena, data, size, &limits, turn,
                                   &out->err);
    if (!out->status) {
        sides[0] = decoder.width;
        sides[1] = decoder.height;
        fuzz_require(sides[0] > 0 && sides[1] > 0, "a side");
        *w = choice ? fuzz_window(choice, sides[0], sides[1])
                    : (struct pfi_window){0, 0, sides[0], sides[1]};
        out->rgb = malloc((size_t)(w->right - w->left) * 3 *
                          (size_t)(w->bottom - w->top));
        fuzz_require(out->rgb, "no memory");
        out->status = rows(&decoder, w, out);
        pfi_decoder_close(&decoder);
    }
    pfi_arena_end(&arena);
}

static bool same(const struct decoding *part, const struct pfi_window *w,
                 const struct decoding *whole, int32_t width)
{
    const size_t bytes = (size_t)(w->right - w->left) * 3;

    for (int32_t y = w->top; y < w->bottom; y++)
        if (memcmp(part->rgb + (size_t)(y - w->top) * bytes,
                   whole->rgb +
                       ((size_t)y * (size_t)width + (size_t)w->left) * 3,
                   bytes) != 0)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decoding part, whole;
    struct pfi_window w, all;
    int32_t sides[2];

    if (size < 4 || !FUZZ_CODEC.sniff(data, size))
        return 0;
    const uint8_t *const choice = data + size - 4;
    const bool turn = choice[0] & 1;

    decode(&part, data, size, turn, choice, sides, &w);
    if (part.rgb) {
        decode(&whole, data, size, turn, NULL, sides, &all);
        fuzz_require(whole.status == part.status, "the window's verdict");
        if (!whole.status)
            fuzz_require(same(&part, &w, &whole, sides[0]),
                         "the window's pixels");
        free(whole.rgb);
    }
    free(part.rgb);
    return 0;
}
