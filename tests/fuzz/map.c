/* SPDX-License-Identifier: Apache-2.0
 * Files that a target maps lie on the heap, where a read behind their end is
 * found: linked with -Wl,--wrap=mmap,--wrap=munmap. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define MOST 8

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset);
int __real_munmap(void *at, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset);
int __wrap_munmap(void *at, size_t size);

static void *maps[MOST];

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset)
{
    for (int i = 0; fd >= 0 && i < MOST; i++) {
        if (maps[i])
            continue;
        maps[i] = malloc(size);
        fuzz_require(maps[i] &&
                         pread(fd, maps[i], size, offset) == (ssize_t)size,
                     "a file is not as long as its size");
        return maps[i];
    }
    return __real_mmap(at, size, protection, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t size)
{
    for (int i = 0; i < MOST; i++)
        if (at && maps[i] == at) {
            maps[i] = NULL;
            free(at);
            return 0;
        }
    return __real_munmap(at, size);
}
