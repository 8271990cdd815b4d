/* SPDX-License-Identifier: Apache-2.0
 * Names sort as Python sorts them, and the walk follows torchvision's rules. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/names.h"
#include "src/base/error.h"

Test(names, code_points_decide)
{
    cr_assert_lt(pfi_name_compare("n10", "n2"), 0);
    cr_assert_lt(pfi_name_compare("B", "a"), 0);
    cr_assert_lt(pfi_name_compare("a", "a-b"), 0);
    cr_assert_lt(pfi_name_compare("a-b", "a/x"), 0);
    cr_assert_eq(pfi_name_compare("x", "x"), 0);
    cr_assert_lt(pfi_path_compare("a/1", 3, "a/1.png", 7), 0);
    cr_assert_gt(pfi_path_compare("a/1.png", 7, "a/1", 3), 0);
    cr_assert_eq(pfi_path_compare("a/1", 3, "a/1", 3), 0);
    /* A stray byte is U+DCFF, below U+FF5E and above U+00E9. */
    cr_assert_lt(pfi_name_compare("\xff", "\xef\xbd\x9e"), 0);
    cr_assert_gt(pfi_name_compare("\xff", "\xc3\xa9"), 0);
    /* So are the bytes of an overlong form, and of one beyond Unicode; the
     * last point that there is comes behind them. */
    cr_assert_gt(pfi_name_compare("\xf0\x8f\xbf\xbf", "\xc3\xa9"), 0);
    cr_assert_lt(pfi_name_compare("\xf0\x8f\xbf\xbf", "\xef\xbf\xbf"), 0);
    cr_assert_lt(pfi_name_compare("\xf4\x90\x80\x80", "\xf4\x8f\xbf\xbf"), 0);
}

Test(names, nine_extensions_of_any_case)
{
    cr_assert(pfi_name_is_picture("a.JpEg"));
    cr_assert(pfi_name_is_picture(".png"));
    cr_assert(pfi_name_is_picture("._x.jpg"));
    cr_assert(pfi_name_is_picture("x.webp"));
    cr_assert_not(pfi_name_is_picture("a.jpg~"));
    cr_assert_not(pfi_name_is_picture("ajpg"));
    cr_assert_not(pfi_name_is_picture("a.gif"));
}

static char root[64];

static void make(const char *path, int folder)
{
    char full[256];

    (void)snprintf(full, sizeof(full), "%s/%s", root, path);
    if (folder) {
        cr_assert_eq(mkdir(full, 0700), 0, "%s", full);
        return;
    }
    const int fd = open(full, O_CREAT | O_WRONLY, 0600);

    cr_assert_geq(fd, 0, "%s", full);
    close(fd);
}

static void link_to(const char *target, const char *path)
{
    char full[256];

    (void)snprintf(full, sizeof(full), "%s/%s", root, path);
    cr_assert_eq(symlink(target, full), 0);
}

static void setup(void)
{
    strcpy(root, "/tmp/pinfold-walk-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void teardown(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf %s", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(folder, .init = setup, .fini = teardown);

Test(folder, walks_as_torchvision)
{
    static const char *const paths[] = {"b/1.png",       "b/gone.jpg",
                                        "b/sub/0.png",   "b/sub-1/0.png",
                                        "b/sub/x.jpg/1.png", "c/\xff.png"};
    pinfold_dataset *dataset;
    pinfold_error err;

    make("b", 1);
    make("b/sub", 1);
    make("b/sub-1", 1);
    make("b/sub/x.jpg", 1);
    make("b/sub/x.jpg/1.png", 0);
    make("b/sub/0.png", 0);
    make("b/sub-1/0.png", 0);
    make("b/1.png", 0);
    make("b/notes.txt", 0);
    make("root.png", 0);
    link_to("nowhere", "b/gone.jpg");
    link_to("nowhere", "broken");
    make("c", 1);
    make("c/\xff.png", 0);
    cr_assert_eq(pinfold_dataset_open(&dataset, root, NULL, &err), PINFOLD_OK,
                 "%s", err.message);
    cr_assert_eq(pinfold_dataset_class_count(dataset), 2);
    cr_assert_eq(pinfold_dataset_size(dataset), 6);
    /* sub-1 sorts before sub/x.jpg, and after sub */
    cr_assert_str_eq(pinfold_dataset_path(dataset, 0), paths[0]);
    cr_assert_str_eq(pinfold_dataset_path(dataset, 1), paths[1]);
    cr_assert_str_eq(pinfold_dataset_path(dataset, 2), paths[2]);
    cr_assert_str_eq(pinfold_dataset_path(dataset, 3), paths[3]);
    cr_assert_str_eq(pinfold_dataset_path(dataset, 4), paths[4]);
    cr_assert_str_eq(pinfold_dataset_path(dataset, 5), paths[5]);
    cr_assert_eq(pinfold_dataset_label(dataset, 4), 0);
    cr_assert_eq(pinfold_dataset_label(dataset, 5), 1);
    pinfold_dataset_close(dataset);
}

Test(folder, refuses_with_a_reason)
{
    pinfold_dataset_options options = {.struct_size = sizeof(options),
                                       .allow_empty = 1};
    pinfold_dataset *dataset;
    pinfold_error err;

    cr_assert_eq(pinfold_dataset_open(&dataset, "/no/such", NULL, &err),
                 PINFOLD_E_IO);
    cr_assert_not_null(strstr(err.message, "No such file"), "%s", err.message);
    cr_assert_eq(pinfold_dataset_open(&dataset, root, NULL, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, "no class"), "%s", err.message);
    make("empty", 1);
    make("full", 1);
    make("full/1.png", 0);
    cr_assert_eq(pinfold_dataset_open(&dataset, root, NULL, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, "empty: no picture"), "%s",
                       err.message);
    cr_assert_null(dataset);
    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err),
                 PINFOLD_OK);
    cr_assert_eq(pinfold_dataset_label(dataset, 0), 1);
    pinfold_dataset_close(dataset);
    link_to("..", "full/up");
    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(err.message, "a link back"), "%s", err.message);
}
