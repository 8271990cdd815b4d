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
#include <limits.h>
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
    dev_t device;   /* this and what follows: once it is opened */
    ino_t inode;
    int64_t changed;
    int64_t first, end; /* of the walk's names */
};

struct walk {
    struct pfi_root root;
    struct pfi_strings folders; /* paths below the root */
    struct found *found;        /* [folders.count] */
    int64_t found_room;
    struct pfi_strings names; /* of pictures, folder by folder */
};

static pinfold_status no_memory(pinfold_error *err)
{
    return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for the listing");
}

static pinfold_status status_of(int code)
{
    return code == ENOMEM ? PINFOLD_E_MEMORY : PINFOLD_E_IO;
}

static pinfold_status fail_at(const struct walk *w, const char *path, int code,
                              pinfold_error *err)
{
    char reason[128];

    if (strerror_r(code, reason, sizeof(reason)))
        (void)snprintf(reason, sizeof(reason), "errno %d", code);
    (void)pfi_fail_path(err, status_of(code), code, path,
                        "cannot read the folder: %s", reason);
    pfi_error_add_path(err, w->root.path);
    return status_of(code);
}

static pinfold_status fail_entry(const struct walk *w, const char *path,
                                 const char *name, int code,
                                 pinfold_error *err)
{
    char reason[128];

    if (strerror_r(code, reason, sizeof(reason)))
        (void)snprintf(reason, sizeof(reason), "errno %d", code);
    (void)pfi_fail_path(err, status_of(code), code, name, "cannot stat: %s",
                        reason);
    pfi_error_add_path(err, path);
    pfi_error_add_path(err, w->root.path);
    return status_of(code);
}

bool pfi_folders_add(struct pfi_folders *folders, const char *path,
                     int64_t changed)
{
    size_t room = (size_t)folders->room;
    void *times = folders->changed;
    const bool good = pfi_grow(&times, &room, (size_t)folders->paths.count + 1,
                               sizeof(*folders->changed));

    folders->changed = times;
    folders->room = (int64_t)room;
    if (!good || !pfi_strings_add(&folders->paths, "", path))
        return false;
    folders->changed[folders->paths.count - 1] = changed;
    return true;
}

bool pfi_folders_append(struct pfi_folders *folders,
                        const struct pfi_folders *more)
{
    bool good = true;

    for (int64_t i = 0; good && i < more->paths.count; i++)
        good = pfi_folders_add(folders, pfi_strings_get(&more->paths, i),
                               more->changed[i]);
    return good;
}

void pfi_folders_end(struct pfi_folders *folders)
{
    if (!folders->paths.borrowed)
        pfi_free(folders->changed);
    pfi_strings_end(&folders->paths);
    *folders = (struct pfi_folders){0};
}

/* ---------------------------------------------------------------- reading --- */

/* 1 or 0, or -1 with errno set.  Follows links, as entry.is_dir() does; a link
 * to nowhere is a file, but a folder must not get lost since the disk fails.
 * Asks the file system only where the entry does not say what it is: `info` is
 * filled in then, and *known set. */
static int is_folder(int fd, const struct dirent *entry, struct stat *info,
                     bool *known)
{
    *known = entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
    if (!*known)
        return entry->d_type == DT_DIR;
    if (!fstatat(fd, entry->d_name, info, 0))
        return S_ISDIR(info->st_mode);
    return errno == EIO || errno == ESTALE || errno == ENOMEM ? -1 : 0;
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

/* `info` is NULL of a real folder, which cannot hold its own ancestor. */
static pinfold_status add_folder(struct walk *w, int64_t parent,
                                 const char *path, const char *name,
                                 const struct stat *info, pinfold_error *err)
{
    size_t room = (size_t)w->found_room;
    void *found = w->found;
    bool good;

    if (info && is_ancestor(w, parent, info)) {
        (void)pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, name,
                            "a link back to a folder that holds it");
        pfi_error_add_path(err, path);
        return PINFOLD_E_ARGUMENT;
    }
    good = pfi_strings_add(&w->folders, path, name) &&
           pfi_grow(&found, &room, (size_t)w->folders.count,
                    sizeof(*w->found));
    w->found = found;
    w->found_room = (int64_t)room;
    if (!good)
        return no_memory(err);
    w->found[w->folders.count - 1] = (struct found){.parent = parent};
    return PINFOLD_OK;
}

/* Refuses a link that leads out of the root, where that is not allowed. */
static pinfold_status check_link(const struct walk *w, const char *folder,
                                 const struct dirent *entry, pinfold_error *err)
{
    const char *const inside = w->root.inside;
    const size_t size = inside ? strlen(inside) : 0;
    char path[2 * PATH_MAX], real[PATH_MAX];
    int code = 0;

    if (!inside || (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN))
        return PINFOLD_OK;
    (void)snprintf(path, sizeof(path), "%s/%s/%s", inside, folder,
                   entry->d_name);
    if (!realpath(path, real))
        code = errno;
    else if (!strncmp(real, inside, size) &&
             (real[size] == '/' || !real[size] || inside[size - 1] == '/'))
        return PINFOLD_OK;
    (void)pfi_fail_path(err, code ? PINFOLD_E_IO : PINFOLD_E_ARGUMENT, code,
                        entry->d_name,
                        code ? "the link cannot be followed"
                             : "a link out of the root");
    pfi_error_add_path(err, folder);
    pfi_error_add_path(err, w->root.path);
    return code ? PINFOLD_E_IO : PINFOLD_E_ARGUMENT;
}

static pinfold_status take_entry(struct walk *w, DIR *dir, int64_t folder,
                                 const char *path, const struct dirent *entry,
                                 pinfold_error *err)
{
    struct stat info;
    bool known;
    pinfold_status status;
    int kind;

    if (is_dots(entry->d_name))
        return PINFOLD_OK;
    kind = is_folder(dirfd(dir), entry, &info, &known);
    if (kind < 0)
        return fail_entry(w, path, entry->d_name, errno, err);
    if (!kind && !pfi_name_is_picture(entry->d_name))
        return PINFOLD_OK;
    status = check_link(w, path, entry, err);
    if (status)
        return status;
    if (kind)
        return add_folder(w, folder, path, entry->d_name, known ? &info : NULL,
                          err);
    return pfi_strings_add(&w->names, "", entry->d_name) ? PINFOLD_OK
                                                         : no_memory(err);
}

/* NULL with errno set. */
static DIR *open_folder(const struct walk *w, const char *path,
                        struct stat *info)
{
    const int fd =
        openat(w->root.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir;
    int code;

    if (fd < 0)
        return NULL;
    dir = fstat(fd, info) ? NULL : fdopendir(fd);
    if (!dir) {
        code = errno;
        close(fd);
        errno = code;
    }
    return dir;
}

static pinfold_status read_open(struct walk *w, DIR *dir, int64_t folder,
                                const char *path, pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;
    const struct dirent *entry;

    w->found[folder].first = w->names.count;
    while (!status && (errno = 0, entry = readdir(dir)) != NULL)
        status = take_entry(w, dir, folder, path, entry, err);
    w->found[folder].end = w->names.count;
    return !status && errno ? fail_at(w, path, errno, err) : status;
}

static pinfold_status read_folder(struct walk *w, int64_t folder,
                                  pinfold_error *err)
{
    /* The strings move while they grow. */
    const char *const known = pfi_strings_get(&w->folders, folder);
    const size_t size = strlen(known) + 1;
    char *const path = pfi_malloc(size);
    pinfold_status status;
    struct stat info;
    DIR *dir;

    if (!path)
        return no_memory(err);
    memcpy(path, known, size);
    dir = open_folder(w, path, &info);
    if (dir) {
        w->found[folder].device = info.st_dev;
        w->found[folder].inode = info.st_ino;
        w->found[folder].changed = PFI_CHANGED(info);
        status = read_open(w, dir, folder, path, err);
        closedir(dir);
    } else {
        status = fail_at(w, path, errno, err);
    }
    pfi_free(path);
    return status;
}

/* ---------------------------------------------------------------- sorting --- */

static int compare_strings(const void *a, const void *b)
{
    return pfi_name_compare(*(const char *const *)a, *(const char *const *)b);
}

/* Strings `first` to `end`, in order; NULL when out of memory. */
static const char **sort_strings(const struct pfi_strings *strings,
                                 int64_t first, int64_t end)
{
    const size_t n = (size_t)(end - first);
    const char **const sorted = pfi_calloc(n + 1, sizeof(*sorted));

    for (size_t i = 0; sorted && i < n; i++)
        sorted[i] = pfi_strings_get(strings, first + (int64_t)i);
    if (sorted)
        qsort(sorted, n, sizeof(*sorted), compare_strings);
    return sorted;
}

/* Adds "folder/name" for the strings `first` to `end`, sorted. */
static bool add_sorted(struct pfi_strings *to, const char *folder,
                       const struct pfi_strings *from, int64_t first,
                       int64_t end)
{
    const char **const sorted = sort_strings(from, first, end);
    bool good = sorted != NULL;

    for (int64_t i = 0; good && i < end - first; i++)
        good = pfi_strings_add(to, folder, sorted[i]);
    pfi_free(sorted);
    return good;
}

/* A folder's number in the walk by its path, which is one of w->folders'. */
static int64_t number_of(const struct walk *w, const char *path)
{
    const size_t at = (size_t)(path - w->folders.bytes);
    int64_t low = 0, high = w->folders.count - 1;

    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;

        if (w->folders.at[middle] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool add_pictures(const struct walk *w, struct pfi_strings *out,
                         struct pfi_folders *folders)
{
    const int64_t n = w->folders.count;
    const char **const sorted = sort_strings(&w->folders, 0, n);
    bool good = sorted != NULL;

    for (int64_t i = 0; good && i < n; i++) {
        const struct found *const f = &w->found[number_of(w, sorted[i])];

        good = pfi_folders_add(folders, sorted[i], f->changed) &&
               add_sorted(out, sorted[i], &w->names, f->first, f->end);
    }
    pfi_free(sorted);
    return good;
}

static void end_walk(struct walk *w)
{
    pfi_strings_end(&w->folders);
    pfi_strings_end(&w->names);
    pfi_free(w->found);
}

/* The names of the folders in it. */
static pinfold_status read_top(struct walk *w, DIR *dir, pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;
    const struct dirent *entry;
    struct stat info;
    bool known;

    while (!status && (errno = 0, entry = readdir(dir)) != NULL) {
        const int kind =
            is_dots(entry->d_name)
                ? 0
                : is_folder(dirfd(dir), entry, &info, &known);

        if (kind < 0)
            return fail_entry(w, ".", entry->d_name, errno, err);
        if (!kind)
            continue;
        status = check_link(w, ".", entry, err);
        if (!status && !pfi_strings_add(&w->folders, "", entry->d_name))
            status = no_memory(err);
    }
    return !status && errno ? fail_at(w, ".", errno, err) : status;
}

pinfold_status pfi_folder_classes(const struct pfi_root *root,
                                  struct pfi_strings *out,
                                  struct pfi_folders *folders,
                                  pinfold_error *err)
{
    struct walk w = {.root = *root};
    pinfold_status status;
    struct stat own;
    DIR *const dir = open_folder(&w, ".", &own);

    if (!dir)
        return fail_at(&w, ".", errno, err);
    status = read_top(&w, dir, err);
    closedir(dir);
    if (!status && (!pfi_folders_add(folders, ".", PFI_CHANGED(own)) ||
                    !add_sorted(out, "", &w.folders, 0, w.folders.count)))
        status = no_memory(err);
    end_walk(&w);
    return status;
}

pinfold_status pfi_folder_pictures(const struct pfi_root *root,
                                   const char *top, struct pfi_strings *out,
                                   struct pfi_folders *folders,
                                   pinfold_error *err)
{
    struct walk w = {.root = *root};
    pinfold_status status = add_folder(&w, -1, "", top, NULL, err);

    for (int64_t i = 0; !status && i < w.folders.count; i++)
        status = read_folder(&w, i, err);
    if (!status && !add_pictures(&w, out, folders))
        status = no_memory(err);
    end_walk(&w);
    return status;
}
