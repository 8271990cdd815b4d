/* SPDX-License-Identifier: Apache-2.0
 * Encoded bytes in, rows of RGB out, with Pillow's pixels and Pillow's verdict
 * on what is damaged. */
#ifndef PFI_CODEC_CODEC_H
#define PFI_CODEC_CODEC_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/base/limits.h"
#include "src/base/memory.h"

/* Source pixels [left, right) x [top, bottom). */
struct pfi_window {
    int32_t left, top, right, bottom;
};

struct pfi_decoder;

/* Who would decode a window, as the headers promise. */
struct pfi_foreseen {
    const char *decoder; /* "pinfold", "libjpeg-turbo", "libtiff", "libwebp" */
    const char *why;     /* of a JPEG: NULL, or why not pinfold */
    uint64_t bytes;      /* of memory; 0 = unknown */
};

/* One file format.  All functions take what open was given; row is called once
 * for each row of the window, top to bottom. */
struct pfi_codec {
    const char *format; /* "JPEG" */
    /* Whether the bytes begin as this format does. */
    bool (*sniff)(const unsigned char *data, size_t size);
    /* Reads the header: sets width, height, mode and state; the orientation
     * where the picture may be turned. */
    pinfold_status (*open)(struct pfi_decoder *decoder, pinfold_error *err);
    pinfold_status (*start)(struct pfi_decoder *decoder, pinfold_error *err);
    pinfold_status (*row)(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err);
    /* After the window's last row: reads on to where Pillow would stop, so that
     * a file that Pillow refuses is refused here. */
    pinfold_status (*finish)(struct pfi_decoder *decoder, pinfold_error *err);
    /* Accepts a decoder in any state; the arena's memory is not its business. */
    void (*close)(struct pfi_decoder *decoder);
};

struct pfi_decoder {
    const struct pfi_codec *codec; /* NULL before the open and after the close */
    const unsigned char *data;     /* the whole file, the caller's */
    size_t size;
    struct pfi_arena *arena;
    int32_t width, height; /* to a codec: as stored; to the caller: turned */
    const char *mode;      /* Pillow's, such as "CMYK" */
    bool turn;             /* the caller asks for the EXIF orientation */
    bool turn_always;      /* set by open: whether he asks or not */
    int32_t orientation;   /* set by open: EXIF's 1 to 8, 0 = none known */
    struct pfi_turn *turned; /* NULL where rows come as they are stored */
    const struct pfi_limits *limits;
    struct pfi_window window;
    /* Set by a JPEG's start where our decoder left it to libjpeg-turbo: what the
     * attempt took; 0 = it did not. */
    uint64_t attempt_ns;
    void *state; /* the codec's own, from the arena */
};

extern const struct pfi_codec pfi_codec_jpeg;
extern const struct pfi_codec pfi_codec_png;
extern const struct pfi_codec pfi_codec_bmp;
extern const struct pfi_codec pfi_codec_dib;
extern const struct pfi_codec pfi_codec_pnm;
extern const struct pfi_codec pfi_codec_gif;
extern const struct pfi_codec pfi_codec_tiff; /* where built with libtiff */
extern const struct pfi_codec pfi_codec_webp; /* where built with libwebp */

/* pfi_decoder_foresee() of a JPEG. */
void pfi_jpeg_foresee(struct pfi_decoder *decoder,
                      const struct pfi_window *window,
                      struct pfi_foreseen *out);

/* Picks the codec by content and reads the header.  With `turn`, the picture is
 * shown as its EXIF orientation says (PIL.ImageOps.exif_transpose), and width,
 * height, window and rows are those of the turned picture.  Messages name no
 * file; the caller adds that.  PINFOLD_E_FORMAT: not a picture;
 * PINFOLD_E_UNSUPPORTED: a picture of a format named in the message;
 * PINFOLD_E_LIMIT: beyond `limits`, which must outlive the decoder.  On error
 * `decoder` is closed. */
pinfold_status
pfi_decoder_open(struct pfi_decoder *decoder, struct pfi_arena *arena,
                 const void *data, size_t size, const struct pfi_limits *limits,
                 bool turn, pinfold_error *err);

/* For a codec, before it takes memory in proportion to the picture: whether
 * `bytes` are within the limit. */
pinfold_status pfi_decoder_scratch(const struct pfi_decoder *decoder,
                                   uint64_t bytes, pinfold_error *err);

/* Whether rows of `bits` a pixel are short enough for Pillow's decoders, which
 * count a row's bits in an int (src/decode.c, _setimage). */
pinfold_status pfi_decoder_row_bits(const struct pfi_decoder *decoder, int bits,
                                    pinfold_error *err);

/* Says which pixels are wanted; a window inside the picture, not empty. */
pinfold_status pfi_decoder_start(struct pfi_decoder *decoder,
                                 const struct pfi_window *window,
                                 pinfold_error *err);

/* The window's next row: 3 bytes a pixel, R, G, B. */
pinfold_status pfi_decoder_row(struct pfi_decoder *decoder, unsigned char *rgb,
                               pinfold_error *err);

pinfold_status pfi_decoder_finish(struct pfi_decoder *decoder,
                                  pinfold_error *err);
void pfi_decoder_close(struct pfi_decoder *decoder);

/* What decoders within `limits` keep in an arena from one picture to the next,
 * in bytes; and takes it in advance, false when out of memory.  Otherwise the
 * first picture that needs it does. */
size_t pfi_decoder_kept(const struct pfi_limits *limits);
bool pfi_decoder_keep(struct pfi_arena *arena, const struct pfi_limits *limits);

/* After the open, in place of pfi_decoder_start(): who would decode `window`. */
void pfi_decoder_foresee(struct pfi_decoder *decoder,
                         const struct pfi_window *window,
                         struct pfi_foreseen *out);

#endif
