/* SPDX-License-Identifier: Apache-2.0
 * A data set of coded colours that needs no picture files. */
#include "tests/support/fakeset.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/tinypng.h"

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void name_of(const struct fake_set *set, int i, char path[128])
{
    (void)snprintf(path, 128, "%s/c%d/%04d.png", set->root, i >= set->n / 2, i);
}

static pinfold_status read_coded(void *cookie, int root_fd, const char *path,
                                 struct pfi_arena *arena, const void **data,
                                 size_t *size, pinfold_error *err)
{
    struct fake_set *const set = cookie;
    const int i = atoi(strchr(path, '/') + 1);
    unsigned char *const png = pfi_arena_alloc(arena, TINY_PNG_MAX);

    (void)root_fd;
    if (atomic_load(&set->forbidden)) {
        (void)fprintf(stderr, "sample %d was started after the close\n", i);
        abort();
    }
    atomic_fetch_add(&set->reads, 1);
    if (set->world && set->world->locks_held()) {
        (void)fprintf(stderr, "sample %d is read with a lock held\n", i);
        abort();
    }
    if (set->world)
        set->world->sleep(set->read_ns);
    if (!png)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory");
    *size = tiny_png(png, 8, 8,
                     0x010000u * (uint32_t)(i & 255) +
                         0x000100u * (uint32_t)(i >> 8) + 0x7Fu);
    if (i == set->bad)
        *size = 20;
    *data = png;
    return PINFOLD_OK;
}

void fake_set_open(struct fake_set *set, int n)
{
    char path[128];
    pinfold_error err;

    *set = (struct fake_set){.n = n, .bad = -1};
    set->reader = (struct pfi_reader){set, read_coded};
    strcpy(set->root, "/tmp/pinfold-set-XXXXXX");
    if (!mkdtemp(set->root))
        die("mkdtemp");
    for (int c = 0; c < 2; c++) {
        (void)snprintf(path, sizeof(path), "%s/c%d", set->root, c);
        if (mkdir(path, 0700))
            die(path);
    }
    for (int i = 0; i < n; i++) {
        name_of(set, i, path);
        const int fd = open(path, O_WRONLY | O_CREAT, 0600);

        if (fd < 0)
            die(path);
        close(fd);
    }
    if (pinfold_dataset_open(&set->dataset, set->root, NULL, &err)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(2);
    }
}

void fake_set_close(struct fake_set *set)
{
    char path[128];

    pinfold_dataset_close(set->dataset);
    for (int i = 0; i < set->n; i++) {
        name_of(set, i, path);
        (void)unlink(path);
    }
    for (int c = 0; c < 2; c++) {
        (void)snprintf(path, sizeof(path), "%s/c%d", set->root, c);
        (void)rmdir(path);
    }
    (void)rmdir(set->root);
}

void fake_set_remove(const struct fake_set *set, int i)
{
    char path[128];

    name_of(set, i, path);
    if (unlink(path))
        die(path);
}

static int sample_right(const struct fake_set *set, int64_t i,
                        const unsigned char *pixel)
{
    const int r = (int)(i & 255), g = (int)(i >> 8), b = 0x7F;

    if (i == set->bad)
        return pixel[0] == 0 && pixel[1] == 0 && pixel[2] == 0;
    return pixel[0] == r && pixel[1] == g && pixel[2] == b;
}

int fake_batch_right(const struct fake_set *set, const pinfold_batch *batch,
                     const unsigned char *data)
{
    const size_t pixels = (size_t)(batch->shape[1] * batch->shape[2]);

    for (int32_t k = 0; k < batch->count; k++) {
        const int64_t i = batch->indices[k];
        const unsigned char *const sample = data + (size_t)k * pixels * 3;
        int right = batch->labels[k] == (i >= set->n / 2) &&
                    (batch->statuses[k] != PINFOLD_OK) == (i == set->bad);

        for (size_t p = 0; right && p < pixels; p++)
            right = sample_right(set, i, sample + 3 * p);
        if (!right) {
            (void)fprintf(stderr, "batch %lld, place %d: not sample %lld\n",
                          (long long)batch->number, k, (long long)i);
            return 0;
        }
    }
    return 1;
}

/* The code that became `value`, or one that no sample has. */
static unsigned char code_of(float value, bool bad)
{
    const float code = (value - 1) * 255;

    if (bad)
        return value < 0 || value > 0 ? 0xCD : 0;
    return code > -0.1f && code < 255.1f ? (unsigned char)lrintf(code) : 0xCD;
}

int fake_float_batch_right(const struct fake_set *set,
                           const pinfold_batch *batch, const void *data)
{
    const size_t n =
        (size_t)(batch->shape[1] * batch->shape[2] * batch->shape[3]);
    unsigned char *const codes = malloc(n * (size_t)batch->count);
    int right;

    if (!codes)
        die("malloc");
    for (size_t i = 0; i < n * (size_t)batch->count; i++) {
        float value;

        memcpy(&value, (const char *)data + i * sizeof(value), sizeof(value));
        codes[i] = code_of(value, batch->statuses[i / n] != PINFOLD_OK);
    }
    right = fake_batch_right(set, batch, codes);
    free(codes);
    return right;
}

pinfold_recipe fake_float_recipe(void)
{
    pinfold_recipe recipe = fake_recipe();

    recipe.dtype = PINFOLD_F32;
    for (int c = 0; c < 3; c++) {
        recipe.mean[c] = -1;
        recipe.stddev[c] = 1;
    }
    return recipe;
}

pinfold_recipe fake_recipe(void)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.resize_short = 6;
    recipe.crop_height = 4;
    recipe.dtype = PINFOLD_U8;
    recipe.layout = PINFOLD_NHWC;
    return recipe;
}
