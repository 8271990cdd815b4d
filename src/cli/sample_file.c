/* SPDX-License-Identifier: Apache-2.0
 * Reads regular files only. */
#include "src/cli/sample_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void *fail(pinfold_error *err, const char *why)
{
    err->status = PINFOLD_E_IO;
    err->sys_code = errno;
    (void)snprintf(err->message, sizeof(err->message), "%s", why);
    return NULL;
}

static void *fail_memory(pinfold_error *err, const char *why)
{
    (void)fail(err, why);
    err->status = PINFOLD_E_MEMORY;
    return NULL;
}

/* Paths of a list may be absolute. */
static char *path_of(const pinfold_dataset *dataset, int64_t index)
{
    const char *const root = pinfold_dataset_root(dataset);
    const char *const path = pinfold_dataset_path(dataset, index);
    const size_t room = strlen(root) + strlen(path) + 2;
    char *const full = malloc(room);

    if (full && *path == '/')
        (void)strcpy(full, path);
    else if (full)
        (void)snprintf(full, room, "%s/%s", root, path);
    return full;
}

/* Fewer bytes than `size` where the file shrinks meanwhile. */
static size_t read_up_to(int fd, unsigned char *bytes, size_t size)
{
    size_t done = 0;

    errno = 0;
    while (done < size) {
        const ssize_t n = read(fd, bytes + done, size - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    return done;
}

static void *read_open(int fd, size_t most, size_t *size, size_t *whole,
                       pinfold_error *err)
{
    struct stat info;
    unsigned char *bytes;

    if (fstat(fd, &info))
        return fail(err, strerror(errno));
    errno = 0;
    if (!S_ISREG(info.st_mode))
        return fail(err, "not a regular file");
    *whole = (size_t)info.st_size;
    *size = *whole < most ? *whole : most;
    bytes = malloc(*size + 1);
    if (!bytes)
        return fail_memory(err, "no memory for the file");
    if (read_up_to(fd, bytes, *size) == *size)
        return bytes;
    free(bytes);
    return fail(err, errno ? strerror(errno) : "it shrank while it was read");
}

void *pfi_cli_sample_head(const pinfold_dataset *dataset, int64_t index,
                          size_t most, size_t *size, size_t *whole,
                          pinfold_error *err)
{
    char *const path = path_of(dataset, index);
    void *bytes;
    int fd;

    *err = (pinfold_error){.sample = index};
    if (!path)
        return fail_memory(err, "no memory for the path");
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    free(path);
    if (fd < 0)
        return fail(err, strerror(errno));
    bytes = read_open(fd, most, size, whole, err);
    close(fd);
    return bytes;
}

void *pfi_cli_sample_read(const pinfold_dataset *dataset, int64_t index,
                          size_t *size, pinfold_error *err)
{
    size_t whole;

    return pfi_cli_sample_head(dataset, index, SIZE_MAX, size, &whole, err);
}
