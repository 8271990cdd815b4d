/* SPDX-License-Identifier: Apache-2.0
 * The fuzz targets' common part. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/cpu.h"
#include "src/load/sample.h"

/* Sums that no memory is for are refused, as malloc() does; freed memory is
 * kept for less long, so that the process's size says something. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:quarantine_size_mb=16";
}

void fuzz_require(bool holds, const char *what)
{
    if (holds)
        return;
    /* Past stderr, which may be muted. */
    (void)!write(2, what, strlen(what));
    (void)!write(2, "\n", 1);
    abort();
}

static uint8_t next(struct fuzz_input *input)
{
    if (!input->left)
        return 0;
    input->left--;
    return *input->at++;
}

uint32_t fuzz_below(struct fuzz_input *input, uint64_t n)
{
    const int bytes = n <= 1 << 8 ? 1 : n <= 1 << 16 ? 2 : 4;
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value = value << 8 | next(input);
    return (uint32_t)(value % n);
}

uint64_t fuzz_u64(struct fuzz_input *input)
{
    const uint64_t high = fuzz_below(input, (uint64_t)1 << 32);

    return high << 32 | fuzz_below(input, (uint64_t)1 << 32);
}

/* -------------------------------------------------------------- recipes --- */

static void geometry(pinfold_recipe *r, struct fuzz_input *input)
{
    const uint32_t kind = fuzz_below(input, 6);
    const int32_t a = 1 + (int32_t)fuzz_below(input, 128);
    const int32_t b = 1 + (int32_t)fuzz_below(input, 128);
    const int32_t c = 1 + (int32_t)fuzz_below(input, 64);
    const int32_t d = (int32_t)fuzz_below(input, 64);

    r->crop_height = c;
    r->crop_width = d;
    switch (kind) {
    case 0: r->resize_short = a; break;
    case 1:
        r->resize_short = a;
        r->max_size = a + b;
        break;
    case 2:
        r->resize_height = a;
        r->resize_width = b;
        break;
    case 3:
        r->resize_height = a;
        r->resize_width = b;
        r->crop_height = PINFOLD_OFF;
        r->crop_width = 0;
        break;
    case 4: r->resize_short = PINFOLD_OFF; break;
    default:
        r->random_crop = 1;
        r->random_area[0] = a / 128.0;
        r->random_area[1] = 1.0;
        r->random_aspect[0] = c / 64.0;
        r->random_aspect[1] = 1.0 + b / 16.0;
        break;
    }
}

/* The first that this CPU has from `wanted` down. */
static int32_t cpu_level(uint32_t wanted)
{
    while (wanted && !(pfi_cpu_levels() & 1u << wanted))
        wanted--;
    return (int32_t)wanted;
}

void fuzz_recipe(pinfold_recipe *r, struct fuzz_input *input)
{
    struct fuzz_input own = {
        input->at, input->left < FUZZ_RECIPE ? input->left : FUZZ_RECIPE};
    uint32_t bits;

    input->at += own.left;
    input->left -= own.left;
    *r = pinfold_recipe_default();
    geometry(r, &own);
    r->filter = (pinfold_filter)fuzz_below(&own, 6);
    r->dtype = (pinfold_dtype)fuzz_below(&own, 4);
    bits = fuzz_below(&own, 256);
    r->layout = (pinfold_layout)(bits & 1);
    r->pillow = (pinfold_pillow)(bits >> 1 & 1);
    r->scale = (pinfold_scale)(bits >> 2 & 1);
    r->exif = bits >> 3 & 1;
    r->full_decode = bits >> 4 & 1;
    r->jpeg = (pinfold_jpeg)(bits >> 5 & 1);
    r->plane_alignment = bits >> 6 & 1 ? 64 : 0;
    r->cpu_level = (pinfold_cpu_level)cpu_level(fuzz_below(&own, 6));
    r->flip = (float)fuzz_below(&own, 3) / 2;
    r->random_seed = fuzz_below(&own, 1 << 16);
    if (fuzz_below(&own, 2))
        for (int i = 0; i < 3; i++) {
            r->mean[i] = (float)fuzz_below(&own, 256) / 100 - 1;
            r->stddev[i] = (float)fuzz_below(&own, 256) / 100 - 1;
        }
    r->max_pixels = FUZZ_PIXELS;
    r->max_scratch = FUZZ_SCRATCH;
    r->max_scans = 16;
    r->max_side = 4096;
}

struct pfi_window fuzz_window(const uint8_t *bytes, int32_t width,
                              int32_t height)
{
    const int32_t left = (int32_t)((int64_t)bytes[0] * width / 256);
    const int32_t top = (int32_t)((int64_t)bytes[1] * height / 256);

    return (struct pfi_window){
        left, top,
        left + 1 + (int32_t)((int64_t)bytes[2] * (width - left) / 256),
        top + 1 + (int32_t)((int64_t)bytes[3] * (height - top) / 256)};
}

pinfold_status fuzz_make(const pinfold_recipe *recipe, const uint8_t *data,
                         size_t size, unsigned char *dst, size_t dst_size,
                         int fill, pinfold_error *err)
{
    struct pfi_times times = {0};
    struct pfi_arena arena;
    struct pfi_task task;
    pinfold_status status;

    pfi_error_clear(err);
    memset(dst, fill, dst_size);
    status = pfi_task_init(&task, recipe, err);
    if (status)
        return status;
    fuzz_require(dst_size >= task.recipe.sample_bytes, "the sample's size");
    /* Too small for anything: every piece is the heap's and has its own end. */
    fuzz_require(pfi_arena_init(&arena, 64), "no memory");
    status = pfi_sample_make(&task, task.recipe.random_seed, &arena, data, size,
                             dst, &times, err);
    pfi_arena_end(&arena);
    return status;
}

/* ---------------------------------------------------------------- files --- */

const char *fuzz_file(int which, const uint8_t *data, size_t size)
{
    static char paths[2][32];
    static int fds[2];

    if (!paths[which][0]) {
        fds[which] = memfd_create("fuzz", MFD_CLOEXEC);
        (void)snprintf(paths[which], sizeof(paths[which]), "/proc/self/fd/%d",
                       fds[which]);
    }
    fuzz_require(!ftruncate(fds[which], 0) &&
                     pwrite(fds[which], data, size, 0) == (ssize_t)size,
                 "no file in memory");
    return paths[which];
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);

    fuzz_require(text, "no memory");
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* The descriptors stay, for sanitizers. */
void fuzz_mute(void)
{
    static FILE *nowhere;

    if (nowhere)
        return;
    nowhere = fopen("/dev/null", "w");
    fuzz_require(nowhere, "no /dev/null");
#ifdef __GLIBC__
    stdout = nowhere;
    stderr = nowhere;
#endif
}
