/* SPDX-License-Identifier: Apache-2.0
 * Streams over the doors of files: libc's own would call write() behind them.
 * A stream here moves bytes as glibc's: it writes until all is written or a
 * call fails, and an interrupted one has failed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/fault/gate.h"

#define STREAMS 64

static struct stream {
    FILE *file; /* NULL = free */
    int fd;
} streams[STREAMS];

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__wrap_tmpfile(void);
int __wrap_fileno(FILE *file);
int __real_fileno(FILE *file);
FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);

static ssize_t stream_read(void *cookie, char *to, size_t size)
{
    const int fd = ((struct stream *)cookie)->fd;

    /* A stream cannot know where its file should end. */
    return gate_ends() ? __real_read(fd, to, size) : __wrap_read(fd, to, size);
}

static ssize_t stream_write(void *cookie, const char *from, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n =
            __wrap_write(((struct stream *)cookie)->fd, from + done, size - done);

        if (n < 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
    const int fd = ((struct stream *)cookie)->fd;
    const off64_t at =
        gate_pass(GATE_SEEK, gate_name_of(fd)) ? -1 : lseek(fd, *offset, whence);

    if (at < 0)
        return -1;
    *offset = at;
    return 0;
}

static int stream_close(void *cookie)
{
    struct stream *const s = cookie;

    s->file = NULL;
    return __wrap_close(s->fd);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
    static const cookie_io_functions_t functions = {stream_read, stream_write,
                                                    stream_seek, stream_close};
    struct stream *s = streams;

    while (s->file)
        s++;
    s->fd = fd;
    s->file = fopencookie(s, mode, functions);
    return s->file;
}

/* Of a descriptor that is closed where that fails; below 0 gives NULL. */
static FILE *stream_of(int fd, const char *mode)
{
    FILE *const file = fd < 0 ? NULL : __wrap_fdopen(fd, mode);

    if (fd >= 0 && !file) {
        (void)close(fd);
        errno = ENOMEM;
    }
    return file;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    const int way = strchr(mode, '+') ? O_RDWR
                    : mode[0] == 'r'  ? O_RDONLY
                                      : O_WRONLY;

    return stream_of(
        __wrap_open(path, mode[0] == 'r' ? way : way | O_CREAT | O_TRUNC, 0666),
        mode);
}

FILE *__wrap_tmpfile(void)
{
    return stream_of(__wrap_open("/tmp", O_RDWR | O_TMPFILE, 0600), "w+b");
}

int __wrap_fileno(FILE *file)
{
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].file == file)
            return streams[i].fd;
    return __real_fileno(file);
}

/* Where libc's calls of the heap are not ours to fail. */
FILE *__wrap_open_memstream(char **text, size_t *size)
{
#ifdef PFI_GATE_WRAPS_HEAP
    if (gate_pass(GATE_HEAP, NULL))
        return NULL;
#endif
    return __real_open_memstream(text, size);
}

void gate_take_stdout(void)
{
    gate_name(1, "stdout");
    stdout = __wrap_fdopen(1, "w");
}
