/* SPDX-License-Identifier: Apache-2.0
 * Data sets by list, and classes by list. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "datasets/dataset.h"
#include "tests/support/tree.h"

static char root[64], list[128], classes[128];
static pinfold_dataset_options options;
static pinfold_dataset *dataset;
static pinfold_error err;

static void setup(void)
{
    tree_open(root);
    tree_file(root, "a/1.png", "");
    tree_file(root, "a/two words.png", "");
    tree_file(root, "b/3,5.png", "");
    tree_file(root, "c/4.png", "");
    options = (pinfold_dataset_options){.struct_size = sizeof(options)};
}

static void teardown(void)
{
    pinfold_dataset_close(dataset);
    tree_close(root);
}

TestSuite(list, .init = setup, .fini = teardown);

static void write_list(const char *text)
{
    tree_file(root, "lists/l", text);
    (void)snprintf(list, sizeof(list), "%s", tree_path(root, "lists/l"));
    options.list = list;
}

static void write_classes(const char *text)
{
    tree_file(root, "lists/c", text);
    (void)snprintf(classes, sizeof(classes), "%s", tree_path(root, "lists/c"));
    options.class_list = classes;
}

/* "label:path label:path " */
static void expect(const char *wanted)
{
    char got[512] = "";
    size_t used = 0;

    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err),
                 PINFOLD_OK, "%s", err.message);
    for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++)
        used += (size_t)snprintf(got + used, sizeof(got) - used, "%d:%s;",
                                 (int)pinfold_dataset_label(dataset, i),
                                 pinfold_dataset_path(dataset, i));
    cr_assert_str_eq(got, wanted);
}

static void refused(pinfold_status status, const char *words)
{
    cr_assert_eq(pinfold_dataset_open(&dataset, root, &options, &err), status,
                 "%s", err.message);
    cr_assert_not_null(strstr(err.message, words), "%s", err.message);
    cr_assert_null(dataset);
}

Test(list, takes_tabs_commas_and_spaces)
{
    write_list("c/4.png\t2\na/1.png 0\r\n\nb/3,5.png,1\na/two words.png   7\n"
               "c/4.png , 0\na/1.png\t\t3");
    expect("2:c/4.png;0:a/1.png;1:b/3,5.png;7:a/two words.png;0:c/4.png;"
           "3:a/1.png;");
    cr_assert_eq(pinfold_dataset_class_count(dataset), 8);
    cr_assert_str_eq(pinfold_dataset_class_name(dataset, 7), "7");
    cr_assert_eq(pinfold_dataset_save(dataset, "/nowhere/x", &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "an index is of a tree, not of a list");
}

Test(list, takes_absolute_paths)
{
    char text[128], wanted[128];

    (void)snprintf(text, sizeof(text), "%s 0\n", tree_path(root, "a/1.png"));
    (void)snprintf(wanted, sizeof(wanted), "0:%s;", tree_path(root, "a/1.png"));
    write_list(text);
    expect(wanted);
}

Test(list, names_the_labels_by_a_list_of_classes)
{
    write_list("c/4.png 1\na/1.png 0\n");
    write_classes("cat\ndog\nbird\n");
    expect("1:c/4.png;0:a/1.png;");
    cr_assert_eq(pinfold_dataset_class_count(dataset), 3);
    cr_assert_str_eq(pinfold_dataset_class_name(dataset, 1), "dog");
}

Test(list, classes_choose_and_order_the_folders_of_a_walk)
{
    write_classes("c\na\n");
    expect("0:c/4.png;1:a/1.png;1:a/two words.png;");
}

Test(list, refuses_missing_files_before_anything_is_loaded)
{
    write_list("a/1.png 0\na/9.png 0\nb/8.png 1\n");
    refused(PINFOLD_E_IO, "a/9.png: missing, as are 2 of 3 files in all");
    cr_assert_eq(err.sys_code, ENOENT);
}

Test(list, refuses_lines_that_are_none)
{
    write_list("a/1.png 0\na/1.png\n");
    refused(PINFOLD_E_ARGUMENT,
            "l: line 2: no label behind a tab, a comma or a space");
    write_list("a/1.png 0\n\n 7\n");
    refused(PINFOLD_E_ARGUMENT, "l: line 3: no path");
    write_list("a/1.png -1\n");
    refused(PINFOLD_E_ARGUMENT, "line 1: no label");
    write_list("a/1.png 99999999999999999999\n");
    refused(PINFOLD_E_ARGUMENT, "line 1: the label has no class");
    write_list("a/1.png 16777216\n");
    refused(PINFOLD_E_ARGUMENT, "line 1: the label has no class");
    write_list("\n");
    refused(PINFOLD_E_ARGUMENT, "l: no sample in the list");
    write_list("a/1.png 1\n");
    write_classes("one\n");
    refused(PINFOLD_E_ARGUMENT, "line 1: the label has no class");
}

Test(list, is_a_text)
{
    FILE *out;

    write_list("");
    out = fopen(list, "wb");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite("a/1.png 0\n\0", 1, 11, out), 11);
    (void)fclose(out);
    refused(PINFOLD_E_ARGUMENT, "l: not a text: a NUL in it");
}

Test(list, refuses_lists_of_classes_that_do_not_fit)
{
    write_classes("a\nc\na\n");
    refused(PINFOLD_E_ARGUMENT, "c: a: the class comes twice");
    write_classes("a\nz\n");
    refused(PINFOLD_E_IO, "z: cannot read the folder");
    write_classes("");
    refused(PINFOLD_E_ARGUMENT, "no class in the list");
    options.class_list = "/nowhere/list";
    refused(PINFOLD_E_IO, "/nowhere/list: cannot read the list");
    options.class_list = NULL;
    options.list = root;
    refused(PINFOLD_E_IO, "cannot read the list");
    options.index = "x";
    refused(PINFOLD_E_ARGUMENT, "a list and an index exclude each other");
}
