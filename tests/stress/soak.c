/* SPDX-License-Identifier: Apache-2.0
 * Opens, uses and closes the library with random options on the pictures below
 * ROOT for SECONDS, and writes every second, between two lives, a row of what
 * the process holds: seconds,rss_kb,descriptors,threads,pinned_bytes,lives,
 * samples.  Ends with 1 where over the last half the memory grows by more than
 * a megabyte an hour, or descriptors, threads or pinned bytes change. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/load/loader.h"
#include "tests/support/fakegpu.h"

struct row {
    double seconds, rss_kb;
    long descriptors, threads;
    size_t pinned_bytes;
};

struct soak {
    pinfold_dataset *dataset;
    const struct pfi_gpu *gpu; /* of this life */
    unsigned random;
    long lives, samples;
    size_t pinned_bytes; /* that the last life left behind */
    double start;
    struct row *rows;
    size_t n, room;
};

static void die(const char *what, const pinfold_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", what, err ? err->message : "failed");
    exit(2);
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int32_t below(struct soak *s, unsigned n)
{
    s->random = s->random * 1664525u + 1013904223u;
    return (int32_t)((s->random >> 16) % n);
}

/* ---------------------------------------------------------------- a life --- */

static pinfold_recipe random_recipe(struct soak *s)
{
    pinfold_recipe r = pinfold_recipe_default();

    r.crop_height = 16 + below(s, 300);
    r.crop_width = 16 + below(s, 300);
    r.filter = (pinfold_filter)below(s, 6);
    r.dtype = (pinfold_dtype)below(s, 4);
    r.layout = (pinfold_layout)below(s, 2);
    r.random_crop = below(s, 4) == 0;
    if (!r.random_crop)
        r.resize_short = 32 + below(s, 300);
    r.full_decode = below(s, 4) == 0;
    r.jpeg = (pinfold_jpeg)(below(s, 4) == 0);
    return r;
}

static pinfold_loader_options random_options(struct soak *s,
                                             const pinfold_recipe *recipe)
{
    pinfold_loader_options o = pinfold_loader_options_default();

    o.recipe = recipe;
    o.workers = below(s, 5);
    if (!o.workers)
        o.workers = PINFOLD_OFF;
    o.io_threads = below(s, 4);
    o.slots = 1 + below(s, 4);
    o.batch_size = 1 + below(s, 24);
    o.shuffle = below(s, 2);
    o.memory = PINFOLD_MEMORY_PAGEABLE;
    if (below(s, 2)) {
        o.upload = PINFOLD_UPLOAD_REQUIRE;
        o.memory = PINFOLD_MEMORY_AUTO;
    }
    return o;
}

/* Up to a few batches; some are left out, which the close takes back. */
static void consume(struct soak *s, pinfold_loader *loader)
{
    const pinfold_batch *batch;
    pinfold_error err;

    for (int k = below(s, 8); k > 0; k--) {
        const pinfold_status status =
            pinfold_loader_next(loader, -1, &batch, &err);

        if (status == PINFOLD_END || status == PINFOLD_E_STATE ||
            status == PINFOLD_E_CANCELLED)
            return;
        if (status)
            die("next", &err);
        s->samples += batch->count;
        if (below(s, 10))
            pinfold_batch_release(batch);
        if (below(s, 20) == 0)
            pinfold_loader_cancel(loader);
    }
}

static void use(struct soak *s)
{
    const pinfold_recipe recipe = random_recipe(s);
    pinfold_loader_options o = random_options(s, &recipe);
    unsigned char state[PINFOLD_STATE_MAX];
    pinfold_loader *loader;
    pinfold_error err;
    size_t size;

    if (pfi_loader_open(&loader, s->dataset, &o, s->gpu, NULL, &err))
        die("open", &err);
    for (int e = below(s, 3); e >= 0; e--) {
        if (pinfold_loader_start(loader, e, &err))
            die("start", &err);
        consume(s, loader);
    }
    if (pinfold_loader_state(loader, state, sizeof(state), &size, &err))
        die("state", &err);
    pinfold_loader_close(loader);
    o.state = state;
    o.state_size = size;
    if (pfi_loader_open(&loader, s->dataset, &o, s->gpu, NULL, &err))
        die("open with a state", &err);
    consume(s, loader);
    pinfold_loader_close(loader);
}

/* A device of its own, which remembers what it gave. */
static void live(struct soak *s)
{
    struct fake_gpu *const fake = fake_gpu_start(1);

    if (!fake)
        die("the device", NULL);
    s->gpu = fake_gpu_table(fake);
    use(s);
    s->pinned_bytes = fake_gpu_live(fake).pinned_bytes;
    fake_gpu_end(fake);
    s->lives++;
}

/* ------------------------------------------------------------- measuring --- */

static long entries(const char *folder)
{
    DIR *const d = opendir(folder);
    long n = 0;

    if (!d)
        die(folder, NULL);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n - 3; /* ".", ".." and the folder itself */
}

static double rss_kb(void)
{
    long pages = 0, resident = 0;
    FILE *const f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
        die("/proc/self/statm", NULL);
    (void)fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void measure(struct soak *s)
{
    struct row *row;

    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 4096;
        s->rows = realloc(s->rows, s->room * sizeof(*s->rows));
        if (!s->rows)
            die("memory", NULL);
    }
    row = &s->rows[s->n++];
    *row = (struct row){
        .seconds = now() - s->start,
        .rss_kb = rss_kb(),
        .descriptors = entries("/proc/self/fd"),
        .threads = entries("/proc/self/task") + 1,
        .pinned_bytes = s->pinned_bytes,
    };
    (void)printf("%.1f,%.0f,%ld,%ld,%zu,%ld,%ld\n", row->seconds, row->rss_kb,
                 row->descriptors, row->threads, row->pinned_bytes, s->lives,
                 s->samples);
    (void)fflush(stdout);
}

/* Kilobytes an hour, by least squares over the rows from `first` on. */
static double slope(const struct soak *s, size_t first)
{
    const double n = (double)(s->n - first);
    double x = 0, y = 0, xx = 0, xy = 0;

    for (size_t i = first; i < s->n; i++) {
        x += s->rows[i].seconds;
        y += s->rows[i].rss_kb;
        xx += s->rows[i].seconds * s->rows[i].seconds;
        xy += s->rows[i].seconds * s->rows[i].rss_kb;
    }
    return 3600 * (n * xy - x * y) / (n * xx - x * x);
}

static int judge(const struct soak *s)
{
    const size_t first = s->n / 2;
    const double growth = slope(s, first);
    int changes = 0;

    for (size_t i = first; i < s->n; i++)
        changes |= s->rows[i].descriptors != s->rows[first].descriptors ||
                   s->rows[i].threads != s->rows[first].threads ||
                   s->rows[i].pinned_bytes != s->rows[first].pinned_bytes;
    (void)fprintf(stderr,
                  "%ld lives, %ld samples; over the last half: memory grows by "
                  "%.0f kB an hour, descriptors, threads and pinned bytes %s\n",
                  s->lives, s->samples, growth,
                  changes ? "change" : "constant");
    return changes || growth > 1024;
}

int main(int argc, char **argv)
{
    struct soak s = {.random = 1};
    double next = 0, seconds;
    pinfold_error err;

    if (argc != 3) {
        (void)fprintf(stderr, "usage: soak SECONDS ROOT\n");
        return 2;
    }
    seconds = atof(argv[1]);
    if (pinfold_dataset_open(&s.dataset, argv[2], NULL, &err))
        die(argv[2], &err);
    /* The device's memory is the heap's here.  Its blocks are to go back to the
     * system when they are freed, as a driver's do, whatever lies above them. */
    if (!mallopt(M_MMAP_THRESHOLD, 256 << 10))
        die("mallopt", NULL);
    (void)puts("seconds,rss_kb,descriptors,threads,pinned_bytes,lives,samples");
    s.start = now();
    while (now() - s.start < seconds || s.n < 4) {
        live(&s);
        if (now() - s.start >= next) {
            measure(&s);
            next = now() - s.start + 1;
        }
    }
    pinfold_dataset_close(s.dataset);
    return judge(&s);
}
