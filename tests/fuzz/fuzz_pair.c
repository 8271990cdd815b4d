/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes a worker's life from one JPEG to the next: what a hostile file leaves
 * behind, such as a cached table, must not change the next file, sound or
 * hostile, and neither may a sound one.  The last byte chooses the sound one.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/jpegdraw.h"

#define SOUND 16
#define PIXELS (1 << 14)

struct decoding {
    pinfold_status status;
    size_t bytes;
    unsigned char rgb[PIXELS * 3];
};

static const struct pfi_limits limits = {.pixels = PIXELS,
                                         .scratch = FUZZ_SCRATCH,
                                         .ancillary = 1 << 18,
                                         .scans = 16,
                                         .side = 1 << 16};
static struct drawn_jpeg sound[SOUND];

static pinfold_status rows(struct pfi_decoder *decoder, struct decoding *out)
{
    const struct pfi_window all = {0, 0, decoder->width, decoder->height};
    const size_t stride = (size_t)decoder->width * 3;
    pinfold_status status = pfi_decoder_start(decoder, &all, NULL);

    for (int32_t y = 0; !status && y < all.bottom; y++)
        status = pfi_decoder_row(decoder, out->rgb + (size_t)y * stride, NULL);
    out->bytes = stride * (size_t)decoder->height;
    return status ? status : pfi_decoder_finish(decoder, NULL);
}

static void decode(struct decoding *out, struct pfi_arena *arena,
                   const uint8_t *data, size_t size)
{
    struct pfi_decoder decoder;

    pfi_arena_reset(arena);
    out->bytes = 0;
    out->status =
        pfi_decoder_open(&decoder, arena, data, size, &limits, false, NULL);
    if (out->status)
        return;
    out->status = rows(&decoder, out);
    pfi_decoder_close(&decoder);
}

static bool same(const struct decoding *a, const struct decoding *b)
{
    return a->status == b->status &&
           (a->status ||
            (a->bytes == b->bytes && !memcmp(a->rgb, b->rgb, a->bytes)));
}

/* Sound, hostile, sound, hostile: in one arena, with one cache. */
static void live(const struct drawn_jpeg *file, const uint8_t *data,
                 size_t size)
{
    static struct decoding good[2], bad[2];
    struct pfi_arena arena;

    fuzz_require(pfi_arena_init(&arena, 64), "no memory");
    for (int i = 0; i < 2; i++) {
        decode(&good[i], &arena, file->data, file->size);
        decode(&bad[i], &arena, data, size);
    }
    pfi_arena_end(&arena);
    fuzz_require(!good[0].status, "a sound file");
    fuzz_require(same(&good[0], &good[1]), "a sound file behind a hostile one");
    fuzz_require(same(&bad[0], &bad[1]), "a hostile file behind a sound one");
    /* And alone, the hostile one first. */
    fuzz_require(pfi_arena_init(&arena, 64), "no memory");
    decode(&bad[1], &arena, data, size);
    decode(&good[1], &arena, file->data, file->size);
    pfi_arena_end(&arena);
    fuzz_require(same(&good[0], &good[1]), "a sound file behind a first one");
    fuzz_require(same(&bad[0], &bad[1]), "a hostile file alone");
}

/* Changes some bytes at 16-bit places. */
static void change(uint8_t *file, size_t size, struct fuzz_input input)
{
    for (int i = 0; i < 8 && input.left > 3; i++) {
        const uint32_t at = fuzz_below(&input, 1 << 16) % (uint32_t)size;

        file[at] = (uint8_t)fuzz_below(&input, 256);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    for (int i = 0; i < SOUND && !sound[i].data; i++)
        draw_jpeg(&sound[i], 16);
    const struct drawn_jpeg *const file = &sound[data[size - 1] % SOUND];

    if (pfi_codec_jpeg.sniff(data, size)) {
        live(file, data, size);
    } else {
        uint8_t *const hostile = (uint8_t *)fuzz_text(file->data, file->size);

        change(hostile, file->size, (struct fuzz_input){data, size});
        live(file, hostile, file->size);
        free(hostile);
    }
    return 0;
}
