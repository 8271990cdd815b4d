/* SPDX-License-Identifier: Apache-2.0
 * Files that fail (entry 79 of the cases) or change while they are read, and
 * folders that go in mid-epoch. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fakeset.h"
#include "tests/support/tinypng.h"
#include "tests/support/tree.h"

static pinfold_recipe recipe;

/* How read() behaves for entry 79: at most so many bytes at once, every other
 * call interrupted, and EIO behind the first 4096 bytes. */
static size_t at_once = SIZE_MAX;
static atomic_int interrupts = -1;
static off_t breaks_at = INT64_MAX;
static void (*before_read)(void); /* called once */

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size)
{
    void (*const act)(void) = before_read;

    before_read = NULL;
    if (act)
        act();
    if (interrupts >= 0 && interrupts++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (lseek(fd, 0, SEEK_CUR) >= breaks_at) {
        errno = EIO;
        return -1;
    }
    return __real_read(fd, data, size < at_once ? size : at_once);
}

/* Another attempt would find the same. */
bool __wrap_pfi_retry_wait(struct pfi_retry *retry,
                           struct pfi_attempts *attempts, int code);
bool __wrap_pfi_retry_wait(struct pfi_retry *retry,
                           struct pfi_attempts *attempts, int code)
{
    (void)retry;
    (void)attempts;
    (void)code;
    return false;
}

static pinfold_status load_one(const char *root, pinfold_error *err)
{
    pinfold_dataset *dataset;
    unsigned char sample[4 * 4 * 3];
    const int64_t index = 0;
    pinfold_status status;

    recipe = fake_recipe();
    cr_assert_eq(pinfold_dataset_open(&dataset, root, NULL, err), PINFOLD_OK,
                 "%s", err->message);
    status = pinfold_read(dataset, &recipe, &index, 1, sample, sizeof(sample),
                          NULL, err);
    if (!status)
        cr_assert(sample[0] == 1 && sample[1] == 2 && sample[2] == 3);
    pinfold_dataset_close(dataset);
    return status;
}

Test(changes, entry_79_reads_are_short_interrupted_or_broken)
{
    unsigned char png[8192] = {0}; /* what follows the picture is not read */
    pinfold_error err;
    char root[64];
    FILE *file;

    tree_open(root);
    (void)tiny_png(png, 8, 8, 0x010203);
    tree_file(root, "a/1.png", "");
    file = fopen(tree_path(root, "a/1.png"), "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(png, 1, sizeof(png), file), sizeof(png));
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(load_one(root, &err), PINFOLD_OK, "%s", err.message);
    at_once = 1;
    cr_assert_eq(load_one(root, &err), PINFOLD_OK, "%s", err.message);
    interrupts = 0;
    cr_assert_eq(load_one(root, &err), PINFOLD_OK, "%s", err.message);
    at_once = 512;
    breaks_at = 4096;
    cr_assert_eq(load_one(root, &err), PINFOLD_E_IO);
    cr_assert_eq(err.sys_code, EIO);
    cr_assert_eq(err.sample, 0);
    cr_assert_not_null(strstr(err.message, "/a/1.png: reading at byte 4096: "), "%s",
                       err.message);
    cr_assert_not_null(strstr(err.message, root));
    interrupts = -1;
    breaks_at = INT64_MAX;
    at_once = SIZE_MAX;
    tree_close(root);
}

static char tree[64];

static void write_png(const char *name, uint32_t colour)
{
    unsigned char png[TINY_PNG_MAX];
    const size_t size = tiny_png(png, 8, 8, colour);
    FILE *const file = fopen(tree_path(tree, name), "wb");

    cr_assert_not_null(file);
    cr_assert_eq(fwrite(png, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

static void cut(void)
{
    cr_assert_eq(truncate(tree_path(tree, "a/1.png"), 20), 0);
}

static void replace(void)
{
    char from[256];

    write_png("a/new", 0x999999);
    (void)snprintf(from, sizeof(from), "%s", tree_path(tree, "a/new"));
    cr_assert_eq(rename(from, tree_path(tree, "a/1.png")), 0);
}

static void take_away(void)
{
    cr_assert_eq(unlink(tree_path(tree, "a/1.png")), 0);
}

static void lengthen(void)
{
    FILE *const file = fopen(tree_path(tree, "a/1.png"), "ab");

    cr_assert_not_null(file);
    for (int i = 0; i < 100000; i++)
        (void)fputc(0, file);
    cr_assert_eq(fclose(file), 0);
}

/* Between fstat() and read(): an error, or the file that was opened. */
Test(changes, a_file_changes_while_it_is_read)
{
    void (*const changes[])(void) = {replace, take_away, lengthen};
    pinfold_error err;

    tree_open(tree);
    tree_file(tree, "a/1.png", "");
    write_png("a/1.png", 0x010203);
    before_read = cut;
    cr_assert_eq(load_one(tree, &err), PINFOLD_E_IO);
    cr_assert_not_null(strstr(err.message, "the file shrank to 20 of "), "%s",
                       err.message);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        write_png("a/1.png", 0x010203);
        before_read = changes[i];
        cr_assert_eq(load_one(tree, &err), PINFOLD_OK, "%s", err.message);
    }
    tree_close(tree);
}

Test(changes, a_folder_goes_in_mid_epoch)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    const pinfold_batch *batch;
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;
    char aside[256];

    tree_open(tree);
    tree_file(tree, "a/1.png", "");
    tree_file(tree, "b/1.png", "");
    write_png("a/1.png", 0x010203);
    write_png("b/1.png", 0x010203);
    recipe = fake_recipe();
    options.recipe = &recipe;
    options.workers = PINFOLD_OFF;
    options.batch_size = 1;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
    cr_assert_eq(pinfold_dataset_open(&dataset, tree, NULL, &err), PINFOLD_OK);
    cr_assert_eq(pinfold_loader_open(&loader, dataset, &options, &err),
                 PINFOLD_OK);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        cr_assert_eq(pinfold_loader_start(loader, epoch, &err), PINFOLD_OK);
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
        cr_assert_eq(batch->bad_count, 0);
        pinfold_batch_release(batch);
        (void)snprintf(aside, sizeof(aside), "%s", tree_path(tree, "b.aside"));
        cr_assert_eq(rename(tree_path(tree, "b"), aside), 0);
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK);
        cr_assert_eq(batch->statuses[0], PINFOLD_E_IO);
        pinfold_batch_error(batch, 0, &err);
        cr_assert_eq(err.sys_code, ENOENT);
        cr_assert_not_null(strstr(err.message, "/b/1.png: cannot open: "));
        pinfold_batch_release(batch);
        cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_END);
        cr_assert_eq(rename(aside, tree_path(tree, "b")), 0);
    }
    pinfold_loader_close(loader);
    pinfold_dataset_close(dataset);
    tree_close(tree);
}
