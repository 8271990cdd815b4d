/* SPDX-License-Identifier: Apache-2.0
 * What the JPEG codec alone costs on a tree, with no resize and no tensor: the
 * bound that a loader on libjpeg-turbo is measured against.
 * usage: limits TREE read|entropy|full|roi THREADS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jpeglib.h>

#define BUFFER ((size_t)1 << 25)

static char **files;
static int n_files;
static const char *mode;
static atomic_int next_file;

struct escape {
    struct jpeg_error_mgr errors;
    jmp_buf jump;
};

static int add(const char *path, const struct stat *info, int type,
               struct FTW *where)
{
    (void)info;
    (void)where;
    if (type != FTW_F)
        return 0;
    files = realloc(files, ((size_t)n_files + 1) * sizeof(*files));
    if (!files || !(files[n_files++] = strdup(path)))
        abort();
    return 0;
}

static void leave(j_common_ptr cinfo)
{
    longjmp(((struct escape *)cinfo->err)->jump, 1);
}

static void quiet(j_common_ptr cinfo)
{
    (void)cinfo;
}

static size_t read_file(const char *path, unsigned char *buffer)
{
    const int fd = open(path, O_RDONLY);
    struct stat info;
    ssize_t n = -1;

    if (fd >= 0 && !fstat(fd, &info) && (size_t)info.st_size <= BUFFER)
        n = read(fd, buffer, (size_t)info.st_size);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* Goes to the pixels that Resize(256) and CenterCrop(224) need, with a margin;
 * returns the row behind them. */
static JDIMENSION go_to_window(j_decompress_ptr c)
{
    const double w = c->image_width, h = c->image_height;
    const double reach = (w < h ? w : h) / 256 + 3;
    const double rw = w < h ? 256 : floor(256 * w / h);
    const double rh = w < h ? floor(256 * h / w) : 256;
    const double x = nearbyint((rw - 224) / 2), y = nearbyint((rh - 224) / 2);
    const double left = fmax(0, floor(x * w / rw - reach));
    const double right = fmin(w, ceil((x + 224) * w / rw + reach));
    const double top = fmax(0, floor(y * h / rh - reach));
    JDIMENSION first = (JDIMENSION)left, n = (JDIMENSION)(right - left);

    jpeg_crop_scanline(c, &first, &n);
    if (top > 0)
        (void)jpeg_skip_scanlines(c, (JDIMENSION)top);
    return (JDIMENSION)fmin(h, ceil((y + 224) * h / rh + reach));
}

static void decode(j_decompress_ptr c, unsigned char *row)
{
    JDIMENSION end;

    (void)jpeg_read_header(c, TRUE);
    if (!strcmp(mode, "entropy")) {
        (void)jpeg_read_coefficients(c);
        return;
    }
    if (c->num_components == 3)
        c->out_color_space = JCS_RGB;
    (void)jpeg_start_decompress(c);
    end = strcmp(mode, "roi") ? c->output_height : go_to_window(c);
    while (c->output_scanline < end)
        (void)jpeg_read_scanlines(c, &row, 1);
}

static void decode_file(j_decompress_ptr cinfo, struct escape *escape,
                        const unsigned char *data, size_t size,
                        unsigned char *row)
{
    if (!setjmp(escape->jump)) {
        jpeg_mem_src(cinfo, data, size);
        decode(cinfo, row);
    }
    jpeg_abort_decompress(cinfo);
}

static void *work(void *unused)
{
    struct jpeg_decompress_struct cinfo;
    struct escape escape;
    unsigned char *const buffer = malloc(BUFFER), *const row = malloc(BUFFER);

    if (!buffer || !row)
        abort();
    cinfo.err = jpeg_std_error(&escape.errors);
    escape.errors.error_exit = leave;
    escape.errors.output_message = quiet;
    jpeg_create_decompress(&cinfo);
    for (int i; (i = next_file++) < n_files;) {
        const size_t size = read_file(files[i], buffer);

        if (strcmp(mode, "read") != 0 && size)
            decode_file(&cinfo, &escape, buffer, size, row);
    }
    jpeg_destroy_decompress(&cinfo);
    free(buffer);
    free(row);
    return unused;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    const int threads = argc == 4 ? atoi(argv[3]) : 0;
    pthread_t ids[64];
    double start;

    if (threads < 1 || threads > 64) {
        (void)fputs("usage: limits TREE read|entropy|full|roi THREADS\n", stderr);
        return 2;
    }
    mode = argv[2];
    if (nftw(argv[1], add, 16, 0))
        return 1;
    /* The first round warms the page cache. */
    for (int round = 0; round < 2; round++) {
        next_file = 0;
        start = now();
        for (int i = 0; i < threads; i++)
            if (pthread_create(&ids[i], NULL, work, NULL))
                return 1;
        for (int i = 0; i < threads; i++)
            pthread_join(ids[i], NULL);
    }
    (void)printf("%.1f images/s\n", n_files / (now() - start));
    return 0;
}
