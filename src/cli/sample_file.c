/* SPDX-License-Identifier: Apache-2.0
 * Samples are regular files only. */
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

static void *cannot(pinfold_error *err, const char *what)
{
    char why[160];

    (void)snprintf(why, sizeof(why), "cannot %s: %s", what, strerror(errno));
    return fail(err, why);
}

static void *fail_memory(pinfold_error *err, const char *why)
{
    (void)fail(err, why);
    err->status = PINFOLD_E_MEMORY;
    return NULL;
}

static void *fail_size(const char *at_least, uint64_t size, uint64_t limit,
                       pinfold_error *err)
{
    err->status = PINFOLD_E_LIMIT;
    (void)snprintf(err->message, sizeof(err->message),
                   "a file of %s%llu bytes, limit %llu", at_least,
                   (unsigned long long)size, (unsigned long long)limit);
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

static void *read_open(int fd, uint64_t limit, struct pfi_cli_head *head,
                       pinfold_error *err)
{
    struct stat info;
    unsigned char *bytes;

    if (fstat(fd, &info))
        return cannot(err, "read");
    errno = 0;
    if (!S_ISREG(info.st_mode))
        return fail(err, "not a regular file");
    if ((uint64_t)info.st_size > limit)
        return fail_size("", (uint64_t)info.st_size, limit, err);
    head->whole = (size_t)info.st_size;
    head->size = head->whole < head->most ? head->whole : head->most;
    bytes = malloc(head->size + 1);
    if (!bytes)
        return fail_memory(err, "no memory for the file");
    if (read_up_to(fd, bytes, head->size) == head->size)
        return bytes;
    free(bytes);
    return errno ? cannot(err, "read")
                 : fail(err, "it shrank while it was read");
}

void *pfi_cli_sample_head(const pinfold_dataset *dataset, int64_t index,
                          uint64_t limit, struct pfi_cli_head *head,
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
        return cannot(err, "open");
    bytes = read_open(fd, limit, head, err);
    close(fd);
    return bytes;
}

void *pfi_cli_sample_read(const pinfold_dataset *dataset, int64_t index,
                          uint64_t limit, size_t *size, pinfold_error *err)
{
    struct pfi_cli_head head = {.most = SIZE_MAX};
    void *const bytes = pfi_cli_sample_head(dataset, index, limit, &head, err);

    *size = head.size;
    return bytes;
}

/* ------------------------------------------------------------- any file --- */

/* Twice the room, and one byte for the NUL. */
static unsigned char *grow(unsigned char *bytes, size_t *room)
{
    void *const grown =
        *room > SIZE_MAX / 2 - 1 ? NULL : realloc(bytes, *room * 2 + 1);

    if (!grown)
        free(bytes);
    *room *= 2;
    return grown;
}

static void *read_stream(FILE *file, uint64_t limit, size_t *size,
                         pinfold_error *err)
{
    size_t room = 1 << 16, used = 0;
    unsigned char *bytes = malloc(room + 1);

    while (bytes) {
        used += fread(bytes + used, 1, room - used, file);
        if (used < room || used > limit)
            break;
        bytes = grow(bytes, &room);
    }
    if (!bytes)
        return fail_memory(err, "no memory for the file");
    if (used > limit || ferror(file)) {
        (void)(used > limit ? fail_size("at least ", used, limit, err)
                            : cannot(err, "read"));
        free(bytes);
        return NULL;
    }
    bytes[used] = '\0';
    *size = used;
    return bytes;
}

void *pfi_cli_read_file(const char *path, uint64_t limit, size_t *size,
                        pinfold_error *err)
{
    FILE *const file = fopen(path, "rb");
    struct stat info;
    void *bytes = NULL;

    *err = (pinfold_error){.sample = -1};
    if (!file)
        return cannot(err, "read");
    if (fstat(fileno(file), &info))
        (void)cannot(err, "read");
    else if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit)
        (void)fail_size("", (uint64_t)info.st_size, limit, err);
    else
        bytes = read_stream(file, limit, size, err);
    (void)fclose(file);
    return bytes;
}
