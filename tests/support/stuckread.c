/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into the program: read() of a file whose name begins with "stuck"
 * never returns, as on a mount that is gone. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t read(int fd, void *data, size_t size)
{
    char link[64], path[4096];
    ssize_t n;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    while (strstr(path, "/stuck"))
        pause();
    return (ssize_t)syscall(SYS_read, fd, data, size);
}
