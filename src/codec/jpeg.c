/* SPDX-License-Identifier: Apache-2.0
 * JPEG by the fast decoder where it can, else by libjpeg-turbo, set up as Pillow
 * sets it up (src/libImaging/JpegDecode.c, 13.0.0): a source that ends instead of
 * inventing an end marker, handed over in Pillow's blocks, and no warning is an
 * error. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
/* After jpeglib.h: first the codes of libjpeg's messages, then their texts; two
 * of its own are not installed. */
#include <jerror.h>
#define JCOPYRIGHT_SHORT ""
#define JVERSION ""
#define JMESSAGE(code, text) text,
static const char *const messages[] = {
#include <jerror.h>
    NULL};

#include "src/base/clock.h"
#include "src/codec/codec.h"
#include "src/codec/exif.h"
#include "src/codec/fastjpeg/fast.h"
#include "src/codec/jpeg_header.h"
#include "src/codec/jpeg_smooth.h"
#include "src/codec/jpeg_window.h"

/* Pillow reads so much at a time (ImageFile.MAXBLOCK), and where it stops in the
 * middle of a block decides which of what follows it can find fault with. */
#define PFI_JPEG_BLOCK 65536

struct jpeg_state {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct pfi_jpeg_header header;
    size_t given; /* bytes of the file that the source has had */
    size_t skip;  /* bytes to skip of those that it has not */
    jmp_buf escape;
    pinfold_error *err;
    pinfold_status status; /* of the step that libjpeg left by longjmp */
    unsigned char *row;    /* one decoded row, all its components */
    int32_t first_column;  /* of the picture that rows begin with */
    bool whole;  /* no window: all rows and columns are decoded */
    bool at_once; /* the source gets the whole file, not Pillow's blocks */
    struct pfi_fast *fast; /* has the window's samples; NULL: libjpeg decodes */
};

/* ---------------------------------------------------- libjpeg's callbacks --- */

/* Formats are libjpeg's own, and say what its parameters are. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void on_format(j_common_ptr cinfo, char *text)
{
    const struct jpeg_error_mgr *const e = cinfo->err;
    const int last = (int)(sizeof(messages) / sizeof(messages[0])) - 2;
    const char *const format =
        messages[e->msg_code > 0 && e->msg_code <= last ? e->msg_code : 0];

    if (strstr(format, "%s"))
        (void)snprintf(text, JMSG_LENGTH_MAX, format, e->msg_parm.s);
    else
        (void)snprintf(text, JMSG_LENGTH_MAX, format, e->msg_parm.i[0],
                       e->msg_parm.i[1], e->msg_parm.i[2], e->msg_parm.i[3],
                       e->msg_parm.i[4], e->msg_parm.i[5], e->msg_parm.i[6],
                       e->msg_parm.i[7]);
}
#pragma GCC diagnostic pop

/* What is no damage, but a kind of JPEG that this libjpeg cannot decode. */
static pinfold_status status_of(int code)
{
    switch (code) {
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL: return PINFOLD_E_UNSUPPORTED;
    case JERR_OUT_OF_MEMORY: return PINFOLD_E_MEMORY;
    default: return PINFOLD_E_CORRUPT;
    }
}

static void on_error(j_common_ptr cinfo)
{
    struct jpeg_state *const s = cinfo->client_data;
    char text[JMSG_LENGTH_MAX];

    on_format(cinfo, text);
    s->status = pfi_fail(s->err, status_of(cinfo->err->msg_code), 0,
                         "JPEG: %s", text);
    longjmp(s->escape, 1);
}

static void on_message(j_common_ptr cinfo)
{
    (void)cinfo;
}

static void on_warning(j_common_ptr cinfo, int level)
{
    if (level < 0)
        cinfo->err->num_warnings++;
}

static void on_reset(j_common_ptr cinfo)
{
    cinfo->err->num_warnings = 0;
    cinfo->err->msg_code = 0;
}

static void source_init(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

/* More comes by feed() when libjpeg has returned. */
static boolean source_fill(j_decompress_ptr cinfo)
{
    (void)cinfo;
    return FALSE;
}

static void source_skip(j_decompress_ptr cinfo, long n)
{
    struct jpeg_state *const s = cinfo->client_data;
    const size_t skip = n > 0 ? (size_t)n : 0;
    const size_t step =
        skip < s->source.bytes_in_buffer ? skip : s->source.bytes_in_buffer;

    s->source.next_input_byte += step;
    s->source.bytes_in_buffer -= step;
    s->skip = skip - step;
}

/* Gives the source the next block; false at the end of the file. */
static bool feed(const struct pfi_decoder *decoder, struct jpeg_state *s)
{
    do {
        const size_t left = decoder->size - s->given;
        const size_t n = left < PFI_JPEG_BLOCK || s->at_once
                             ? left
                             : PFI_JPEG_BLOCK;

        if (!n)
            return false;
        s->given += n;
        s->source.bytes_in_buffer += n;
        source_skip(&s->cinfo, (long)s->skip);
    } while (s->skip);
    return true;
}

/* ----------------------------------------------- steps that may be escaped --- */

static pinfold_status truncated(pinfold_error *err)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "JPEG: the file is cut short");
}

static void create(struct pfi_decoder *decoder, struct jpeg_state *s)
{
    jpeg_create_decompress(&s->cinfo);
    s->cinfo.client_data = s;
    s->source.init_source = source_init;
    s->source.fill_input_buffer = source_fill;
    s->source.skip_input_data = source_skip;
    s->source.resync_to_restart = jpeg_resync_to_restart;
    s->source.term_source = source_init;
    s->source.next_input_byte = decoder->data;
    s->source.bytes_in_buffer = 0;
    s->cinfo.src = &s->source;
}

/* Bytes that libjpeg will hold: the coefficients of the whole picture if there
 * are several scans, and some rows of blocks. */
static uint64_t memory_of(j_decompress_ptr cinfo)
{
    const bool whole = jpeg_has_multiple_scans(cinfo);
    uint64_t bytes = 0;

    for (int i = 0; i < cinfo->num_components; i++) {
        const jpeg_component_info *const c = cinfo->comp_info + i;
        const uint64_t h = (uint64_t)c->h_samp_factor;
        const uint64_t v = (uint64_t)c->v_samp_factor;
        const uint64_t columns = (c->width_in_blocks + h - 1) / h * h;
        const uint64_t rows = (c->height_in_blocks + v - 1) / v * v;

        bytes += columns * v * (2 * DCTSIZE2 * sizeof(JSAMPLE));
        if (whole)
            bytes += columns * rows * sizeof(JBLOCK);
    }
    return bytes + (uint64_t)cinfo->image_width * 4 * 4;
}

/* Before anything is taken in proportion to the picture. */
static pinfold_status check_limits(const struct pfi_decoder *decoder,
                                   struct jpeg_state *s)
{
    const int32_t most = pfi_jpeg_most_scans(decoder->limits->scans,
                                             decoder->width, decoder->height);

    if (jpeg_has_multiple_scans(&s->cinfo) &&
        pfi_jpeg_scans(decoder->data, decoder->size, s->header.scan, most) >
            most)
        return pfi_fail(s->err, PINFOLD_E_LIMIT, 0,
                        "JPEG: more scans than the limit of %d", most);
    return pfi_decoder_scratch(decoder, memory_of(&s->cinfo), s->err);
}

/* A file of one scan is decoded in part only where nothing behind the scan could
 * make Pillow refuse it; skipping rows cannot wait for data, so it gets them
 * all.  Files of several scans are read to their end by the start.  Arithmetic
 * decoding cannot wait either: Pillow fails where it would have to. */
static void choose_window(const struct pfi_decoder *decoder,
                          struct jpeg_state *s)
{
    const size_t at = (size_t)(s->source.next_input_byte - decoder->data);
    const bool several = jpeg_has_multiple_scans(&s->cinfo);

    s->whole = decoder->limits->whole ||
               (!several && (at != s->header.scan ||
                             !pfi_jpeg_ends_well(decoder->data, decoder->size,
                                                 at)));
    if ((!s->whole && !several) || s->header.arithmetic) {
        s->at_once = true;
        (void)feed(decoder, s);
    }
}

static pinfold_status begin(struct pfi_decoder *decoder, struct jpeg_state *s)
{
    pinfold_status status;
    int found;

    create(decoder, s);
    /* Tables may stand in a stream of their own before the picture's. */
    do {
        found = jpeg_read_header(&s->cinfo, FALSE);
        if (found == JPEG_SUSPENDED && !feed(decoder, s))
            return truncated(s->err);
    } while (found != JPEG_HEADER_OK);
    if ((int32_t)s->cinfo.image_width != decoder->width ||
        (int32_t)s->cinfo.image_height != decoder->height)
        return pfi_fail(s->err, PINFOLD_E_CORRUPT, 0,
                        "JPEG: two frames of different sizes");
    status = check_limits(decoder, s);
    if (status)
        return status;
    choose_window(decoder, s);
    s->cinfo.out_color_space = s->cinfo.num_components == 1   ? JCS_GRAYSCALE
                               : s->cinfo.num_components == 4 ? JCS_CMYK
                                                              : JCS_RGB;
    while (!jpeg_start_decompress(&s->cinfo))
        if (!feed(decoder, s))
            return truncated(s->err);
    if (pfi_jpeg_smooths_otherwise(&s->cinfo))
        return pfi_fail(s->err, PINFOLD_E_UNSUPPORTED, 0,
                        "JPEG: a progressive picture that is not sent to the "
                        "end is smoothed otherwise by libjpeg-turbo before "
                        "3.0.1");
    return PINFOLD_OK;
}

static pinfold_status next_row(struct pfi_decoder *decoder,
                               struct jpeg_state *s)
{
    JSAMPROW row = s->row;

    while (jpeg_read_scanlines(&s->cinfo, &row, 1) != 1)
        if (!feed(decoder, s))
            return truncated(s->err);
    return PINFOLD_OK;
}

static pinfold_status go_to_window(struct pfi_decoder *decoder,
                                   struct jpeg_state *s)
{
    pinfold_status status = PINFOLD_OK;

    s->whole = s->whole || !pfi_jpeg_complete(&s->cinfo);
    if (!s->whole) {
        s->first_column = pfi_jpeg_window_begin(&s->cinfo, &decoder->window);
        return PINFOLD_OK;
    }
    while (!status && s->cinfo.output_scanline < (JDIMENSION)decoder->window.top)
        status = next_row(decoder, s);
    return status;
}

/* A second frame is fatal to libjpeg-turbo 3.2 as soon as it sees the marker; 2.1
 * wants to read its header first, and waits for data where that is cut. */
static bool begins_frame(int marker)
{
    return marker == 0xC0 || marker == 0xC1 || marker == 0xC2 ||
           marker == 0xC9 || marker == 0xCA;
}

/* Once all rows are out Pillow reads no further block, and a missing end is
 * none to it, but a fatal error is one. */
static pinfold_status end(struct pfi_decoder *decoder, struct jpeg_state *s)
{
    pinfold_status status = PINFOLD_OK;

    if (!s->whole)
        return PINFOLD_OK;
    while (!status && s->cinfo.output_scanline < s->cinfo.output_height)
        status = next_row(decoder, s);
    if (!status && !jpeg_finish_decompress(&s->cinfo) &&
        begins_frame(s->cinfo.unread_marker))
        return pfi_fail(s->err, PINFOLD_E_CORRUPT, 0, "JPEG: two frames");
    return status;
}

/* Runs a step of libjpeg's; the one place that libjpeg comes back to when it
 * gives up.  Nothing here changes between setjmp and longjmp but *s. */
static pinfold_status run(struct pfi_decoder *decoder, pinfold_error *err,
                          pinfold_status (*step)(struct pfi_decoder *,
                                                 struct jpeg_state *))
{
    struct jpeg_state *const s = decoder->state;

    s->err = err;
    if (setjmp(s->escape))
        return s->status;
    return step(decoder, s);
}

/* --------------------------------------------------------------- colours --- */

/* a * b / 255, rounded as Pillow's MULDIV255. */
static int muldiv255(int a, int b)
{
    const int t = a * b + 128;

    return ((t >> 8) + t) >> 8;
}

static unsigned char clip8(int value)
{
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Pillow always takes the four components as inverted (rawmode CMYK;I) and
 * turns them into RGB by Convert.c's cmyk2rgb(). */
static void cmyk_to_rgb(unsigned char *rgb, const unsigned char *cmyk, size_t n)
{
    for (size_t i = 0; i < n; i++, rgb += 3, cmyk += 4)
        for (int c = 0; c < 3; c++)
            rgb[c] = clip8(cmyk[3] - muldiv255(255 - cmyk[c], cmyk[3]));
}

static void grey_to_rgb(unsigned char *rgb, const unsigned char *grey, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memset(rgb + 3 * i, grey[i], 3);
}

/* ------------------------------------------------------------- the codec --- */

static bool sniff(const unsigned char *data, size_t size)
{
    return size >= 3 && data[0] == 0xFF && data[1] == 0xD8 && data[2] == 0xFF;
}

static pinfold_status orientation(struct pfi_decoder *decoder,
                                  pinfold_error *err)
{
    struct pfi_exif info;

    if (!pfi_exif_from_jpeg(&info, decoder->arena, decoder->data, decoder->size))
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for EXIF");
    return pfi_exif_orientation(&info, "JPEG", &decoder->orientation, err);
}

static pinfold_status open_jpeg(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct jpeg_state *const s = pfi_arena_alloc(decoder->arena, sizeof(*s));
    pinfold_status status;

    if (!s)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a decoder");
    memset(s, 0, sizeof(*s));
    decoder->state = s;
    status = pfi_jpeg_header(decoder->data, decoder->size, decoder->arena,
                             &s->header, err);
    if (status)
        return status;
    decoder->width = s->header.width;
    decoder->height = s->header.height;
    decoder->mode = s->header.components == 1   ? "L"
                    : s->header.components == 4 ? "CMYK"
                                                : "RGB";
    return decoder->turn ? orientation(decoder, err) : PINFOLD_OK;
}

/* NULL: the fast decoder may take the window; else why not. */
static const char *open_fast(struct pfi_decoder *decoder,
                             const struct pfi_window *window,
                             struct pfi_fast **fast)
{
    if (decoder->limits->whole)
        return "all of the picture was asked for";
    if (decoder->limits->libjpeg)
        return "it was asked for";
    return pfi_fast_open(fast, decoder->arena, decoder->data, decoder->size,
                         window, decoder->limits, NULL);
}

/* Whether the fast decoder has taken the window.  Otherwise what it took of the
 * arena stays taken until the sample is done. */
static bool start_fast(struct pfi_decoder *decoder, struct jpeg_state *s)
{
    const uint64_t start = pfi_now_ns();
    struct pfi_fast *fast;

    if (!open_fast(decoder, &decoder->window, &fast) &&
        !pfi_fast_decode_window(fast)) {
        s->fast = fast;
        return true;
    }
    if (!decoder->limits->libjpeg && !decoder->limits->whole)
        decoder->attempt_ns = pfi_now_ns() - start + 1;
    return false;
}

static pinfold_status start(struct pfi_decoder *decoder, pinfold_error *err)
{
    struct jpeg_state *const s = decoder->state;
    pinfold_status status;

    if (start_fast(decoder, s))
        return PINFOLD_OK;
    /* Not jpeg_std_error(): its file writes to stderr, and in a static library
     * that was not built for it keeps ours from being shared. */
    s->cinfo.err = &s->errors;
    s->cinfo.client_data = s;
    s->errors.error_exit = on_error;
    s->errors.format_message = on_format;
    s->errors.reset_error_mgr = on_reset;
    s->errors.output_message = on_message;
    s->errors.emit_message = on_warning;
    s->row = pfi_arena_array(decoder->arena, (size_t)decoder->width, 4);
    if (!s->row)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a row");
    status = run(decoder, err, begin);
    return status ? status : run(decoder, err, go_to_window);
}

static pinfold_status row(struct pfi_decoder *decoder, unsigned char *rgb,
                          pinfold_error *err)
{
    const struct jpeg_state *const s = decoder->state;
    const size_t left = (size_t)(decoder->window.left - s->first_column);
    const size_t n = (size_t)(decoder->window.right - decoder->window.left);
    pinfold_status status;

    if (s->fast) {
        pfi_fast_row(s->fast, rgb);
        return PINFOLD_OK;
    }
    status = run(decoder, err, next_row);
    if (status)
        return status;
    if (s->cinfo.output_components == 3)
        memcpy(rgb, s->row + left * 3, n * 3);
    else if (s->cinfo.output_components == 4)
        cmyk_to_rgb(rgb, s->row + left * 4, n);
    else
        grey_to_rgb(rgb, s->row + left, n);
    return PINFOLD_OK;
}

static pinfold_status finish(struct pfi_decoder *decoder, pinfold_error *err)
{
    const struct jpeg_state *const s = decoder->state;

    return s->fast ? PINFOLD_OK : run(decoder, err, end);
}

static void close_jpeg(struct pfi_decoder *decoder)
{
    struct jpeg_state *const s = decoder->state;

    /* Destroying calls no error_exit, and takes what a creation that ran out of
     * memory has left. */
    if (s && s->cinfo.mem)
        jpeg_destroy_decompress(&s->cinfo);
}

void pfi_jpeg_foresee(struct pfi_decoder *decoder,
                      const struct pfi_window *window, struct pfi_foreseen *out)
{
    struct pfi_fast *fast;

    out->why = open_fast(decoder, window, &fast);
    out->decoder = out->why ? "libjpeg-turbo" : "pinfold";
    out->bytes = out->why ? 0 : fast->bytes;
}

const struct pfi_codec pfi_codec_jpeg = {"JPEG", sniff, open_jpeg, start,
                                         row,    finish, close_jpeg};
