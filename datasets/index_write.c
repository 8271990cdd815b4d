/* SPDX-License-Identifier: Apache-2.0
 * Writes an index beside its name, and renames it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "datasets/index.h"
#include "src/base/hash.h"
#include "src/base/memory.h"

/* A folder that changed within so many nanoseconds before the walk may change
 * again without another time of change. */
#define PFI_INDEX_SETTLED 1000000000

/* Names that are tried for the file beside. */
#define PFI_INDEX_PARTS 1000

static void put(unsigned char *bytes, size_t *at, const void *from, size_t size)
{
    if (size)
        memcpy(bytes + *at, from, size);
    *at += (size + 7) & ~(size_t)7;
}

static size_t rounded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* All of it fits: it lies in memory already. */
static size_t size_of(const struct pfi_listing *l)
{
    return sizeof(struct pfi_index_head) +
           8 * (2 * (size_t)l->classes.count + (size_t)l->paths.count +
                2 * (size_t)l->folders.paths.count) +
           rounded(l->classes.used) + rounded(l->paths.used) +
           rounded(l->folders.paths.used);
}

/* The folders' times; -1, which is none, of those that changed just now. */
static void put_times(unsigned char *bytes, size_t *at,
                      const struct pfi_folders *folders)
{
    struct timespec now;
    int64_t settled;

    clock_gettime(CLOCK_REALTIME, &now);
    settled = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
              PFI_INDEX_SETTLED;
    for (int64_t i = 0; i < folders->paths.count; i++) {
        const int64_t changed = folders->changed[i];
        const int64_t kept = changed < settled ? changed : -1;

        put(bytes, at, &kept, sizeof(kept));
    }
}

static void fill(unsigned char *bytes, size_t size, const struct pfi_listing *l,
                 const struct stat *root)
{
    const size_t behind = offsetof(struct pfi_index_head, root_inode);
    struct pfi_index_head head = {
        .version = PFI_INDEX_VERSION,
        .size = size,
        .root_inode = (uint64_t)root->st_ino,
        .root_changed = (uint64_t)PFI_CHANGED(*root),
        .class_list = l->class_list,
        .n_classes = (uint64_t)l->classes.count,
        .n_paths = (uint64_t)l->paths.count,
        .n_folders = (uint64_t)l->folders.paths.count,
        .class_bytes = l->classes.used,
        .path_bytes = l->paths.used,
        .folder_bytes = l->folders.paths.used,
    };
    size_t at = sizeof(head);

    memcpy(head.magic, PFI_INDEX_MAGIC, sizeof(head.magic));
    put(bytes, &at, l->classes.at, 8 * (size_t)head.n_classes);
    put(bytes, &at, l->ends, 8 * (size_t)head.n_classes);
    put(bytes, &at, l->paths.at, 8 * (size_t)head.n_paths);
    put(bytes, &at, l->folders.paths.at, 8 * (size_t)head.n_folders);
    put_times(bytes, &at, &l->folders);
    put(bytes, &at, l->classes.bytes, l->classes.used);
    put(bytes, &at, l->paths.bytes, l->paths.used);
    put(bytes, &at, l->folders.paths.bytes, l->folders.paths.used);
    memcpy(bytes, &head, sizeof(head));
    head.checksum = pfi_hash(bytes + behind, size - behind, 0);
    memcpy(bytes, &head, sizeof(head));
}

static bool write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size) {
        const ssize_t n = write(fd, bytes, size);

        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Makes a file under a name of its own, stored in `beside`.  One of the same
 * name may be left from a process that was killed, or be written by another
 * machine's. */
static int open_beside(char *beside, size_t room, const char *file)
{
    int fd, number = 0;

    do {
        (void)snprintf(beside, room, "%s.%ld-%d.part", file, (long)getpid(),
                       number);
        fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST && ++number < PFI_INDEX_PARTS);
    return fd;
}

/* False with errno set, and no file left under the name beside. */
static bool write_beside(char *beside, size_t room, const char *file,
                         const unsigned char *bytes, size_t size)
{
    const int fd = open_beside(beside, room, file);
    bool good;
    int code;

    if (fd < 0)
        return false;
    good = write_all(fd, bytes, size) && !fsync(fd);
    code = errno;
    if (close(fd) && good) {
        code = errno;
        good = false;
    }
    if (good && rename(beside, file)) {
        code = errno;
        good = false;
    }
    if (!good)
        (void)unlink(beside);
    errno = code;
    return good;
}

pinfold_status pfi_index_save(const struct pfi_listing *listing,
                              const char *file, int root_fd, pinfold_error *err)
{
    const size_t size = size_of(listing), room = strlen(file) + 48;
    unsigned char *const bytes = pfi_calloc(1, size);
    char *const beside = pfi_malloc(room);
    pinfold_status status = PINFOLD_OK;
    struct stat root;
    char reason[128];

    if (!pfi_index_possible()) {
        status = pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                          "this machine can map no index");
    } else if (!bytes || !beside) {
        status = pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for the index");
    } else {
        bool good = !fstat(root_fd, &root);

        if (good) {
            fill(bytes, size, listing, &root);
            good = write_beside(beside, room, file, bytes, size);
        }
        if (!good) {
            const int code = errno;

            if (strerror_r(code, reason, sizeof(reason)))
                (void)snprintf(reason, sizeof(reason), "errno %d", code);
            status = pfi_fail_path(err, PINFOLD_E_IO, code, file,
                                   "cannot write the index: %s", reason);
        }
    }
    pfi_free(bytes);
    pfi_free(beside);
    return status;
}
