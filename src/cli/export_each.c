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

static bool is_empty(int parent, const char *name)
{
    const int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    bool empty = dir != NULL;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (empty && (entry = readdir(dir)) != NULL)
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    (void)closedir(dir);
    return empty;
}

/* Whether nothing is there but what may be replaced: an empty folder, and with
 * --force an earlier export. */
static bool target_is_free(const struct pfi_cli_export *e,
                           const struct state *s)
{
    struct stat st;
    const char *why = "is there already; --force replaces an export";
    char *path;
    bool old;

    if (fstatat(s->parent, s->name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT;
    path = malloc(strlen(s->name) + sizeof("/manifest.json"));
    if (!path)
        return false;
    (void)sprintf(path, "%s/manifest.json", s->name);
    old = S_ISDIR(st.st_mode) && !faccessat(s->parent, path, F_OK, 0);
    free(path);
    if (!old && S_ISDIR(st.st_mode)) {
        if (is_empty(s->parent, s->name))
            return true;
        why = "holds files, but no export: it is not replaced";
    } else if (!old) {
        why = "is there already, and no folder";
    } else if (e->o->force) {
        return true;
    }
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
    if (mkdirat(s->parent, s->temporary, 0777))
        return pfi_cli_export_errno(e, "");
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

static int finish_each(struct pfi_cli_export *e)
{
    struct state *const s = e->state;

    if (write_manifest(e))
        return PFI_CLI_FAILED;
    if (fsync(s->folder))
        return pfi_cli_export_errno(e, "");
    pfi_cli_remove_export(s->parent, s->old);
    if (renameat(s->parent, s->name, s->parent, s->old) && errno != ENOENT)
        return pfi_cli_export_errno(e, "");
    if (renameat(s->parent, s->temporary, s->parent, s->name))
        return pfi_cli_export_errno(e, "");
    s->made = false;
    if (fsync(s->parent))
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
