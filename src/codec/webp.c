/* SPDX-License-Identifier: Apache-2.0
 * WebP by libwebp's animation decoder, as Pillow uses it (src/_webp.c, 13.0.0):
 * the first frame on its canvas, the alpha channel dropped. */
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "src/codec/codec.h"
#include "src/codec/exif.h"

/* Bytes a pixel: two canvases, and what a lossless frame is decoded into. */
#define PFI_WEBP_PIXEL 12

struct webp_state {
    WebPAnimDecoder *decoder;
    const uint8_t *canvas; /* the decoder's; 4 bytes a pixel */
    int32_t next;          /* row */
};

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "WebP: %s", why);
}

static bool sniff(const unsigned char *data, size_t size)
{
    return size >= 12 && !memcmp(data, "RIFF", 4) &&
           !memcmp(data + 8, "WEBP", 4);
}

static WebPData whole_file(const struct pfi_decoder *decoder)
{
    return (WebPData){decoder->data, decoder->size};
}

/* The chunk's bytes, inside the file, or NULL. */
static const unsigned char *chunk(const WebPDemuxer *demuxer, const char *name,
                                  size_t *size)
{
    WebPChunkIterator it;
    const unsigned char *bytes = NULL;

    *size = 0;
    if (WebPDemuxGetChunk(demuxer, name, 1, &it)) {
        bytes = it.chunk.size ? it.chunk.bytes : NULL;
        *size = it.chunk.size;
    }
    WebPDemuxReleaseChunkIterator(&it);
    return bytes;
}

static pinfold_status take_header(struct pfi_decoder *decoder,
                                  const WebPDemuxer *demuxer,
                                  pinfold_error *err)
{
    const uint32_t width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH);
    const uint32_t height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
    WebPBitstreamFeatures features;
    struct pfi_exif info = {0};

    if (!width || !height || width > INT32_MAX || height > INT32_MAX)
        return corrupt(err, "a side of 0 pixels");
    decoder->width = (int32_t)width;
    decoder->height = (int32_t)height;
    decoder->mode = WebPGetFeatures(decoder->data, decoder->size, &features) ==
                                VP8_STATUS_OK &&
                            !features.has_alpha
                        ? "RGB"
                        : "RGBA";
    if (!decoder->turn)
        return PINFOLD_OK;
    info.exif = chunk(demuxer, "EXIF", &info.exif_size);
    info.xmp = chunk(demuxer, "XMP ", &info.xmp_size);
    return pfi_exif_orientation(&info, "WebP", &decoder->orientation, err);
}

static pinfold_status open_webp(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct webp_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    const WebPData data = whole_file(decoder);
    WebPDemuxer *demuxer;
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    *s = (struct webp_state){0};
    decoder->state = s;
    demuxer = WebPDemux(&data);
    if (!demuxer)
        return corrupt(err, "damaged, or cut short");
    status = take_header(decoder, demuxer, err);
    WebPDemuxDelete(demuxer);
    return status;
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct webp_state *const s = decoder->state;
    const WebPData data = whole_file(decoder);
    WebPAnimDecoderOptions options;
    uint8_t *canvas;
    int time;
    pinfold_status status;

    status = pfi_decoder_scratch(decoder,
                                 (uint64_t)decoder->width *
                                     (uint64_t)decoder->height * PFI_WEBP_PIXEL,
                                 err);
    if (status)
        return status;
    if (!WebPAnimDecoderOptionsInit(&options))
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "WebP: another libwebp than at build time");
    s->decoder = WebPAnimDecoderNew(&data, &options);
    if (!s->decoder)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a WebP canvas");
    if (!WebPAnimDecoderGetNext(s->decoder, &canvas, &time))
        return corrupt(err, "the picture is damaged, or cut short");
    s->canvas = canvas;
    s->next = decoder->window.top;
    return PINFOLD_OK;
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    struct webp_state *const s = decoder->state;
    const struct pfi_window *const w = &decoder->window;
    const size_t n = (size_t)(w->right - w->left);
    const uint8_t *p = s->canvas + ((size_t)s->next * (size_t)decoder->width +
                                    (size_t)w->left) * 4;

    (void)err;
    s->next++;
    for (size_t i = 0; i < n; i++, p += 4)
        memcpy(rgb + 3 * i, p, 3);
    return PINFOLD_OK;
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    (void)decoder;
    (void)err;
    return PINFOLD_OK;
}

static void close_webp(struct pfi_decoder *decoder)
{
    struct webp_state *const s = decoder->state;

    if (s)
        WebPAnimDecoderDelete(s->decoder);
}

const struct pfi_codec pfi_codec_webp = {"WebP", sniff, open_webp, start,
                                         row,    finish, close_webp};
