/* SPDX-License-Identifier: Apache-2.0
 * A folder that mirrors the data set, with one .npy file for each picture.  It
 * is made under a temporary name beside, and gets its own when it is whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/describe.h"
#include "src/cli/export.h"
#include "src/cli/npy.h"
#include "src/cli/remove.h"
#include "src/cli/run.h"
#include "src/cli/text.h"

struct state {
    int parent, folder;           /* what holds the target; the temporary one */
    char *name, *temporary, *old; /* in the parent */
    bool made;
};

static char *hidden(const char *name, const char *end)
{
    const size_t size = strlen(name) + strlen(end) + 2;
    char *const out = malloc(size);

    if (out)
        (void)snprintf(out, size, ".%s%s", name, end);
    return out;
}

/* 1 or 0, or -1 with errno set. */
static int is_empty(int parent, const char *name)
{
    const int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int code, empty = 1;

    if (!dir) {
        code = errno;
        if (fd >= 0)
            close(fd);
        errno = code;
        return -1;
    }
    while (empty > 0 && (errno = 0, entry = readdir(dir)) != NULL)
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    code = errno;
    (void)closedir(dir);
    errno = code;
    return empty && code ? -1 : empty;
}

/* Whether manifest.json is in the folder: 1 or 0, or -1 with errno set. */
static int has_manifest(int parent, const char *name)
{
    char *const path = malloc(strlen(name) + sizeof("/manifest.json"));
    int found;

    errno = ENOMEM;
    if (!path)
        return -1;
    (void)sprintf(path, "%s/manifest.json", name);
    found = faccessat(parent, path, F_OK, 0) ? errno == ENOENT ? 0 : -1 : 1;
    free(path);
    return found;
}

/* Whether nothing is there but what may be replaced: an empty folder, and with
 * --force an earlier export. */
static bool target_is_free(const struct pfi_cli_export *e,
                           const struct state *s)
{
    struct stat st;
    const char *why = "is there already; --force replaces an export";
    int old, empty = 0;

    if (fstatat(s->parent, s->name, &st, AT_SYMLINK_NOFOLLOW)) {
        if (errno != ENOENT)
            (void)pfi_cli_export_errno(e, "");
        return errno == ENOENT;
    }
    old = S_ISDIR(st.st_mode) ? has_manifest(s->parent, s->name) : 0;
    if (!old && S_ISDIR(st.st_mode))
        empty = is_empty(s->parent, s->name);
    if (old < 0 || empty < 0) {
        (void)pfi_cli_export_errno(e, "");
        return false;
    }
    if (empty || (old && e->o->force))
        return true;
    if (!old)
        why = S_ISDIR(st.st_mode)
                  ? "holds files, but no export: it is not replaced"
                  : "is there already, and no folder";
    pfi_cli_say("pinfold: %s %s", e->o->arguments[1], why);
    return false;
}

static int open_each(struct pfi_cli_export *e)
{
    struct state *const s = calloc(1, sizeof(*s));

    e->state = s;
    if (!s) {
        errno = ENOMEM;
        return pfi_cli_export_errno(e, "");
    }
    s->folder = -1;
    s->parent = pfi_cli_export_parent(e, &s->name);
    if (s->parent < 0)
        return PFI_CLI_FAILED;
    s->temporary = hidden(s->name, ".part");
    s->old = hidden(s->name, ".old");
    errno = ENOMEM;
    if (!s->temporary || !s->old)
        return pfi_cli_export_errno(e, "");
    if (!target_is_free(e, s))
        return PFI_CLI_FAILED;
    /* A leftover of a killed run is removed. */
    pfi_cli_remove_export(s->parent, s->temporary);
    if (mkdirat(s->parent, s->temporary, 0777)) {
        pfi_cli_cannot(e->o->arguments[1], "make the folder");
        return PFI_CLI_FAILED;
    }
    s->made = true;
    s->folder = openat(s->parent, s->temporary,
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->folder < 0)
        return pfi_cli_export_errno(e, "");
    /* A class without a picture keeps its folder, and so its label. */
    for (int64_t i = 0; i < e->n_classes; i++)
        if (mkdirat(s->folder, e->classes[i], 0777))
            return pfi_cli_export_errno(e, e->classes[i]);
    return PFI_CLI_OK;
}

/* Makes the folders above `path`. */
static int make_folders(int folder, char *path)
{
    for (char *slash = strchr(path, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int failed = mkdirat(folder, path, 0777) && errno != EEXIST;

        *slash = '/';
        if (failed)
            return -1;
    }
    return 0;
}

static int write_file(const struct pfi_cli_export *e, const char *path,
                      const void *data)
{
    const struct state *const s = e->state;
    const int fd =
        openat(s->folder, path,
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *const out = fd < 0 ? NULL : fdopen(fd, "wb");
    int code = 0;

    if (!out) {
        code = errno;
        if (fd >= 0)
            close(fd);
        errno = code;
        return -1;
    }
    pfi_cli_npy_header(out, pfi_cli_npy_description(e->o->recipe.dtype),
                       e->shape + 1, 3);
    if (fwrite(data, 1, e->sample_bytes, out) != e->sample_bytes ||
        fflush(out) || fsync(fd))
        code = errno;
    if (fclose(out) && !code)
        code = errno;
    errno = code;
    return code ? -1 : 0;
}

/* The picture's whole name stays, so that 1.jpg and 1.png do not meet. */
static int write_sample(const struct pfi_cli_export *e,
                        const pinfold_batch *batch, int32_t i)
{
    const struct state *const s = e->state;
    const char *const path =
        pinfold_dataset_path(e->dataset, batch->indices[i]);
    const size_t size = strlen(path) + sizeof(".npy");
    char *const name = malloc(size);
    int code = PFI_CLI_OK;

    errno = ENOMEM;
    if (!name)
        return pfi_cli_export_errno(e, path);
    (void)snprintf(name, size, "%s.npy", path);
    if (make_folders(s->folder, name) ||
        write_file(e, name,
                   (const char *)batch->data + (size_t)i * e->sample_bytes))
        code = pfi_cli_export_errno(e, name);
    free(name);
    return code;
}

static int write_each(struct pfi_cli_export *e, const pinfold_batch *batch)
{
    int code = PFI_CLI_OK;

    for (int32_t i = 0; !code && i < batch->count && !pfi_cli_signal(); i++)
        code = write_sample(e, batch, i);
    return code;
}

static int write_manifest(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;
    struct pfi_cli_part part;
    int failed = pfi_cli_part_open(&part, s->folder, "manifest.json");

    if (!failed) {
        (void)fputc('{', part.file);
        pfi_cli_describe_export(part.file, e->o, e->shape, e->bad);
        (void)fputs(",\"root\":", part.file);
        pfi_cli_print_json(part.file, e->o->arguments[0]);
        (void)fputc(',', part.file);
        pfi_cli_export_write_samples(e, part.file);
        (void)fputs("}\n", part.file);
        failed = pfi_cli_part_sync(&part) || pfi_cli_part_rename(&part);
    }
    if (failed)
        (void)pfi_cli_export_errno(e, "manifest.json");
    pfi_cli_part_drop(&part);
    return failed ? PFI_CLI_FAILED : PFI_CLI_OK;
}

/* The export gets its name, the one before it a hidden one; -1 with errno set
 * where that fails, and all is as it was. */
static int replace_old(struct state *s)
{
    const bool replaced = !renameat(s->parent, s->name, s->parent, s->old);
    int code;

    if (!replaced && errno != ENOENT)
        return -1;
    s->made = renameat(s->parent, s->temporary, s->parent, s->name) != 0;
    if (!s->made && !fsync(s->parent))
        return 0;
    code = errno;
    if (!s->made)
        s->made = !renameat(s->parent, s->name, s->parent, s->temporary);
    if (s->made && replaced &&
        renameat(s->parent, s->old, s->parent, s->name))
        (void)fprintf(stderr, "pinfold: the earlier export is %s now\n", s->old);
    errno = code;
    return -1;
}

static int finish_each(struct pfi_cli_export *e)
{
    struct state *const s = e->state;

    if (write_manifest(e))
        return PFI_CLI_FAILED;
    if (fsync(s->folder))
        return pfi_cli_export_errno(e, "");
    pfi_cli_remove_export(s->parent, s->old);
    if (replace_old(s))
        return pfi_cli_export_errno(e, "");
    pfi_cli_remove_export(s->parent, s->old);
    if (!faccessat(s->parent, s->old, F_OK, AT_SYMLINK_NOFOLLOW))
        pfi_cli_say("pinfold: what no export had made was kept: %s beside %s",
                    s->old, e->o->arguments[1]);
    return PFI_CLI_OK;
}

static void close_each(struct pfi_cli_export *e)
{
    struct state *const s = e->state;

    if (s->folder >= 0)
        close(s->folder);
    if (s->made)
        pfi_cli_remove_export(s->parent, s->temporary);
    if (s->parent >= 0)
        close(s->parent);
    free(s->name);
    free(s->temporary);
    free(s->old);
}

const struct pfi_cli_exporter pfi_cli_export_npy_each = {
    .open = open_each,
    .write = write_each,
    .finish = finish_each,
    .close = close_each,
};
