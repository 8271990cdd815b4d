/* SPDX-License-Identifier: Apache-2.0
 * A tree's listing, and the error of one that has several, are the same for any
 * number of threads; what passes is read again. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/walk.h"
#include "tests/support/tree.h"

#define CLASSES 60

static char root[64];
static int root_fd;
static struct pfi_listing listing, other;
static pinfold_error err;
static const char *failing; /* opens of this folder do, */
static atomic_int failures; /* so many times */
static atomic_int waits;
static atomic_uint_fast64_t now;

int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
uint64_t __wrap_pfi_now_ns(void);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until);

int __wrap_openat(int fd, const char *path, int flags, ...)
{
    if (failing && !strcmp(path, failing) && failures-- > 0) {
        errno = ESTALE;
        return -1;
    }
    return __real_openat(fd, path, flags);
}

uint64_t __wrap_pfi_now_ns(void)
{
    return now;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    (void)cond;
    (void)mutex;
    waits++;
    now = (uint64_t)until->tv_sec * 1000000000u + (uint64_t)until->tv_nsec;
    return ETIMEDOUT;
}

static void setup(void)
{
    char name[32];

    tree_open(root);
    for (int c = 0; c < CLASSES; c++)
        for (int i = 0; i <= c % 7; i++) {
            (void)snprintf(name, sizeof(name), "c%02d/%s%d.png", c,
                           i % 3 == 2 ? "sub/" : "", i);
            tree_file(root, name, "");
        }
    root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(root_fd, 0);
}

static void teardown(void)
{
    pfi_listing_end(&listing);
    pfi_listing_end(&other);
    close(root_fd);
    tree_close(root);
}

TestSuite(walk, .init = setup, .fini = teardown);

static pinfold_status walk(struct pfi_listing *out, int32_t threads)
{
    pfi_listing_end(out);
    pfi_error_clear(&err);
    return pfi_walk(out, &(const struct pfi_root){root_fd, root, NULL}, NULL,
                    threads, &err);
}

static void expect_same(const struct pfi_strings *a, const struct pfi_strings *b)
{
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(a->used, b->used);
    cr_assert_arr_eq(a->bytes, b->bytes, a->used);
    cr_assert_arr_eq(a->at, b->at, (size_t)a->count * sizeof(*a->at));
}

Test(walk, is_the_same_for_any_number_of_threads)
{
    static const int32_t threads[] = {2, 3, 16, 1024};

    cr_assert_eq(walk(&listing, 1), PINFOLD_OK, "%s", err.message);
    cr_assert_eq(listing.classes.count, CLASSES);
    cr_assert_str_eq(pfi_strings_get(&listing.paths, 1), "c01/0.png");
    for (int t = 0; t < 4; t++)
        for (int round = 0; round < 20; round++) {
            cr_assert_eq(walk(&other, threads[t]), PINFOLD_OK);
            expect_same(&listing.classes, &other.classes);
            expect_same(&listing.paths, &other.paths);
            expect_same(&listing.folders.paths, &other.folders.paths);
            cr_assert_arr_eq(listing.ends, other.ends,
                             CLASSES * sizeof(*listing.ends));
            cr_assert_arr_eq(listing.folders.changed, other.folders.changed,
                             (size_t)listing.folders.paths.count *
                                 sizeof(*listing.folders.changed));
        }
}

static void link_up(const char *path)
{
    cr_assert_eq(symlink("..", tree_path(root, path)), 0);
}

Test(walk, tells_of_the_first_class_that_fails)
{
    link_up("c50/up");
    link_up("c09/up");
    link_up("c10/up");
    for (int32_t threads = 1; threads < 20; threads++)
        for (int round = 0; round < 10; round++) {
            cr_assert_eq(walk(&listing, threads), PINFOLD_E_ARGUMENT);
            cr_assert_not_null(strstr(err.message, "c09"), "%s", err.message);
        }
    cr_assert_eq(pfi_walk(&other,
                          &(const struct pfi_root){root_fd, root, NULL}, NULL,
                          4, NULL),
                 PINFOLD_E_ARGUMENT, "err may be NULL");
}

Test(walk, reads_a_folder_again_where_the_failure_passes)
{
    static const char *const folders[] = {".", "c07", "c06/sub"};

    cr_assert_eq(walk(&listing, 1), PINFOLD_OK);
    for (int i = 0; i < 3; i++) {
        failing = folders[i];
        failures = 3;
        waits = 0;
        cr_assert_eq(walk(&other, 4), PINFOLD_OK, "%s", err.message);
        cr_assert_eq(waits, 3);
        expect_same(&listing.paths, &other.paths);
        expect_same(&listing.folders.paths, &other.folders.paths);
    }
}

Test(walk, names_the_folder_that_stays_away)
{
    static const char *const folders[] = {".", "c07", "c06/sub"};

    for (int i = 0; i < 3; i++) {
        failing = folders[i];
        failures = 1000;
        cr_assert_eq(walk(&other, 4), PINFOLD_E_IO);
        cr_assert_eq(err.sys_code, ESTALE);
        cr_assert_not_null(strstr(err.message, folders[i]), "%s", err.message);
        cr_assert_not_null(strstr(err.message,
                                  "cannot read the folder: Stale file handle, "
                                  "after 4 attempts"),
                           "%s", err.message);
    }
}
