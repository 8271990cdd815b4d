/* SPDX-License-Identifier: Apache-2.0
 * Maps a saved index, and finds out whether it may be used. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_POPULATE */
#endif
#include "datasets/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/hash.h"
#include "src/base/memory.h"

#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

void pfi_listing_end(struct pfi_listing *listing)
{
    pfi_strings_end(&listing->classes);
    pfi_strings_end(&listing->paths);
    pfi_folders_end(&listing->folders);
    if (listing->map)
        (void)munmap(listing->map, listing->map_size);
    else
        pfi_free(listing->ends);
    *listing = (struct pfi_listing){0};
}

static pinfold_status fail_errno(pinfold_error *err, int code, const char *what)
{
    char reason[128];

    if (strerror_r(code, reason, sizeof(reason)))
        (void)snprintf(reason, sizeof(reason), "errno %d", code);
    return pfi_fail(err, PINFOLD_E_IO, code, "%s: %s", what, reason);
}

/* A file that is shorter than a head: PINFOLD_E_FORMAT of what is none of ours,
 * which must not be written over. */
static pinfold_status fail_short(int fd, size_t size, pinfold_error *err)
{
    char begin[sizeof(((struct pfi_index_head *)0)->magic)] = {0};
    const size_t wanted = size < sizeof(begin) ? size : sizeof(begin);

    if (pread(fd, begin, wanted, 0) == (ssize_t)wanted &&
        !memcmp(begin, PFI_INDEX_MAGIC, wanted))
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0, "cut short: %zu bytes", size);
    return pfi_fail(err, PINFOLD_E_FORMAT, 0, "not an index");
}

/* What the head tells before all of the file is mapped. */
static pinfold_status read_head(int fd, size_t size,
                                struct pfi_index_head *head, pinfold_error *err)
{
    ssize_t n;

    if (size < sizeof(*head))
        return fail_short(fd, size, err);
    n = pread(fd, head, sizeof(*head), 0);
    if (n != (ssize_t)sizeof(*head)) /* or cut short meanwhile */
        return fail_errno(err, n < 0 ? errno : ESTALE, "cannot be read");
    if (memcmp(head->magic, PFI_INDEX_MAGIC, sizeof(head->magic)) != 0)
        return pfi_fail(err, PINFOLD_E_FORMAT, 0, "not an index");
    if (head->version != PFI_INDEX_VERSION)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "version %llu, this library's is %d",
                        (unsigned long long)head->version, PFI_INDEX_VERSION);
    if (head->size != size)
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "cut short or damaged: %zu of %llu bytes", size,
                        (unsigned long long)head->size);
    return PINFOLD_OK;
}

static pinfold_status map_file(struct pfi_listing *out, const char *file,
                               struct pfi_index_head *head, pinfold_error *err)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    pinfold_status status = PINFOLD_OK;
    struct stat info;
    void *map;

    if (fd < 0)
        return fail_errno(err, errno, "cannot be opened");
    if (fstat(fd, &info))
        status = fail_errno(err, errno, "cannot be read");
    else if (!S_ISREG(info.st_mode))
        status = pfi_fail(err, PINFOLD_E_FORMAT, 0, "not an index");
    else
        status = read_head(fd, (size_t)info.st_size, head, err);
    if (!status) {
        out->map_size = (size_t)info.st_size;
        map = mmap(NULL, out->map_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
                   fd, 0);
        if (map == MAP_FAILED)
            status = fail_errno(err, errno, "cannot be mapped");
        else
            out->map = map;
    }
    close(fd);
    return status;
}

/* ------------------------------------------------------------------- bytes --- */

/* Takes `count` items of `size` bytes from *at, rounded up to 8; NULL where
 * they do not fit. */
static void *take(const struct pfi_listing *listing, size_t *at, uint64_t count,
                  size_t size)
{
    unsigned char *const begin = (unsigned char *)listing->map + *at;
    size_t bytes;

    if (!pfi_mul((size_t)count, size, &bytes) || !pfi_add(bytes, 7, &bytes) ||
        (bytes & ~(size_t)7) > listing->map_size - *at)
        return NULL;
    *at += bytes & ~(size_t)7;
    return begin;
}

/* Whether each string begins behind the one before, and the last one ends. */
static bool are_strings(const struct pfi_strings *s)
{
    for (int64_t i = 0; i < s->count; i++)
        if (s->at[i] >= s->used || (i ? s->at[i] <= s->at[i - 1] : s->at[0]) ||
            (i && s->bytes[s->at[i] - 1]))
            return false;
    return !s->used == !s->count && (!s->used || !s->bytes[s->used - 1]);
}

static void lend(struct pfi_strings *s, void *at, void *bytes, uint64_t count,
                 uint64_t used)
{
    *s = (struct pfi_strings){.bytes = bytes,
                              .used = (size_t)used,
                              .at = at,
                              .count = (int64_t)count,
                              .borrowed = true};
}

static bool are_ends(const struct pfi_listing *l)
{
    int64_t before = 0;

    for (int64_t c = 0; c < l->classes.count; c++) {
        if (l->ends[c] < before)
            return false;
        before = l->ends[c];
    }
    return before == l->paths.count;
}

/* Lays the listing over the map. */
static bool lay_out(struct pfi_listing *l, const struct pfi_index_head *head)
{
    size_t at = sizeof(*head);
    void *const class_at = take(l, &at, head->n_classes, sizeof(size_t));
    void *const ends = take(l, &at, head->n_classes, sizeof(int64_t));
    void *const path_at = take(l, &at, head->n_paths, sizeof(size_t));
    void *const folder_at = take(l, &at, head->n_folders, sizeof(size_t));
    void *const changed = take(l, &at, head->n_folders, sizeof(int64_t));
    void *const classes = take(l, &at, head->class_bytes, 1);
    void *const paths = take(l, &at, head->path_bytes, 1);
    void *const folders = take(l, &at, head->folder_bytes, 1);

    if (!class_at || !ends || !path_at || !folder_at || !changed || !classes ||
        !paths || !folders || at != l->map_size)
        return false;
    l->ends = ends;
    l->folders.changed = changed;
    l->class_list = head->class_list;
    lend(&l->classes, class_at, classes, head->n_classes, head->class_bytes);
    lend(&l->paths, path_at, paths, head->n_paths, head->path_bytes);
    lend(&l->folders.paths, folder_at, folders, head->n_folders,
         head->folder_bytes);
    return l->classes.count > 0 && l->folders.paths.count > 0 &&
           are_strings(&l->classes) && are_strings(&l->paths) &&
           are_strings(&l->folders.paths) && are_ends(l);
}

static pinfold_status check_sum(const struct pfi_listing *l,
                                const struct pfi_index_head *head,
                                pinfold_error *err)
{
    const size_t behind = offsetof(struct pfi_index_head, root_inode);

    if (head->checksum != pfi_hash((const unsigned char *)l->map + behind,
                                   l->map_size - behind, 0))
        return pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                        "damaged: its checksum differs");
    return PINFOLD_OK;
}

/* -------------------------------------------------------------------- tree --- */

static pinfold_status compare_root(const struct pfi_index_head *head,
                                   int root_fd, uint64_t class_list,
                                   pinfold_error *err)
{
    struct stat info;

    if (fstat(root_fd, &info))
        return fail_errno(err, errno, "the root cannot be looked at");
    if (head->root_inode != (uint64_t)info.st_ino &&
        head->root_changed != (uint64_t)PFI_CHANGED(info))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "of another tree");
    if (head->class_list != class_list)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "of another list of classes");
    return PINFOLD_OK;
}

static pinfold_status compare_folders(const struct pfi_listing *l, int root_fd,
                                      pinfold_error *err)
{
    const struct pfi_folders *const folders = &l->folders;
    struct stat info;

    for (int64_t i = 0; i < folders->paths.count; i++) {
        const char *const path = pfi_strings_get(&folders->paths, i);

        const bool there = !fstatat(root_fd, path, &info, 0);

        if (there && PFI_CHANGED(info) == folders->changed[i])
            continue;
        if (!there && errno != ENOENT) {
            (void)fail_errno(err, errno, "cannot be looked at");
            pfi_error_add_path(err, path);
            return PINFOLD_E_IO;
        }
        (void)pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, path,
                            "changed since, or just before it was made");
        return PINFOLD_E_ARGUMENT;
    }
    return PINFOLD_OK;
}

static pinfold_status load(struct pfi_listing *out, const char *file,
                           int root_fd, uint64_t class_list, bool trust,
                           pinfold_error *err)
{
    struct pfi_index_head head;
    pinfold_status status;

    if (!pfi_index_possible())
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "this machine can map none");
    status = map_file(out, file, &head, err);
    if (!status)
        status = check_sum(out, &head, err);
    if (!status && !lay_out(out, &head))
        status = pfi_fail(err, PINFOLD_E_CORRUPT, 0,
                          "damaged: its parts do not fit together");
    if (!status)
        status = compare_root(&head, root_fd, class_list, err);
    return status || trust ? status : compare_folders(out, root_fd, err);
}

pinfold_status pfi_index_load(struct pfi_listing *out, const char *file,
                              int root_fd, uint64_t class_list, bool trust,
                              pinfold_error *err)
{
    const pinfold_status status =
        load(out, file, root_fd, class_list, trust, err);

    if (status)
        pfi_listing_end(out);
    return status;
}
