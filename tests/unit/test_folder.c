/* SPDX-License-Identifier: Apache-2.0
 * Trees of every kind, and the listing that torchvision makes of them. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* nftw() */
#endif
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/dataset.h"

#define PATH_ROOM 4096

static char root[64];
static pinfold_dataset *dataset;
static pinfold_error err;

static void setup(void)
{
    strcpy(root, "/tmp/pinfold-folder-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    cr_assert_eq(chmod(root, 0755), 0);
}

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static void teardown(void)
{
    pinfold_dataset_close(dataset);
    (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(folder, .init = setup, .fini = teardown);

/* "root/path"; the folders in it are made. */
static const char *below(const char *path)
{
    static char full[PATH_ROOM];

    (void)snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *c = full + strlen(root) + 1; *c; c++)
        if (*c == '/') {
            *c = '\0';
            cr_assert(!mkdir(full, 0755) || errno == EEXIST, "%s", full);
            *c = '/';
        }
    return full;
}

static void make_file(const char *path)
{
    const int fd = open(below(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    cr_assert_geq(fd, 0, "%s", path);
    close(fd);
}

/* Makes each file of a text of one path a line. */
static void make_files(const char *lines)
{
    char path[PATH_ROOM];

    while (*lines) {
        const size_t n = strcspn(lines, "\n");

        cr_assert_lt(n, sizeof(path));
        memcpy(path, lines, n);
        path[n] = '\0';
        make_file(path);
        lines += n + 1;
    }
}

static void make_folder(const char *path)
{
    char with_slash[PATH_ROOM];

    (void)snprintf(with_slash, sizeof(with_slash), "%s/", path);
    (void)below(with_slash);
}

static void make_link(const char *path, const char *target)
{
    cr_assert_eq(symlink(target, below(path)), 0);
}

static pinfold_status open_as(const char *path, bool allow_empty)
{
    const pinfold_dataset_options options = {.struct_size = sizeof(options),
                                             .allow_empty = allow_empty};
    const pinfold_status status =
        pinfold_dataset_open(&dataset, path, &options, &err);

    cr_assert_eq(status, err.status);
    cr_assert_eq(status != PINFOLD_OK, dataset == NULL);
    return status;
}

/* Opens the root and compares its paths, one a line. */
static void expect(const char *lines)
{
    char got[8192] = "";
    size_t used = 0;

    cr_assert_eq(open_as(root, false), PINFOLD_OK, "%s", err.message);
    for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++)
        used += (size_t)snprintf(got + used, sizeof(got) - used, "%s\n",
                                 pinfold_dataset_path(dataset, i));
    cr_assert_str_eq(got, lines);
}

static void expect_failure(pinfold_status status, int code, const char *part)
{
    cr_assert_eq(open_as(root, false), status, "%s", err.message);
    cr_assert_eq(err.sys_code, code);
    cr_assert_not_null(strstr(err.message, part), "%s", err.message);
}

Test(folder, sorts_whole_folder_paths_then_names)
{
    make_files("c/a/1.jpg\nc/a/x/1.jpg\nc/a-b/1.jpg\nc/a.d/1.jpg\nc/z.jpg\n"
               "c/a/x-y/1.jpg\nb/n2.png\nb/n10.png\nB/1.jpg\n");
    expect("B/1.jpg\nb/n10.png\nb/n2.png\nc/z.jpg\nc/a/1.jpg\nc/a-b/1.jpg\n"
           "c/a.d/1.jpg\nc/a/x/1.jpg\nc/a/x-y/1.jpg\n");
}

Test(folder, takes_pictures_by_name_hidden_ones_too)
{
    make_files("a/1.txt\na/1.JPG\na/.png\na/.h/2.webp\na/jpg\n.git/x.tiff\n"
               "top.jpg\n");
    expect(".git/x.tiff\na/.png\na/1.JPG\na/.h/2.webp\n");
}

Test(folder, lists_whatever_is_not_a_folder)
{
    make_files("a/x.jpg/in.png\na/real.png\n");
    cr_assert_eq(mkfifo(below("a/fifo.jpg"), 0644), 0);
    make_link("a/broken.jpg", "nowhere");
    make_link("a/self.jpg", "self.jpg");
    make_link("a/link.jpg", "real.png");
    make_link("dangling", "nowhere");
    make_link("file", "a/real.png");
    expect("a/broken.jpg\na/fifo.jpg\na/link.jpg\na/real.png\na/self.jpg\n"
           "a/x.jpg/in.png\n");
    cr_assert_eq(pinfold_dataset_class_count(dataset), 1);
}

Test(folder, follows_links_to_folders)
{
    make_files("a/sub/1.png\n");
    make_link("b", "a");
    make_link("a/twice", "sub");
    expect("a/sub/1.png\na/twice/1.png\nb/sub/1.png\nb/twice/1.png\n");
}

Test(folder, refuses_a_link_to_a_folder_above)
{
    make_files("a/sub/1.png\n");
    make_link("a/sub/up", "..");
    expect_failure(PINFOLD_E_ARGUMENT, 0, "a/sub");
    cr_assert_not_null(strstr(err.message, "up"), "%s", err.message);
}

Test(folder, refuses_a_class_that_is_the_root)
{
    make_files("a/1.png\n");
    make_link("b", ".");
    expect_failure(PINFOLD_E_ARGUMENT, 0, "b");
}

Test(folder, refuses_two_links_that_lead_round)
{
    make_files("a/1.png\nb/1.png\n");
    make_link("a/to_b", "../b");
    make_link("b/to_a", "../a");
    expect_failure(PINFOLD_E_ARGUMENT, 0, "to_a");
}

Test(folder, sorts_bytes_that_are_not_utf8_as_python_does)
{
    /* U+D7FF, then U+DCFF of the byte, then U+E000. */
    make_files("\xEE\x80\x80/1.png\n\xFF/1.png\n\xED\x9F\xBF/\xEF\xBF\xBD.png\n"
               "\xED\x9F\xBF/\xFE.png\n");
    expect("\xED\x9F\xBF/\xFE.png\n\xED\x9F\xBF/\xEF\xBF\xBD.png\n\xFF/1.png\n"
           "\xEE\x80\x80/1.png\n");
}

Test(folder, sorts_a_folder_that_is_the_start_of_a_character)
{
    /* U+00E9, then U+DCC3 of its first byte alone. */
    make_files("a/\xC3/1.png\na/\xC3\xA9/1.png\n");
    expect("a/\xC3\xA9/1.png\na/\xC3/1.png\n");
}

Test(folder, lists_paths_of_more_than_1600_bytes)
{
    char path[PATH_ROOM] = "a";
    size_t used = 1;

    for (int i = 0; i < 9; i++) {
        path[used++] = '/';
        memset(path + used, 'd', 200);
        used += 200;
    }
    strcpy(path + used, "/1.png");
    make_file(path);
    strcat(path, "\n");
    expect(path);
}

Test(folder, lists_many_files)
{
    char name[64];

    for (int i = 0; i < 2000; i++) {
        (void)snprintf(name, sizeof(name), "c%d/%04d.png", i % 3, i * 7 % 2000);
        make_file(name);
    }
    cr_assert_eq(open_as(root, false), PINFOLD_OK);
    cr_assert_eq(pinfold_dataset_size(dataset), 2000);
    for (int64_t i = 1; i < 2000; i++)
        cr_assert_lt(strcmp(pinfold_dataset_path(dataset, i - 1),
                            pinfold_dataset_path(dataset, i)),
                     0);
}

Test(folder, labels_are_ranks_of_classes)
{
    make_files("b/1.png\nb/2.png\nd/1.png\n");
    make_folder("a");
    make_folder("c");
    make_folder("e");
    cr_assert_eq(open_as(root, true), PINFOLD_OK, "%s", err.message);
    cr_assert_eq(pinfold_dataset_class_count(dataset), 5);
    cr_assert_eq(pinfold_dataset_size(dataset), 3);
    cr_assert_eq(pinfold_dataset_label(dataset, 0), 1);
    cr_assert_eq(pinfold_dataset_label(dataset, 1), 1);
    cr_assert_eq(pinfold_dataset_label(dataset, 2), 3);
    cr_assert_str_eq(pinfold_dataset_class_name(dataset, 4), "e");
}

Test(folder, allow_empty_takes_a_root_without_pictures)
{
    make_folder("a");
    cr_assert_eq(open_as(root, true), PINFOLD_OK);
    cr_assert_eq(pinfold_dataset_size(dataset), 0);
}

Test(folder, names_empty_classes_and_the_extensions)
{
    make_files("b/1.png\nd/1.txt\n");
    make_folder("a");
    expect_failure(PINFOLD_E_ARGUMENT, 0, "a, d");
    cr_assert_not_null(strstr(err.message, ".jpg .jpeg .png .ppm .bmp .pgm "
                                           ".tif .tiff .webp"));
    cr_assert_not_null(strstr(err.message, root));
}

Test(folder, names_as_many_empty_classes_as_fit)
{
    char name[32];

    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "class_%03d", i);
        make_folder(name);
    }
    expect_failure(PINFOLD_E_ARGUMENT, 0, "class_");
    cr_assert_not_null(strstr(err.message, ".webp"), "%s", err.message);
}

Test(folder, refuses_a_root_without_classes)
{
    make_files("1.png\n");
    expect_failure(PINFOLD_E_ARGUMENT, 0,
                   "no class folder in it: pictures belong one folder deeper");
    cr_assert_eq(open_as(root, true), PINFOLD_E_ARGUMENT);
}

Test(folder, says_what_a_root_lacks)
{
    make_files("file\n");
    cr_assert_eq(open_as(below("nowhere"), false), PINFOLD_E_IO);
    cr_assert_eq(err.sys_code, ENOENT);
    cr_assert_not_null(strstr(err.message, "nowhere"), "%s", err.message);
    cr_assert_eq(open_as(below("file"), false), PINFOLD_E_IO);
    cr_assert_eq(err.sys_code, ENOTDIR);
    cr_assert_not_null(strstr(err.message, "Not a directory"));
    cr_assert_eq(open_as("", false), PINFOLD_E_ARGUMENT);
    cr_assert_eq(pinfold_dataset_open(&dataset, below("file"), NULL, NULL),
                 PINFOLD_E_IO, "err may be NULL");
}

Test(folder, takes_so_many_threads)
{
    pinfold_dataset_options options = {.struct_size = sizeof(options),
                                       .walk_threads = PINFOLD_WORKERS_MAX};

    make_files("a/1.png\nb/1.png\n");
    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err),
                 PINFOLD_OK);
    cr_assert_eq(pinfold_dataset_size(dataset), 2);
    pinfold_dataset_close(dataset);
    options.walk_threads = 0;
    options.allow_empty = 2;
    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "allow_empty is 2, not 0 or 1");
    options.allow_empty = 0;
    options.walk_threads = -1;
    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "walk_threads is -1, not 0 to 1024");
}

Test(folder, says_which_folder_cannot_be_read)
{
    make_files("a/1.png\na/locked/1.png\n");
    cr_assert_eq(chmod(below("a/locked"), 0), 0);
    if (geteuid() == 0)
        cr_assert_eq(seteuid(65534), 0, "root reads everything");
    expect_failure(PINFOLD_E_IO, EACCES, "a/locked");
    if (getuid() == 0)
        cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(chmod(below("a/locked"), 0755), 0);
}

Test(folder, keeps_the_root_as_it_was_given)
{
    char with_slash[80];

    make_files("a/1.png\n");
    (void)snprintf(with_slash, sizeof(with_slash), "%s/", root);
    cr_assert_eq(open_as(with_slash, false), PINFOLD_OK);
    cr_assert_str_eq(pinfold_dataset_root(dataset), with_slash);
    cr_assert_str_eq(pinfold_dataset_path(dataset, 0), "a/1.png");
}

Test(folder, root_descriptor_opens_paths_and_is_not_inherited)
{
    make_files("a/1.png\n");
    expect("a/1.png\n");
    const int root_fd = pfi_dataset_root_fd(dataset);
    const int fd = openat(root_fd, pinfold_dataset_path(dataset, 0), O_RDONLY);

    cr_assert_geq(fd, 0);
    close(fd);
    cr_assert(fcntl(root_fd, F_GETFD) & FD_CLOEXEC);
}

Test(folder, lives_until_its_last_user_ends)
{
    make_files("a/1.png\n");
    expect("a/1.png\n");
    pfi_dataset_ref(dataset);
    pinfold_dataset_close(dataset);
    cr_assert_str_eq(pinfold_dataset_path(dataset, 0), "a/1.png");
}

Test(folder, leaves_no_descriptor_open)
{
    const int before = dup(0);

    close(before);
    make_files("a/b/1.png\na/c/1.png\n");
    expect("a/b/1.png\na/c/1.png\n");
    pinfold_dataset_close(dataset);
    make_link("a/b/up", "..");
    expect_failure(PINFOLD_E_ARGUMENT, 0, "up");
    const int after = dup(0);

    close(after);
    cr_assert_eq(after, before);
}

static void expect_inside(pinfold_status status, const char *part)
{
    const pinfold_dataset_options options = {.struct_size = sizeof(options),
                                             .no_follow_outside = 1};

    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err), status,
                 "%s", err.message);
    if (status)
        cr_assert_not_null(strstr(err.message, part), "%s", err.message);
    else
        cr_assert_str_eq(pinfold_dataset_path(dataset, 0), part);
    pinfold_dataset_close(dataset);
    dataset = NULL;
}

Test(folder, keeps_inside_the_root_on_demand)
{
    make_file("a/1.png");
    make_link("a/0.png", "1.png");
    expect_inside(PINFOLD_OK, "a/0.png");
    make_link("a/2.png", "/etc/hostname");
    expect_inside(PINFOLD_E_ARGUMENT, "2.png");
    cr_assert_eq(open_as(root, false), PINFOLD_OK);
    pinfold_dataset_close(dataset);
    cr_assert_eq(unlink(below("a/2.png")), 0);
    make_link("a/00.png", "nowhere");
    expect_inside(PINFOLD_E_IO, "00.png");
}
