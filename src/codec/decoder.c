/* SPDX-License-Identifier: Apache-2.0
 * Picks the codec by content, as Pillow does, and guards its calls. */
#include <string.h>

#include "src/codec/codec.h"
#include "src/codec/fastjpeg/cache.h"
#include "src/codec/turn.h"

static const struct pfi_codec *const codecs[] = {
    &pfi_codec_jpeg, &pfi_codec_png, &pfi_codec_bmp, &pfi_codec_dib,
    &pfi_codec_pnm,  &pfi_codec_gif,
#ifdef PFI_WITH_TIFF
    &pfi_codec_tiff,
#endif
#ifdef PFI_WITH_WEBP
    &pfi_codec_webp,
#endif
};

/* Formats that are known by name only. */
static const struct {
    const char *name;
    size_t at, size;
    char magic[13];
} known[] = {
    {"AVIF", 4, 8, "ftypavif"},
    {"AVIF", 4, 8, "ftypavis"},
    {"HEIC", 4, 8, "ftypheic"},
    {"HEIC", 4, 8, "ftypmif1"},
    {"JPEG 2000", 0, 4, "\xFF\x4F\xFF\x51"},
    {"JPEG 2000", 0, 12, "\0\0\0\x0CjP  \r\n\x87\n"},
    {"JPEG XL", 0, 2, "\xFF\x0A"},
    {"ICO", 0, 4, "\0\0\1\0"},
    {"PSD", 0, 4, "8BPS"},
};

/* Formats that a build may lack. */
static const struct {
    const char *name, *library;
    size_t at, size;
    char magic[5];
} optional[] = {
    {"TIFF", "libtiff", 0, 4, "II*\0"}, {"TIFF", "libtiff", 0, 4, "MM\0*"},
    {"TIFF", "libtiff", 0, 4, "II+\0"}, {"TIFF", "libtiff", 0, 4, "MM\0+"},
    {"TIFF", "libtiff", 0, 4, "II\0*"}, {"TIFF", "libtiff", 0, 4, "MM*\0"},
    {"WebP", "libwebp", 8, 4, "WEBP"},
};

static bool begins(const unsigned char *data, size_t size, size_t at,
                   const char *magic, size_t n)
{
    return size >= at + n && !memcmp(data + at, magic, n);
}

static const char *known_format(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (begins(data, size, known[i].at, known[i].magic, known[i].size))
            return known[i].name;
    return NULL;
}

static pinfold_status unknown_format(const unsigned char *data, size_t size,
                                     pinfold_error *err)
{
    const char *const name = known_format(data, size);

    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
        if (begins(data, size, optional[i].at, optional[i].magic,
                   optional[i].size))
            return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                            "%s pictures are not supported: built without %s",
                            optional[i].name, optional[i].library);
    if (name)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "%s pictures are not supported", name);
    return pfi_fail(err, PINFOLD_E_FORMAT, 0,
                    size ? "not a picture of a known format" : "empty file");
}

static pinfold_status check_size(const struct pfi_decoder *decoder,
                                 pinfold_error *err)
{
    const uint64_t max_pixels = decoder->limits->pixels;
    const uint64_t pixels =
        (uint64_t)decoder->width * (uint64_t)decoder->height;

    if (pixels > max_pixels)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "%llu pixels (%d x %d), limit %llu",
                        (unsigned long long)pixels, decoder->width,
                        decoder->height, (unsigned long long)max_pixels);
    return PINFOLD_OK;
}

pinfold_status pfi_decoder_scratch(const struct pfi_decoder *decoder,
                                   uint64_t bytes, pinfold_error *err)
{
    if (bytes > decoder->limits->scratch)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "%s: %llu bytes to decode %d x %d pixels, limit %llu",
                        decoder->codec->format, (unsigned long long)bytes,
                        decoder->width, decoder->height,
                        (unsigned long long)decoder->limits->scratch);
    return PINFOLD_OK;
}

pinfold_status pfi_decoder_row_bits(const struct pfi_decoder *decoder, int bits,
                                    pinfold_error *err)
{
    const int32_t max = INT32_MAX / bits - 7;

    if (decoder->width > max)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "%s: rows of %d pixels of %d bits, limit %d pixels",
                        decoder->codec->format, decoder->width, bits, max);
    return PINFOLD_OK;
}

pinfold_status pfi_decoder_open(struct pfi_decoder *decoder,
                                struct pfi_arena *arena, const void *data,
                                size_t size, const struct pfi_limits *limits,
                                bool turn, pinfold_error *err)
{
    pinfold_status status;

    *decoder = (struct pfi_decoder){.data = data,
                                    .size = size,
                                    .arena = arena,
                                    .limits = limits,
                                    .turn = turn};
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
        if (codecs[i]->sniff(decoder->data, size))
            decoder->codec = codecs[i];
    if (!decoder->codec)
        return unknown_format(data, size, err);
    status = decoder->codec->open(decoder, err);
    if (!status)
        status = check_size(decoder, err);
    if (!status && (turn || decoder->turn_always))
        status = pfi_turn_open(decoder, err);
    if (status)
        pfi_decoder_close(decoder);
    return status;
}

pinfold_status pfi_decoder_start(struct pfi_decoder *decoder,
                                 const struct pfi_window *window,
                                 pinfold_error *err)
{
    decoder->window = *window;
    if (decoder->turned)
        return pfi_turn_start(decoder, err);
    return decoder->codec->start(decoder, err);
}

pinfold_status pfi_decoder_row(struct pfi_decoder *decoder, unsigned char *rgb,
                               pinfold_error *err)
{
    if (decoder->turned)
        return pfi_turn_row(decoder, rgb, err);
    return decoder->codec->row(decoder, rgb, err);
}

pinfold_status pfi_decoder_finish(struct pfi_decoder *decoder,
                                  pinfold_error *err)
{
    if (decoder->turned)
        return pfi_turn_finish(decoder, err);
    return decoder->codec->finish(decoder, err);
}

void pfi_decoder_close(struct pfi_decoder *decoder)
{
    if (decoder->codec)
        decoder->codec->close(decoder);
    decoder->codec = NULL;
}

/* Only the fast JPEG decoder keeps anything. */
static bool uses_fast(const struct pfi_limits *limits)
{
    return !limits->whole && !limits->libjpeg;
}

size_t pfi_decoder_kept(const struct pfi_limits *limits)
{
    return uses_fast(limits) ? sizeof(struct pfi_fast_cache) : 0;
}

bool pfi_decoder_keep(struct pfi_arena *arena, const struct pfi_limits *limits)
{
    return !uses_fast(limits) || pfi_fast_cache_of(arena);
}

void pfi_decoder_foresee(struct pfi_decoder *decoder,
                         const struct pfi_window *window,
                         struct pfi_foreseen *out)
{
    static const struct {
        const char *format, *decoder;
    } others[] = {{"TIFF", "libtiff"}, {"WebP", "libwebp"}};

    *out = (struct pfi_foreseen){.decoder = "pinfold"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!strcmp(decoder->codec->format, others[i].format))
            out->decoder = others[i].decoder;
    if (decoder->turned)
        pfi_turn_foresee(decoder, window, out);
    else if (decoder->codec == &pfi_codec_jpeg)
        pfi_jpeg_foresee(decoder, window, out);
}
