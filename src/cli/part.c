/* SPDX-License-Identifier: Apache-2.0
 * Temporary names, in the folder of the file that they become. */
#include "src/cli/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_names(struct pfi_cli_part *part, const char *name)
{
    const size_t size = strlen(name) + sizeof("..part");
    const char *const slash = strrchr(name, '/');
    const int before = slash ? (int)(slash + 1 - name) : 0;

    part->name = malloc(size);
    part->temporary = malloc(size);
    if (!part->name || !part->temporary) {
        errno = ENOMEM;
        return -1;
    }
    (void)snprintf(part->name, size, "%s", name);
    (void)snprintf(part->temporary, size, "%.*s.%s.part", before, name,
                   name + before);
    return 0;
}

static int remove_leftover(const struct pfi_cli_part *part)
{
    return unlinkat(part->folder, part->temporary, 0) && errno != ENOENT ? -1
                                                                         : 0;
}

int pfi_cli_part_forget(int folder, const char *name)
{
    struct pfi_cli_part part = {.folder = folder};
    const int code = make_names(&part, name) || remove_leftover(&part) ? -1 : 0;

    pfi_cli_part_drop(&part);
    return code;
}

/* A link in its place is not followed. */
int pfi_cli_part_open(struct pfi_cli_part *part, int folder, const char *name)
{
    int fd;

    *part = (struct pfi_cli_part){.folder = folder};
    if (make_names(part, name) || remove_leftover(part))
        return -1;
    fd = openat(folder, part->temporary,
                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    part->made = fd >= 0;
    part->file = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (!part->file && fd >= 0)
        close(fd);
    return part->file ? 0 : -1;
}

int pfi_cli_part_reopen(struct pfi_cli_part *part, int folder, const char *name)
{
    int fd;

    *part = (struct pfi_cli_part){.folder = folder};
    if (make_names(part, name))
        return -1;
    fd = openat(folder, part->temporary, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    part->file = fd < 0 ? NULL : fdopen(fd, "r+b");
    if (!part->file && fd >= 0)
        close(fd);
    return part->file ? 0 : -1;
}

int pfi_cli_part_user(struct pfi_cli_part *part, const char *path)
{
    struct stat info;

    const bool there = !lstat(path, &info);

    *part = (struct pfi_cli_part){0};
    if (!there && errno != ENOENT)
        return -1;
    if (!there || S_ISREG(info.st_mode))
        return pfi_cli_part_open(part, AT_FDCWD, path);
    part->file = fopen(path, "w");
    return part->file ? 0 : -1;
}

/* An error that an earlier write met is lost by now, so it is EIO here. */
int pfi_cli_part_sync(struct pfi_cli_part *part)
{
    FILE *const file = part->file;
    int code = 0;

    if (!file)
        return 0;
    part->file = NULL;
    if (fflush(file))
        code = errno;
    else if (ferror(file))
        code = EIO;
    else if (part->temporary && fsync(fileno(file)))
        code = errno;
    if (fclose(file) && !code)
        code = errno;
    errno = code;
    return code ? -1 : 0;
}

int pfi_cli_part_rename(struct pfi_cli_part *part)
{
    if (part->temporary &&
        renameat(part->folder, part->temporary, part->folder, part->name))
        return -1;
    part->made = false;
    return 0;
}

void pfi_cli_part_drop(struct pfi_cli_part *part)
{
    if (part->file)
        (void)fclose(part->file);
    if (part->made)
        (void)unlinkat(part->folder, part->temporary, 0);
    free(part->name);
    free(part->temporary);
    *part = (struct pfi_cli_part){0};
}
