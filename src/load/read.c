/* SPDX-License-Identifier: Apache-2.0
 * Reads a whole file with one open, fstat and close. */
#include "src/load/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/limits.h"

static pinfold_status fail_errno(pinfold_error *err, int code, const char *what)
{
    char text[128];

    if (strerror_r(code, text, sizeof(text)))
        (void)snprintf(text, sizeof(text), "errno %d", code);
    return pfi_fail(err, PINFOLD_E_IO, code, "%s: %s", what, text);
}

static pinfold_status fail_read(pinfold_error *err, int code, size_t done)
{
    char what[48];

    (void)snprintf(what, sizeof(what), "reading at byte %zu", done);
    return fail_errno(err, code, what);
}

/* Reads until `size` bytes are there or the file ends, whatever comes first. */
static pinfold_status read_all(int fd, unsigned char *data, size_t size,
                               pinfold_error *err)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n = read(fd, data + done, size - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            return pfi_fail(err, PINFOLD_E_IO, 0,
                            "the file shrank to %zu of %zu bytes while it was "
                            "read",
                            done, size);
        else if (errno != EINTR)
            return fail_read(err, errno, done);
    }
    return PINFOLD_OK;
}

static pinfold_status read_open(int fd, uint64_t limit, struct pfi_arena *arena,
                                const void **data, size_t *size,
                                pinfold_error *err)
{
    struct stat info;
    pinfold_status status;
    unsigned char *bytes;

    if (fstat(fd, &info))
        return fail_errno(err, errno, "cannot stat");
    if (S_ISDIR(info.st_mode))
        return fail_errno(err, EISDIR, "cannot read");
    if (!S_ISREG(info.st_mode))
        return pfi_fail(err, PINFOLD_E_IO, 0, "not a regular file");
    status = pfi_limit_file((uint64_t)info.st_size, limit, err);
    if (status)
        return status;
    if ((uintmax_t)info.st_size > SIZE_MAX)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0, "the file is too large");
    bytes = pfi_arena_alloc(arena, (size_t)info.st_size);
    if (!bytes)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                        "no memory for the file's %jd bytes",
                        (intmax_t)info.st_size);
    status = read_all(fd, bytes, (size_t)info.st_size, err);
    if (status)
        return status;
    *data = bytes;
    *size = (size_t)info.st_size;
    return PINFOLD_OK;
}

/* O_NONBLOCK: a FIFO among the samples must not hang its worker. */
static pinfold_status read_file(void *cookie, int root_fd, const char *path,
                                struct pfi_arena *arena, const void **data,
                                size_t *size, pinfold_error *err)
{
    const uint64_t *const limit = cookie;
    pinfold_status status;
    int fd;

    do
        fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fail_errno(err, errno, "cannot open");
    status = read_open(fd, *limit, arena, data, size, err);
    close(fd);
    return status;
}

struct pfi_reader pfi_reader_files(uint64_t *limit)
{
    return (struct pfi_reader){limit, read_file};
}

static pinfold_status read_patiently(void *cookie, int root_fd,
                                     const char *path, struct pfi_arena *arena,
                                     const void **data, size_t *size,
                                     pinfold_error *err)
{
    struct pfi_patient *const patient = cookie;
    const struct pfi_reader *const reader = &patient->reader;
    struct pfi_attempts attempts = {0};
    pinfold_status status;

    while ((status = reader->read(reader->cookie, root_fd, path, arena, data,
                                  size, err)) == PINFOLD_E_IO &&
           pfi_retry_wait(&patient->retry, &attempts, err->sys_code)) {
        pfi_arena_reset(arena);
        pfi_error_clear(err);
    }
    if (status)
        pfi_attempts_tell(&attempts, err);
    return status;
}

struct pfi_reader pfi_reader_patient(struct pfi_patient *patient)
{
    return (struct pfi_reader){patient, read_patiently};
}
