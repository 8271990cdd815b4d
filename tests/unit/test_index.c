/* SPDX-License-Identifier: Apache-2.0
 * A saved index is used while it is right, and otherwise refused in words and
 * written anew. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/dataset.h"
#include "datasets/index.h"
#include "src/base/hash.h"
#include "tests/support/tree.h"

static char root[64], other[64], beside[64], file[128], classes[128];
static pinfold_dataset_options options;
static pinfold_dataset *dataset;
static pinfold_error err;

static void setup(void)
{
    tree_open(root);
    tree_open(other);
    tree_open(beside);
    tree_file(root, "a/1.png", "");
    tree_file(root, "a/sub/2.png", "");
    tree_file(root, "b/3.png", "");
    tree_settle(root);
    (void)snprintf(file, sizeof(file), "%s/index", beside);
    options = (pinfold_dataset_options){.struct_size = sizeof(options),
                                        .index = file};
}

static void teardown(void)
{
    pinfold_dataset_close(dataset);
    tree_close(root);
    tree_close(other);
    tree_close(beside);
}

TestSuite(index, .init = setup, .fini = teardown);

static pinfold_status reopen(const char *tree)
{
    pinfold_dataset_close(dataset);
    return pinfold_dataset_open(&dataset, tree, &options, &err);
}

/* Opens the tree: "path;path;", and whether the index was used: NULL, or words
 * of why not. */
static void expect(const char *tree, const char *paths, const char *words)
{
    char got[512] = "";
    size_t used = 0;

    cr_assert_eq(reopen(tree), PINFOLD_OK, "%s", err.message);
    for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++)
        used += (size_t)snprintf(got + used, sizeof(got) - used, "%s;",
                                 pinfold_dataset_path(dataset, i));
    cr_assert_str_eq(got, paths);
    const char *const remark = pinfold_dataset_remark(dataset);

    if (!words)
        cr_assert_null(remark, "%s", remark);
    else
        cr_assert(remark && strstr(remark, words), "%s", remark);
}

#define ALL "a/1.png;a/sub/2.png;b/3.png;"

Test(index, is_made_and_used)
{
    uint64_t fingerprint;

    expect(root, ALL, "No such file or directory; written anew");
    fingerprint = pfi_dataset_fingerprint(dataset);
    expect(root, ALL, NULL);
    cr_assert_eq(pfi_dataset_fingerprint(dataset), fingerprint);
    cr_assert_eq(pinfold_dataset_label(dataset, 1), 0);
    cr_assert_eq(pinfold_dataset_label(dataset, 2), 1);
    cr_assert_str_eq(pinfold_dataset_class_name(dataset, 1), "b");
}

Test(index, is_written_on_demand)
{
    options.index = NULL;
    expect(root, ALL, NULL);
    cr_assert_eq(pinfold_dataset_save(dataset, file, &err), PINFOLD_OK, "%s",
                 err.message);
    options.index = file;
    expect(root, ALL, NULL);
    cr_assert_eq(pinfold_dataset_save(dataset, "/nowhere/i", &err),
                 PINFOLD_E_IO);
    cr_assert_not_null(strstr(err.message, "cannot write the index"));
}

Test(index, is_stale_when_a_folder_changed)
{
    expect(root, ALL, "written anew");
    tree_file(root, "a/sub/4.png", "");
    expect(root, "a/1.png;a/sub/2.png;a/sub/4.png;b/3.png;",
           "index: a/sub: changed since, or just before it was made; written "
           "anew");
    tree_settle(root);
    expect(root, "a/1.png;a/sub/2.png;a/sub/4.png;b/3.png;", "written anew");
    cr_assert_eq(unlink(tree_path(root, "b/3.png")), 0);
    options.trust_index = 1;
    expect(root, "a/1.png;a/sub/2.png;a/sub/4.png;b/3.png;", NULL);
    options.trust_index = 0;
    cr_assert_eq(reopen(root), PINFOLD_E_ARGUMENT);
    cr_assert_not_null(strstr(
        err.message, "b: no picture in this class (allow_empty keeps it)"));
}

Test(index, does_not_trust_a_folder_that_changed_just_now)
{
    tree_file(root, "b/4.png", "");
    expect(root, ALL "b/4.png;", "written anew");
    expect(root, ALL "b/4.png;", "b: changed since, or just before");
    tree_settle(root);
    expect(root, ALL "b/4.png;", "written anew");
    expect(root, ALL "b/4.png;", NULL);
}

Test(index, of_another_tree_is_refused)
{
    expect(root, ALL, "written anew");
    tree_file(other, "z/9.png", "");
    options.trust_index = 1;
    expect(other, "z/9.png;", "index: of another tree; written anew");
    expect(other, "z/9.png;", NULL);
}

Test(index, of_other_classes_is_refused)
{
    expect(root, ALL, "written anew");
    tree_file(beside, "c", "b\na\n");
    (void)snprintf(classes, sizeof(classes), "%s/c", beside);
    options.class_list = classes;
    expect(root, "b/3.png;a/1.png;a/sub/2.png;",
           "of another list of classes; written anew");
    expect(root, "b/3.png;a/1.png;a/sub/2.png;", NULL);
}

static long size_of_file(void)
{
    struct stat info;

    cr_assert_eq(stat(file, &info), 0);
    return (long)info.st_size;
}

Test(index, cut_anywhere_is_refused)
{
    expect(root, ALL, "written anew");
    const long size = size_of_file();

    for (long cut = 0; cut < size; cut += 3) {
        cr_assert_eq(truncate(file, cut), 0);
        expect(root, ALL, "cut short");
        cr_assert_eq(size_of_file(), size);
        expect(root, ALL, NULL);
    }
}

Test(index, damaged_anywhere_is_refused)
{
    expect(root, ALL, "written anew");
    for (long at = 8; at < size_of_file(); at++) {
        FILE *const open = fopen(file, "r+b");
        int byte;

        cr_assert_not_null(open);
        cr_assert_eq(fseek(open, at, SEEK_SET), 0);
        byte = fgetc(open);
        cr_assert_eq(fseek(open, at, SEEK_SET), 0);
        cr_assert_neq(fputc(byte ^ 0x10, open), EOF);
        cr_assert_eq(fclose(open), 0);
        expect(root, ALL, "written anew");
    }
}

/* With a checksum that fits, each word of the head and the arrays as something
 * else: a listing that is no use, or another one, but never a crash. */
Test(index, forged_ones_are_refused_or_hold_together)
{
    static const uint64_t values[] = {0, 1, 2, 7, 1u << 20, UINT64_MAX / 8,
                                      UINT64_MAX - 6, UINT64_MAX};
    static unsigned char kept[4096], bytes[4096];
    const size_t behind = offsetof(struct pfi_index_head, root_inode);

    expect(root, ALL, "written anew");
    const size_t size = (size_t)size_of_file();
    FILE *const from = fopen(file, "rb");

    cr_assert(from && size < sizeof(kept));
    cr_assert_eq(fread(kept, 1, size, from), size);
    cr_assert_eq(fclose(from), 0);
    options.trust_index = 1;
    for (size_t at = behind; at + 8 <= size; at += 8)
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            struct pfi_index_head head;
            FILE *to;
            int64_t used = 0;

            memcpy(bytes, kept, size);
            memcpy(bytes + at, &values[v], 8);
            memcpy(&head, bytes, sizeof(head));
            head.checksum = pfi_hash(bytes + behind, size - behind, 0);
            memcpy(bytes, &head, sizeof(head));
            to = fopen(file, "wb");
            cr_assert(to && fwrite(bytes, 1, size, to) == size && !fclose(to));
            if (reopen(root))
                continue;
            for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++) {
                const int64_t label = pinfold_dataset_label(dataset, i);

                cr_assert(label >= 0 &&
                          label < pinfold_dataset_class_count(dataset));
                used += (int64_t)strlen(pinfold_dataset_path(dataset, i)) +
                        (int64_t)strlen(
                            pinfold_dataset_class_name(dataset, label));
            }
            cr_assert_lt(used, 4096);
        }
}

/* Processes share what is mapped of one file. */
Test(index, is_mapped)
{
    char line[512];
    int mapped = 0;

    expect(root, ALL, "written anew");
    expect(root, ALL, NULL);
    FILE *const maps = fopen("/proc/self/maps", "r");

    if (!maps)
        cr_skip_test("no /proc/self/maps here");
    while (fgets(line, sizeof(line), maps))
        mapped += strstr(line, file) && strstr(line, " r--p ");
    cr_assert_eq(fclose(maps), 0);
    cr_assert_eq(mapped, 1);
}

/* One that others have mapped is not written over: they go on with theirs. */
Test(index, stays_whole_for_those_who_have_it)
{
    pinfold_dataset *before;

    expect(root, ALL, "written anew");
    expect(root, ALL, NULL);
    before = dataset;
    dataset = NULL;
    tree_file(root, "a/0.png", "");
    expect(root, "a/0.png;" ALL, "a: changed since");
    cr_assert_eq(pinfold_dataset_size(before), 3);
    cr_assert_str_eq(pinfold_dataset_path(before, 0), "a/1.png");
    pinfold_dataset_close(before);
}

/* A process of the same number may have been killed while it wrote. */
Test(index, is_written_where_a_part_was_left)
{
    char part[160];

    (void)snprintf(part, sizeof(part), "index.%ld-0.part", (long)getpid());
    tree_file(beside, part, "half");
    expect(root, ALL, "written anew");
    expect(root, ALL, NULL);
}

/* A file of something else may be somebody's work. */
Test(index, is_never_written_over_something_else)
{
    tree_file(beside, "index", "my thesis");
    expect(root, ALL, "index: not an index; left as it is");
    cr_assert_eq(size_of_file(), 9);
}

Test(index, takes_few_bytes_a_sample)
{
    long before;
    char name[32];

    expect(root, ALL, "written anew");
    before = size_of_file();
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "b/n%06d.png", i);
        tree_file(root, name, "");
    }
    cr_assert_eq(reopen(root), PINFOLD_OK);
    cr_assert_leq(size_of_file() - before, 1000 * (14 + 8) + 8);
}

Test(index, needs_no_index_to_distrust)
{
    options.index = NULL;
    options.trust_index = 1;
    cr_assert_eq(reopen(root), PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "trust_index, but there is no index");
}

Test(index, is_no_folder_and_no_other_file_of_its_size)
{
    char text[4096];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    tree_file(beside, "index", text);
    expect(root, ALL, "index: not an index; left as it is");
    cr_assert_eq(size_of_file(), 4095);
    options.index = other;
    expect(root, ALL, "not an index; left as it is");
}

Test(index, is_saved_under_a_name)
{
    options.index = NULL;
    cr_assert_eq(reopen(root), PINFOLD_OK);
    cr_assert_eq(pinfold_dataset_save(dataset, "", &err), PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "the file's name is empty");
    cr_assert_eq(pinfold_dataset_save(dataset, NULL, &err),
                 PINFOLD_E_ARGUMENT);
}

/* What it holds was not walked. */
Test(index, cannot_be_kept_inside_the_root)
{
    options.no_follow_outside = 1;
    cr_assert_eq(reopen(root), PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "no_follow_outside is of a walk, not of a list "
                                  "or an index");
}
