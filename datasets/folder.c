/* SPDX-License-Identifier: Apache-2.0
 * Walks folders as sorted(os.walk(folder, followlinks=True)) does (torchvision
 * 0.29.2 datasets/folder.py): all folders below a class sorted by their whole
 * path, in each the files sorted by name. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* d_type */
#endif
#include "datasets/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/names.h"
#include "src/base/memory.h"

/* A folder that is known, and the one that it was found in. */
struct found {
    int64_t parent; /* -1 for the first */
    dev_t device;
    ino_t inode;
};

struct walk {
    int root_fd;
    const char *root;
    struct pfi_strings folders; /* paths below the root */
    struct found *found;        /* [folders.count] */
    int64_t found_room;
    struct pfi_strings pictures; /* paths, as they are found */
};

static pinfold_status no_memory(pinfold_error *err)
{
    return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for the listing");
}

/* ---------------------------------------------------------------- strings --- */

static bool grow(void **ptr, size_t *room, size_t wanted, size_t item)
{
    size_t more = *room ? *room : 64, bytes;
    void *grown;

    if (wanted <= *room)
        return true;
    while (more < wanted)
        if (!pfi_mul(more, 2, &more))
            return false;
    if (!pfi_mul(more, item, &bytes))
        return false;
    grown = pfi_realloc(*ptr, bytes);
    if (!grown)
        return false;
    *ptr = grown;
    *room = more;
    return true;
}

bool pfi_strings_add(struct pfi_strings *s, const char *folder,
                     const char *name)
{
    const size_t a = strlen(folder), b = strlen(name);
    size_t at_room = (size_t)s->at_room;
    void *bytes = s->bytes, *at = s->at;
    bool good;

    good = grow(&bytes, &s->room, s->used + a + b + 2, 1);
    s->bytes = bytes;
    if (!good)
        return false;
    good = grow(&at, &at_room, (size_t)s->count + 1, sizeof(*s->at));
    s->at = at;
    s->at_room = (int64_t)at_room;
    if (!good)
        return false;
    s->at[s->count++] = s->used;
    memcpy(s->bytes + s->used, folder, a);
    s->used += a;
    if (a)
        s->bytes[s->used++] = '/';
    memcpy(s->bytes + s->used, name, b + 1);
    s->used += b + 1;
    return true;
}

void pfi_strings_end(struct pfi_strings *s)
{
    pfi_free(s->bytes);
    pfi_free(s->at);
    *s = (struct pfi_strings){0};
}

static int compare_strings(const void *a, const void *b)
{
    return pfi_name_compare(*(const char *const *)a, *(const char *const *)b);
}

/* Compares by folder path first, then by name. */
static int compare_pictures(const void *a, const void *b)
{
    const char *const p = *(const char *const *)a;
    const char *const q = *(const char *const *)b;
    const char *const p_name = strrchr(p, '/'), *const q_name = strrchr(q, '/');
    const size_t p_size = (size_t)(p_name - p), q_size = (size_t)(q_name - q);

    if (p_size == q_size && !memcmp(p, q, p_size))
        return pfi_name_compare(p_name + 1, q_name + 1);
    return pfi_path_compare(p, p_size, q, q_size);
}

/* Adds the strings of `from` to `to`, sorted. */
static bool add_sorted(struct pfi_strings *to, const struct pfi_strings *from,
                       int (*compare)(const void *, const void *))
{
    const size_t n = (size_t)from->count;
    const char **const sorted = pfi_calloc(n, sizeof(*sorted));
    bool good = sorted != NULL;

    for (size_t i = 0; good && i < n; i++)
        sorted[i] = pfi_strings_get(from, (int64_t)i);
    if (good)
        qsort(sorted, n, sizeof(*sorted), compare);
    for (size_t i = 0; good && i < n; i++)
        good = pfi_strings_add(to, "", sorted[i]);
    pfi_free(sorted);
    return good;
}

/* ---------------------------------------------------------------- folders --- */

static pinfold_status fail_at(const struct walk *w, const char *path, int code,
                              pinfold_error *err)
{
    char reason[128];

    if (strerror_r(code, reason, sizeof(reason)))
        (void)snprintf(reason, sizeof(reason), "errno %d", code);
    (void)pfi_fail_path(err, PINFOLD_E_IO, code, path,
                        "cannot read the folder: %s", reason);
    pfi_error_add_path(err, w->root);
    return PINFOLD_E_IO;
}

/* Follows links, as entry.is_dir() does; a link to nowhere is a file. */
static bool is_folder(int fd, const struct dirent *entry, struct stat *info)
{
    if (entry->d_type != DT_DIR && entry->d_type != DT_LNK &&
        entry->d_type != DT_UNKNOWN)
        return false;
    return !fstatat(fd, entry->d_name, info, 0) && S_ISDIR(info->st_mode);
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static bool is_ancestor(const struct walk *w, int64_t folder,
                        const struct stat *info)
{
    for (; folder >= 0; folder = w->found[folder].parent)
        if (w->found[folder].device == info->st_dev &&
            w->found[folder].inode == info->st_ino)
            return true;
    return false;
}

static pinfold_status add_folder(struct walk *w, int64_t parent,
                                 const char *path, const char *name,
                                 const struct stat *info, pinfold_error *err)
{
    size_t room = (size_t)w->found_room;
    void *found = w->found;
    bool good;

    if (is_ancestor(w, parent, info)) {
        (void)pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, name,
                            "a link back to a folder that holds it");
        pfi_error_add_path(err, path);
        return PINFOLD_E_ARGUMENT;
    }
    good = pfi_strings_add(&w->folders, path, name) &&
           grow(&found, &room, (size_t)w->folders.count, sizeof(*w->found));
    w->found = found;
    w->found_room = (int64_t)room;
    if (!good)
        return no_memory(err);
    w->found[w->folders.count - 1] =
        (struct found){parent, info->st_dev, info->st_ino};
    return PINFOLD_OK;
}

static pinfold_status take_entry(struct walk *w, DIR *dir, int64_t folder,
                                 const char *path, const struct dirent *entry,
                                 pinfold_error *err)
{
    struct stat info;

    if (is_dots(entry->d_name))
        return PINFOLD_OK;
    if (is_folder(dirfd(dir), entry, &info))
        return add_folder(w, folder, path, entry->d_name, &info, err);
    if (pfi_name_is_picture(entry->d_name) &&
        !pfi_strings_add(&w->pictures, path, entry->d_name))
        return no_memory(err);
    return PINFOLD_OK;
}

static DIR *open_folder(const struct walk *w, const char *path)
{
    const int fd =
        openat(w->root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

static pinfold_status read_folder(struct walk *w, int64_t folder,
                                  pinfold_error *err)
{
    /* The strings move while they grow. */
    const char *const known = pfi_strings_get(&w->folders, folder);
    const size_t size = strlen(known) + 1;
    char *const path = pfi_malloc(size);
    const struct dirent *entry;
    pinfold_status status = PINFOLD_OK;
    DIR *dir;

    if (!path)
        return no_memory(err);
    memcpy(path, known, size);
    dir = open_folder(w, path);
    if (!dir) {
        status = fail_at(w, path, errno, err);
        pfi_free(path);
        return status;
    }
    while (!status && (errno = 0, entry = readdir(dir)) != NULL)
        status = take_entry(w, dir, folder, path, entry, err);
    if (!status && errno)
        status = fail_at(w, path, errno, err);
    closedir(dir);
    pfi_free(path);
    return status;
}

static void end_walk(struct walk *w)
{
    pfi_strings_end(&w->folders);
    pfi_strings_end(&w->pictures);
    pfi_free(w->found);
}

pinfold_status pfi_folder_classes(int root_fd, const char *root,
                                  struct pfi_strings *out, pinfold_error *err)
{
    struct walk w = {.root_fd = root_fd, .root = root};
    const struct dirent *entry;
    struct stat info;
    DIR *const dir = open_folder(&w, ".");
    bool good = true;

    if (!dir)
        return fail_at(&w, ".", errno, err);
    while (good && (errno = 0, entry = readdir(dir)) != NULL)
        if (!is_dots(entry->d_name) && is_folder(dirfd(dir), entry, &info))
            good = pfi_strings_add(&w.folders, "", entry->d_name);
    const int code = good ? errno : 0;

    closedir(dir);
    good = good && add_sorted(out, &w.folders, compare_strings);
    end_walk(&w);
    if (code)
        return fail_at(&w, ".", code, err);
    return good ? PINFOLD_OK : no_memory(err);
}

pinfold_status pfi_folder_pictures(int root_fd, const char *root,
                                   const char *top, struct pfi_strings *out,
                                   pinfold_error *err)
{
    struct walk w = {.root_fd = root_fd, .root = root};
    pinfold_status status;
    struct stat info;

    if (fstatat(root_fd, top, &info, 0))
        return fail_at(&w, top, errno, err);
    status = add_folder(&w, -1, "", top, &info, err);
    for (int64_t i = 0; !status && i < w.folders.count; i++)
        status = read_folder(&w, i, err);
    if (!status && !add_sorted(out, &w.pictures, compare_pictures))
        status = no_memory(err);
    end_walk(&w);
    return status;
}
