/* SPDX-License-Identifier: Apache-2.0
 * What decoding the window of Resize(256) and CenterCrop(224) costs, by
 * libjpeg-turbo and by the fast decoder at every CPU level, picture by picture
 * in turn on one thread.  Counts the thread's processor time, so that other
 * work on the machine matters less.
 * usage: bench_fastjpeg TREE [ROUNDS [FILES]] */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/codec/fastjpeg/fast.h"

#define MOST_FILES 100000
#define WAYS 8 /* libjpeg, and two for each level */

struct file {
    unsigned char *data;
    size_t size;
    struct pfi_window window;
};

static struct file files[MOST_FILES];
static int n_files, most_files = MOST_FILES;
static struct pfi_arena arena;
static const struct pfi_limits limits = {
    .pixels = 1u << 30, .scratch = 1u << 30, .scans = 256, .libjpeg = true};

static int add(const char *path, const struct stat *info, int type,
               struct FTW *where)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    struct file *const f = &files[n_files];
    FILE *in;

    (void)where;
    if (type != FTW_F || n_files == most_files)
        return 0;
    in = fopen(path, "rb");
    f->size = (size_t)info->st_size;
    f->data = malloc(f->size);
    if (!in || !f->data || fread(f->data, 1, f->size, in) != f->size)
        abort();
    (void)fclose(in);
    if (pinfold_plan_picture(NULL, f->data, f->size, &plan, NULL) ||
        strcmp(plan.format, "JPEG") != 0) {
        free(f->data);
        return 0;
    }
    f->window = (struct pfi_window){plan.window_left, plan.window_top,
                                    plan.window_right, plan.window_bottom};
    n_files++;
    return 0;
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool by_libjpeg(const struct file *f, unsigned char *row)
{
    struct pfi_decoder d;
    pinfold_status status =
        pfi_decoder_open(&d, &arena, f->data, f->size, &limits, false, NULL);

    if (status)
        return false;
    status = pfi_decoder_start(&d, &f->window, NULL);
    for (int32_t y = f->window.top; !status && y < f->window.bottom; y++)
        status = pfi_decoder_row(&d, row, NULL);
    if (!status)
        status = pfi_decoder_finish(&d, NULL);
    pfi_decoder_close(&d);
    return !status;
}

static bool by_fast(const struct file *f, unsigned char *row,
                    const struct pfi_fast_kernels *k)
{
    struct pfi_fast *fast;

    if (pfi_fast_open(&fast, &arena, f->data, f->size, &f->window, &limits,
                      k) ||
        pfi_fast_decode_window(fast))
        return false;
    for (int32_t y = f->window.top; y < f->window.bottom; y++)
        pfi_fast_row(fast, row);
    return true;
}

/* The coded data alone. */
static bool entropy_only(const struct file *f, const struct pfi_fast_kernels *k)
{
    struct pfi_fast *fast;

    if (pfi_fast_open(&fast, &arena, f->data, f->size, &f->window, &limits, k))
        return false;
    if (fast->progress)
        return !pfi_fast_progress_decode(fast);
    while (fast->row < fast->bottom)
        if (!pfi_fast_mcu_row(fast))
            return false;
    return true;
}

static bool decode(const struct file *f, int way, unsigned char *row)
{
    static const struct pfi_fast_kernels *levels[WAYS];
    bool well;

    /* Asking the CPU takes long. */
    if (way && !levels[way])
        levels[way] = pfi_fast_kernels_at((way - 1) / 2);

    if (way == 0)
        well = by_libjpeg(f, row);
    else if (way % 2)
        well = by_fast(f, row, levels[way]);
    else
        well = entropy_only(f, levels[way]);
    pfi_arena_reset(&arena);
    return well;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 2 ? atoi(argv[2]) : 3;
    static unsigned char row[3 * 65536];
    double seconds[WAYS] = {0};
    int counted = 0, ways = 1;

    if (argc > 3)
        most_files = atoi(argv[3]);
    if (argc < 2 || nftw(argv[1], add, 16, FTW_PHYS) ||
        !pfi_arena_init(&arena, 4 << 20))
        return 1;
    while ((ways - 1) / 2 < 3 && pfi_fast_kernels_at((ways - 1) / 2))
        ways += 2;
    for (int i = 0; i < n_files; i++) {
        double times[WAYS][32];
        bool all = true;

        for (int r = 0; all && r < rounds && r < 32; r++) {
            for (int way = 0; all && way < ways; way++) {
                const double start = now();

                all = decode(&files[i], way, row);
                times[way][r] = now() - start;
            }
        }
        if (!all)
            continue;
        counted++;
        for (int way = 0; way < ways; way++) {
            qsort(times[way], (size_t)rounds, sizeof(double), by_value);
            seconds[way] += times[way][rounds / 2];
        }
    }
    (void)printf("%d of %d files decoded by both, medians of %d\n", counted,
                 n_files, rounds);
    for (int way = 0; way < ways; way++)
        (void)printf("%-8s %-8s %8.1f pictures a second, %5.2f\n",
                     way ? pfi_fast_kernels_at((way - 1) / 2)->name : "libjpeg",
                     way == 0 || way % 2 ? "window" : "entropy",
                     counted / seconds[way], seconds[0] / seconds[way]);
    return 0;
}
