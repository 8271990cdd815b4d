/* SPDX-License-Identifier: Apache-2.0
 * A file is read whole or refused by name, and again where a failure passes: on
 * system calls that fail as they are told, and a clock that waits move. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/load/read.h"
#include "tests/support/tree.h"

enum call { OPEN, STAT, READ };

/* Calls number `first` to `end` - 1 of `call` fail with `code`. */
static struct {
    enum call call;
    int first, end, code;
} fault;
static int calls[3];
static size_t piece;       /* most bytes a read gives */
static bool interrupted;   /* every second read and open is */
static uint64_t now;       /* ns */
static uint64_t waits[64]; /* ns */
static int n_waits;
static void (*during_wait)(void), (*during_read)(void);

/* What the linker sends here (--wrap); the test's own calls too. */
int __real_openat(int fd, const char *path, int flags, ...);
int __real_fstat(int fd, struct stat *info);
ssize_t __real_read(int fd, void *to, size_t size);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_fstat(int fd, struct stat *info);
ssize_t __wrap_read(int fd, void *to, size_t size);
uint64_t __wrap_pfi_now_ns(void);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until);

static bool fails(enum call call)
{
    const int i = calls[call]++;

    if (interrupted && i % 2 == 0 && call != STAT) {
        errno = EINTR;
        return true;
    }
    if (call != fault.call || i < fault.first || i >= fault.end)
        return false;
    errno = fault.code;
    return true;
}

int __wrap_openat(int fd, const char *path, int flags, ...)
{
    return fails(OPEN) ? -1 : __real_openat(fd, path, flags);
}

int __wrap_fstat(int fd, struct stat *info)
{
    return fails(STAT) ? -1 : __real_fstat(fd, info);
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    if (during_read)
        during_read();
    return fails(READ) ? -1 : __real_read(fd, to, size < piece ? size : piece);
}

uint64_t __wrap_pfi_now_ns(void)
{
    return now;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    const uint64_t at =
        (uint64_t)until->tv_sec * 1000000000u + (uint64_t)until->tv_nsec;

    (void)cond;
    if (n_waits < 64)
        waits[n_waits++] = at - now;
    now = at;
    if (during_wait) {
        pthread_mutex_unlock(mutex);
        during_wait();
        pthread_mutex_lock(mutex);
    }
    return ETIMEDOUT;
}

#define TEXT "0123456789abcdefghijklmnopqrstuvwxyz"
#define MS UINT64_C(1000000)

static char root[64];
static int root_fd;
static struct pfi_arena arena;
static struct pfi_patient patient;
static uint64_t limit;
static pinfold_error err;
static const void *data;
static size_t size;

static void setup(void)
{
    tree_open(root);
    tree_file(root, "a/1.jpg", TEXT);
    root_fd = open(root, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(root_fd, 0);
    cr_assert(pfi_arena_init(&arena, 16));
    limit = 1000;
    patient.reader = pfi_reader_files(&limit);
    cr_assert_eq(pfi_retry_init(&patient.retry, PFI_RETRIES), 0);
    piece = SIZE_MAX;
    now = 77;
    fault.end = 0;
}

static void teardown(void)
{
    pfi_retry_end(&patient.retry);
    pfi_arena_end(&arena);
    close(root_fd);
    tree_close(root);
}

TestSuite(read, .init = setup, .fini = teardown);

static pinfold_status read_path(const char *path)
{
    const struct pfi_reader reader = pfi_reader_patient(&patient);

    memset(calls, 0, sizeof(calls));
    n_waits = 0;
    data = NULL;
    size = 0;
    pfi_arena_reset(&arena);
    pfi_error_clear(&err);
    return reader.read(reader.cookie, root_fd, path, &arena, &data, &size, &err);
}

static void expect_text(const char *text)
{
    cr_assert_eq(read_path("a/1.jpg"), PINFOLD_OK, "%s", err.message);
    cr_assert_eq(size, strlen(text));
    cr_assert_arr_eq(data, text, size);
    cr_assert_eq(err.status, PINFOLD_OK);
}

static void expect_failure(int code, const char *message)
{
    cr_assert_eq(read_path("a/1.jpg"), PINFOLD_E_IO);
    cr_assert_eq(err.status, PINFOLD_E_IO);
    cr_assert_eq(err.sys_code, code);
    cr_assert_str_eq(err.message, message);
}

Test(read, short_reads_and_signals_do_not_matter)
{
    piece = 7;
    interrupted = true;
    expect_text(TEXT);
    cr_assert_eq(calls[READ], 12, "%d", calls[READ]);
    cr_assert_eq(calls[OPEN], 2);
    cr_assert_eq(n_waits, 0);
}

Test(read, what_passes_is_read_again_from_a_new_open)
{
    static const int codes[] = {EIO, ESTALE, ETIMEDOUT};

    for (int call = OPEN; call <= READ; call++)
        for (int c = 0; c < 3; c++) {
            const uint64_t before = pfi_retry_count(&patient.retry);

            fault.call = (enum call)call;
            fault.end = 2;
            fault.code = codes[c];
            expect_text(TEXT);
            cr_assert_eq(calls[OPEN], 3);
            cr_assert_eq(n_waits, 2);
            cr_assert_eq(waits[0], 100 * MS);
            cr_assert_eq(waits[1], 400 * MS);
            cr_assert_eq(pfi_retry_count(&patient.retry), before + 2);
        }
}

Test(read, what_does_not_pass_is_named)
{
    fault.end = 1000;
    fault.code = EIO;
    fault.call = READ;
    expect_failure(EIO, "reading at byte 0: Input/output error, after 4 "
                        "attempts");
    cr_assert_eq(calls[OPEN], 4);
    cr_assert_eq(n_waits, 3);
    cr_assert_eq(waits[2], 1600 * MS);
    fault.call = OPEN;
    fault.code = ETIMEDOUT;
    expect_failure(ETIMEDOUT, "cannot open: Connection timed out, after 4 "
                              "attempts");
    fault.call = STAT;
    fault.code = ESTALE;
    expect_failure(ESTALE, "cannot stat: Stale file handle, after 4 attempts");
}

Test(read, bytes_before_the_failure_are_counted)
{
    piece = 10;
    fault.call = READ;
    fault.first = 3;
    fault.end = 1000;
    fault.code = EIO;
    patient.retry.limit = 0;
    expect_failure(EIO, "reading at byte 30: Input/output error");
    cr_assert_eq(n_waits, 0);
}

Test(read, a_file_above_the_limit_is_never_read)
{
    limit = sizeof(TEXT) - 1;
    expect_text(TEXT);
    tree_file(root, "a/1.jpg", TEXT "+");
    cr_assert_eq(read_path("a/1.jpg"), PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "a file of 37 bytes, limit 36");
    cr_assert_eq(calls[OPEN], 1);
    cr_assert_eq(calls[READ], 0);
    cr_assert_eq(n_waits, 0);
    cr_assert_eq(truncate(tree_path(root, "a/1.jpg"), (off_t)10 << 30), 0);
    cr_assert_eq(read_path("a/1.jpg"), PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "a file of 10737418240 bytes, limit 36");
    cr_assert_eq(calls[READ], 0);
}

static void append(void)
{
    FILE *const file = fopen(tree_path(root, "a/1.jpg"), "a");

    cr_assert_not_null(file);
    cr_assert_geq(fputs("more", file), 0);
    cr_assert_eq(fclose(file), 0);
}

Test(read, of_what_grows_meanwhile_no_more_is_read)
{
    limit = sizeof(TEXT) - 1;
    piece = 7;
    during_read = append;
    expect_text(TEXT);
    during_read = NULL;
    cr_assert_eq(read_path("a/1.jpg"), PINFOLD_E_LIMIT);
    cr_assert_str_eq(err.message, "a file of 60 bytes, limit 36");
}

Test(read, other_failures_are_final)
{
    static const int codes[] = {ENOENT, EACCES, EMFILE, ENXIO, ENOTCONN};

    fault.call = OPEN;
    fault.end = 1;
    for (int c = 0; c < 5; c++) {
        fault.code = codes[c];
        cr_assert_eq(read_path("a/1.jpg"), PINFOLD_E_IO);
        cr_assert_eq(err.sys_code, codes[c]);
        cr_assert_null(strstr(err.message, "attempts"));
        cr_assert_eq(calls[OPEN], 1);
    }
    fault.end = 0;
    cr_assert_eq(read_path("a/none.jpg"), PINFOLD_E_IO);
    cr_assert_eq(read_path("a"), PINFOLD_E_IO);
    cr_assert_eq(err.sys_code, EISDIR);
    cr_assert_eq(n_waits, 0);
    cr_assert_eq(pfi_retry_count(&patient.retry), 0);
}

Test(read, gives_up_after_half_a_minute)
{
    const uint64_t before = now;

    patient.retry.limit = 100;
    fault.call = OPEN;
    fault.end = 1000;
    fault.code = EIO;
    expect_failure(EIO, "cannot open: Input/output error, after 9 attempts");
    cr_assert_leq(now - before, 30000 * MS);
    for (int i = 3; i < n_waits; i++)
        cr_assert_eq(waits[i], 5000 * MS);
}

static void replace_file(void)
{
    tree_file(root, "a/new.jpg", "another picture, and a longer one than before");
    char from[128];

    (void)snprintf(from, sizeof(from), "%s", tree_path(root, "a/new.jpg"));
    (void)rename(from, tree_path(root, "a/1.jpg"));
}

Test(read, a_file_replaced_meanwhile_is_the_new_one_only)
{
    piece = 7;
    fault.call = READ;
    fault.first = 3;
    fault.end = 4;
    fault.code = ESTALE;
    during_wait = replace_file;
    expect_text("another picture, and a longer one than before");
    cr_assert_eq(n_waits, 1);
}

static void remove_file(void)
{
    (void)unlink(tree_path(root, "a/1.jpg"));
}

Test(read, a_file_removed_meanwhile_is_named_so)
{
    fault.call = READ;
    fault.end = 1;
    fault.code = ESTALE;
    during_wait = remove_file;
    expect_failure(ENOENT,
                   "cannot open: No such file or directory, after 2 attempts");
}

static void stop(void)
{
    pfi_retry_stop(&patient.retry);
}

Test(read, a_stop_ends_the_wait)
{
    fault.call = READ;
    fault.end = 1000;
    fault.code = EIO;
    during_wait = stop;
    expect_failure(EIO, "reading at byte 0: Input/output error");
    cr_assert_eq(n_waits, 1);
    expect_failure(EIO, "reading at byte 0: Input/output error");
    cr_assert_eq(n_waits, 0, "stopped until it is resumed");
    cr_assert_eq(pfi_retry_count(&patient.retry), 0);
    during_wait = NULL;
    pfi_retry_resume(&patient.retry);
    fault.end = 1;
    expect_text(TEXT);
}

/* Nobody has opened the other end: an open that waits would wait for ever. */
Test(read, a_fifo_is_refused_at_once)
{
    cr_assert_eq(mkfifo(tree_path(root, "pipe"), 0600), 0);
    cr_assert_eq(read_path("pipe"), PINFOLD_E_IO);
    cr_assert_str_eq(err.message, "not a regular file");
    cr_assert_eq(n_waits, 0);
}
