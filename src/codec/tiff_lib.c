/* SPDX-License-Identifier: Apache-2.0
 * TIFF with compression: libtiff as Pillow uses it (src/libImaging/TiffDecode.c,
 * 13.0.0), over the bytes in memory, with error handlers of the handle's own. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <tiffio.h>

#include "src/codec/tiff_state.h"

static pinfold_status corrupt(pinfold_error *err, const char *why)
{
    return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "TIFF: %s", why);
}

/* ------------------------------------------------------- libtiff's callbacks --- */

struct source {
    const unsigned char *data;
    uint64_t size, at;
};

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size)
{
    struct source *const s = handle;
    const uint64_t left = s->at < s->size ? s->size - s->at : 0;
    const uint64_t n = (uint64_t)size < left ? (uint64_t)size : left;

    memcpy(to, s->data + (n ? s->at : 0), (size_t)n);
    s->at += n;
    return (tmsize_t)n;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle;
    (void)from;
    (void)size;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    struct source *const s = handle;

    s->at = whence == SEEK_SET   ? offset
            : whence == SEEK_CUR ? s->at + offset
                                 : s->size + offset;
    return s->at;
}

static int close_source(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t source_size(thandle_t handle)
{
    return ((struct source *)handle)->size;
}

/* libtiff only reads what it maps. */
static int map_source(thandle_t handle, void **base, toff_t *size)
{
    const struct source *const s = handle;

    *base = (void *)(uintptr_t)s->data;
    *size = s->size;
    return 1;
}

static void unmap_source(thandle_t handle, void *base, toff_t size)
{
    (void)handle;
    (void)base;
    (void)size;
}

/* Keeps the first message; returning 1 ends libtiff's search for handlers. */
static int on_error(TIFF *tiff, void *state, const char *module,
                    const char *format, va_list args)
{
    struct pfi_tiff_state *const s = state;

    (void)tiff;
    (void)module;
    /* The format is libtiff's own, and says what its parameters are. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (!s->message[0])
        (void)vsnprintf(s->message, sizeof(s->message), format, args);
#pragma GCC diagnostic pop
    return 1;
}

static int on_warning(TIFF *tiff, void *state, const char *module,
                      const char *format, va_list args)
{
    (void)tiff;
    (void)state;
    (void)module;
    (void)format;
    (void)args;
    return 1;
}

/* ---------------------------------------------------------- through libtiff --- */

/* What one picture's decoding needs; no names of Pillow's are left. */
struct job {
    struct pfi_decoder *decoder;
    struct pfi_tiff_state *state;
    TIFF *tiff;
    const struct pfi_unpacker *unpackers[4];
    int planes;
    int64_t bits;          /* of a pixel, by Pillow's reckoning */
    unsigned char *buffer; /* a strip, a tile, or rows of RGBA */
    pinfold_error *err;
};

/* libtiff tells that memory was short in words only; where it cannot open a
 * file, whose header is known to be good, it may say nothing. */
static bool is_memory(const char *said)
{
    static const char *const words[] = {
        "memory", "No space for", "malloc(", "allocate", "Insertion in tif_map_"};

    /* What a damaged file asks for beyond the limit that it was given. */
    if (strstr(said, "byte limit"))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(said, words[i]))
            return true;
    return false;
}

static pinfold_status broken(const struct job *job, const char *why)
{
    const char *const said = job->state->message;

    if (is_memory(said) || (!job->tiff && !said[0]))
        return pfi_fail(job->err, PINFOLD_E_MEMORY, 0,
                        "TIFF: no memory: %s", said[0] ? said : why);
    return corrupt(job->err, said[0] ? said : why);
}

/* Memory for `bytes`, cleared: what a decoder leaves out is black.  The first
 * reckoning is the one that Pillow clears. */
static pinfold_status get_buffer(struct job *job, uint64_t bytes)
{
    pinfold_status status;

    if (bytes > INT_MAX - 1)
        return pfi_fail(job->err, PINFOLD_E_LIMIT, 0,
                        "TIFF: strips or tiles of more than 2147483646 bytes");
    status = pfi_decoder_scratch(job->decoder, bytes, job->err);
    if (status)
        return status;
    job->buffer = pfi_arena_alloc(job->decoder->arena, (size_t)bytes);
    if (!job->buffer)
        return pfi_fail(job->err, PINFOLD_E_MEMORY, 0, "no memory for a strip");
    memset(job->buffer, 0, (size_t)bytes);
    return PINFOLD_OK;
}

/* Unpacks `rows` rows of `width` pixels from the buffer to (x, y). */
static void place_rows(const struct job *job, int plane, int64_t x, int64_t y,
                       int64_t width, int64_t rows, uint64_t row_bytes)
{
    for (int64_t i = 0; i < rows; i++) {
        unsigned char *const to = pfi_tiff_place(job->decoder, x, y + i);

        if (to)
            pfi_unpack(job->unpackers[plane], to,
                       job->buffer + (uint64_t)i * row_bytes, (size_t)width);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static pinfold_status read_tile_row(const struct job *job, int64_t y, int plane,
                                    uint32_t tile_width, uint32_t tile_height,
                                    uint64_t row_bytes)
{
    const int64_t width = job->state->info.width;
    const int64_t height = job->state->info.height;

    for (int64_t x = 0; x < width; x += tile_width) {
        if (TIFFReadTile(job->tiff, job->buffer, (uint32_t)x, (uint32_t)y, 0,
                         (uint16_t)plane) == -1)
            return broken(job, "a tile is damaged");
        place_rows(job, plane, x, y, least(tile_width, width - x),
                   least(tile_height, height - y), row_bytes);
    }
    return PINFOLD_OK;
}

static pinfold_status read_tiles(struct job *job)
{
    const int64_t height = job->state->info.height;
    const tmsize_t bytes = TIFFTileSize(job->tiff);
    const tmsize_t row_bytes = TIFFTileRowSize(job->tiff);
    uint32_t w = 0, h = 0;
    pinfold_status status;

    if (bytes <= 0 || row_bytes <= 0 || row_bytes > bytes)
        return broken(job, "tiles of no size");
    (void)TIFFGetField(job->tiff, TIFFTAG_TILEWIDTH, &w);
    (void)TIFFGetField(job->tiff, TIFFTAG_TILELENGTH, &h);
    if (!w || !h || w > INT_MAX || h > INT_MAX)
        return broken(job, "tiles of no size");
    const int64_t wanted = ((int64_t)w * job->bits / job->planes + 7) / 8;

    /* Rows are as far apart as libtiff says: none may reach beyond the tile. */
    if (bytes != wanted * h || wanted != row_bytes)
        return broken(job, "tiles of another size than their pixels");
    status = get_buffer(job, (uint64_t)bytes);
    for (int64_t y = 0; !status && y < height; y += h)
        for (int plane = 0; !status && plane < job->planes; plane++)
            status = read_tile_row(job, y, plane, w, h, (uint64_t)row_bytes);
    return status;
}

static pinfold_status read_strips(struct job *job)
{
    const int64_t width = job->state->info.width;
    const int64_t height = job->state->info.height;
    const tmsize_t bytes = TIFFStripSize(job->tiff);
    const tmsize_t row_bytes = TIFFScanlineSize(job->tiff);
    const int64_t wanted = (width * job->bits / job->planes + 7) / 8;
    uint32_t rows = 0;
    pinfold_status status;

    if (TIFFGetField(job->tiff, TIFFTAG_ROWSPERSTRIP, &rows) != 1 ||
        rows == UINT32_MAX)
        rows = (uint32_t)height;
    if (!rows || rows > INT_MAX || bytes < 0 || bytes > wanted * rows)
        return broken(job, "strips of another size than their pixels");
    if (row_bytes <= 0 || wanted > row_bytes ||
        (least(rows, height) - 1) * row_bytes + wanted > bytes)
        return broken(job, "rows of another size than their pixels");
    status = get_buffer(job, (uint64_t)bytes);
    for (int64_t y = 0; !status && y < height; y += rows)
        for (int plane = 0; !status && plane < job->planes; plane++) {
            if (TIFFReadEncodedStrip(
                    job->tiff,
                    TIFFComputeStrip(job->tiff, (uint32_t)y, (uint16_t)plane),
                    job->buffer, bytes) == -1)
                return broken(job, "a strip is damaged");
            place_rows(job, plane, 0, y, width, least(rows, height - y),
                       (uint64_t)row_bytes);
        }
    return status;
}

static pinfold_status read_blocks(struct job *job, TIFFRGBAImage *image,
                                  uint32_t rows)
{
    const int64_t height = job->state->info.height;
    const uint64_t row_bytes = (uint64_t)image->width * 4;
    pinfold_status status;

    if ((int64_t)image->width != job->state->info.width || !rows)
        return broken(job, "another width than the header's");
    if (row_bytes > INT_MAX || INT_MAX / row_bytes < rows)
        return pfi_fail(job->err, PINFOLD_E_LIMIT, 0,
                        "TIFF: blocks of more than 2147483647 bytes");
    status = get_buffer(job, row_bytes * rows);
    for (int64_t y = 0; !status && y < height; y += rows) {
        const int64_t n = least(rows, height - y);

        image->row_offset = (int)y;
        if (!TIFFRGBAImageGet(image, (uint32_t *)(void *)job->buffer,
                              image->width, (uint32_t)n))
            return broken(job, "a block is damaged");
        place_rows(job, 0, 0, y, image->width, n, row_bytes);
    }
    return status;
}

/* What libtiff's conversion of YCbCr gives otherwise than Pillow's libtiff: it
 * refuses a sample of colour that covers more than the picture from 4.7 on, and
 * before misplaces the edge tiles of 4 x 4 pixels a sample. */
static pinfold_status check_subsampling(const struct job *job, uint16_t planar)
{
    const struct pfi_tiff_info *const info = &job->state->info;
    uint16_t x = 1, y = 1;
    uint32_t w = 1, h = 1;

    (void)TIFFGetFieldDefaulted(job->tiff, TIFFTAG_YCBCRSUBSAMPLING, &x, &y);
    if (planar != PLANARCONFIG_CONTIG)
        return PINFOLD_OK;
    if (x > info->width || y > info->height)
        return broken(job, "subsampled beyond the picture's size");
    if (x != 4 || y != 4 || !TIFFIsTiled(job->tiff))
        return PINFOLD_OK;
    (void)TIFFGetField(job->tiff, TIFFTAG_TILEWIDTH, &w);
    (void)TIFFGetField(job->tiff, TIFFTAG_TILELENGTH, &h);
    if (w && h && !((uint32_t)info->width % w) && !((uint32_t)info->height % h))
        return PINFOLD_OK;
    return pfi_fail(job->err, PINFOLD_E_UNSUPPORTED, 0,
                    "TIFF: tiles of 4 x 4 pixels a sample of colour that the "
                    "picture cuts are not supported");
}

/* YCbCr that libjpeg does not convert: libtiff's own conversion. */
static pinfold_status read_as_rgba(struct job *job, uint16_t planar)
{
    char message[1024] = "";
    TIFFRGBAImage image;
    uint32_t rows = 0;
    pinfold_status status;
    const int found =
        TIFFIsTiled(job->tiff)
            ? TIFFGetFieldDefaulted(job->tiff, TIFFTAG_TILELENGTH, &rows)
            : TIFFGetFieldDefaulted(job->tiff, TIFFTAG_ROWSPERSTRIP, &rows);

    if (found != 1 || rows == UINT32_MAX)
        rows = (uint32_t)job->state->info.height;
    status = check_subsampling(job, planar);
    if (status)
        return status;
    if (job->bits != 32 || !TIFFRGBAImageOK(job->tiff, message) ||
        !TIFFRGBAImageBegin(&image, job->tiff, 0, message))
        return broken(job, message[0] ? message : "pixels of another kind");
    image.orientation = image.req_orientation = ORIENTATION_TOPLEFT;
    image.col_offset = 0;
    status = read_blocks(job, &image, rows);
    TIFFRGBAImageEnd(&image);
    return status;
}

/* Alpha that colours were multiplied by, and that lay in a plane of its own. */
static pinfold_status divide_by_alpha(const struct job *job)
{
    const struct pfi_window *const w = &job->decoder->window;
    uint16_t n = 0;
    uint16_t *kinds = NULL;

    if (job->planes < 4 || strcmp(job->state->info.mode, "RGBA"))
        return PINFOLD_OK;
    (void)TIFFGetFieldDefaulted(job->tiff, TIFFTAG_EXTRASAMPLES, &n, &kinds);
    /* libtiff counts them even where it had no memory to keep them. */
    if (n && !kinds)
        return pfi_fail(job->err, PINFOLD_E_MEMORY, 0,
                        "no memory for the extra samples");
    if (n < 1 || (kinds[0] != EXTRASAMPLE_UNSPECIFIED &&
                  kinds[0] != EXTRASAMPLE_ASSOCALPHA))
        return PINFOLD_OK;
    for (int64_t y = w->top; y < w->bottom; y++) {
        unsigned char *const row = pfi_tiff_place(job->decoder, 0, y);

        pfi_unpack(pfi_unpacker_find("RGBA", "RGBa", 4), row, row,
                   (size_t)job->state->info.width);
    }
    return PINFOLD_OK;
}

static pinfold_status pick_unpackers(struct job *job, uint16_t planar)
{
    const struct pfi_tiff_info *const info = &job->state->info;
    uint16_t bits = 8;

    job->planes = 1;
    if (planar != PLANARCONFIG_SEPARATE || pfi_mode_bands(info->mode) == 1)
        return PINFOLD_OK;
    (void)TIFFGetFieldDefaulted(job->tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    if (bits != 8 && bits != 16)
        return broken(job, "planes of neither 8 nor 16 bits");
    job->planes = pfi_mode_bands(info->mode);
    for (int band = 0; band < 4; band++)
        job->unpackers[band] = pfi_unpacker_band(band, bits);
    return PINFOLD_OK;
}

static pinfold_status read_pixels(struct job *job)
{
    uint16_t photometric = 0, compression = 0, planar = 0;
    pinfold_status status;

    (void)TIFFGetField(job->tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    (void)TIFFGetField(job->tiff, TIFFTAG_COMPRESSION, &compression);
    (void)TIFFGetFieldDefaulted(job->tiff, TIFFTAG_PLANARCONFIG, &planar);
    /* libdeflate judges a stream that is too long otherwise than zlib, which is
     * what Pillow's libtiff has. */
    if (compression == COMPRESSION_ADOBE_DEFLATE ||
        compression == COMPRESSION_DEFLATE)
        (void)TIFFSetField(job->tiff, TIFFTAG_DEFLATE_SUBCODEC,
                           DEFLATE_SUBCODEC_ZLIB);
    if (photometric == PHOTOMETRIC_YCBCR) {
        if (compression != COMPRESSION_JPEG || planar != PLANARCONFIG_CONTIG)
            return read_as_rgba(job, planar);
        (void)TIFFSetField(job->tiff, TIFFTAG_JPEGCOLORMODE,
                           JPEGCOLORMODE_RGB);
    }
    status = pick_unpackers(job, planar);
    if (!status)
        status = TIFFIsTiled(job->tiff) ? read_tiles(job) : read_strips(job);
    return status ? status : divide_by_alpha(job);
}

/* libtiff must be in the directory that the header was read from, and see the
 * same picture there. */
static pinfold_status enter_directory(const struct job *job)
{
    const struct pfi_tiff_info *const info = &job->state->info;
    uint32_t width = 0, height = 0;

    if (!TIFFSetSubDirectory(job->tiff, (uint32_t)info->offset))
        return broken(job, "the directory is damaged");
    (void)TIFFGetField(job->tiff, TIFFTAG_IMAGEWIDTH, &width);
    (void)TIFFGetField(job->tiff, TIFFTAG_IMAGELENGTH, &height);
    if (width != (uint32_t)info->width || height != (uint32_t)info->height)
        return broken(job, "another size than the header's");
    return PINFOLD_OK;
}

static TIFF *open_tiff(struct pfi_tiff_state *state, struct source *source,
                       uint64_t limit)
{
    TIFFOpenOptions *const options = TIFFOpenOptionsAlloc();
    TIFF *tiff;

    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(
        options, limit > INT64_MAX ? INT64_MAX : (tmsize_t)limit);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, state);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, state);
    /* C: cuts long strips into shorter ones, as for Pillow. */
    tiff = TIFFClientOpenExt("picture", "rC", source, read_bytes, write_bytes,
                             seek, close_source, source_size, map_source,
                             unmap_source, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

pinfold_status pfi_tiff_compressed(struct pfi_decoder *decoder,
                                   pinfold_error *err)
{
    struct pfi_tiff_state *const s = decoder->state;
    struct job job = {.decoder = decoder, .state = s, .err = err};
    struct source source = {decoder->data, decoder->size, 0};
    pinfold_status status;

    job.unpackers[0] =
        pfi_unpacker_find(s->info.mode, s->info.raw, strlen(s->info.raw));
    if (!job.unpackers[0])
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "TIFF: %s is not supported", s->info.raw);
    job.bits = job.unpackers[0]->bits;
    if (s->info.width > INT_MAX / job.bits - 7)
        return corrupt(err, "rows are too long");
    job.tiff = open_tiff(s, &source, decoder->limits->scratch);
    if (!job.tiff)
        return broken(&job, "libtiff cannot open it");
    status = enter_directory(&job);
    if (!status)
        status = read_pixels(&job);
    TIFFClose(job.tiff);
    return status;
}
