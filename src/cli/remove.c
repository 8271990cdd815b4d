/* SPDX-License-Identifier: Apache-2.0
 * The tree of an export, from its leaves up. */
#include "src/cli/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Far more than paths of the data set have; the rest stays. */
#define MAX_DEPTH 128

struct level {
    DIR *dir;
    char name[256]; /* in the level above */
};

static int is_ours(const char *name)
{
    const size_t size = strlen(name);

    return (size > 4 && !strcmp(name + size - 4, ".npy")) ||
           !strcmp(name, "manifest.json") || !strcmp(name, "data.bin") ||
           !strcmp(name, "classes.txt") || !strcmp(name, "files.txt") ||
           !strcmp(name, ".manifest.json.part");
}

static int enter(struct level *level, int above, const char *name)
{
    const int fd =
        openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    level->dir = fd < 0 ? NULL : fdopendir(fd);
    if (!level->dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    (void)strncpy(level->name, name, sizeof(level->name) - 1);
    level->name[sizeof(level->name) - 1] = '\0';
    return 1;
}

/* Returns whether the entry is a folder that was entered. */
static int take_entry(struct level *levels, int depth, const char *name)
{
    const int folder = dirfd(levels[depth].dir);
    struct stat st;

    if (!strcmp(name, ".") || !strcmp(name, "..") ||
        fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return 0;
    if (S_ISREG(st.st_mode) && is_ours(name))
        (void)unlinkat(folder, name, 0);
    return S_ISDIR(st.st_mode) && depth + 1 < MAX_DEPTH &&
           enter(&levels[depth + 1], folder, name);
}

void pfi_cli_remove_export(int parent, const char *name)
{
    struct level levels[MAX_DEPTH];
    int depth = 0;

    if (strlen(name) >= sizeof(levels[0].name) || !enter(levels, parent, name))
        return;
    while (depth >= 0) {
        const struct dirent *const entry = readdir(levels[depth].dir);

        if (entry) {
            depth += take_entry(levels, depth, entry->d_name);
            continue;
        }
        (void)closedir(levels[depth].dir);
        (void)unlinkat(depth ? dirfd(levels[depth - 1].dir) : parent,
                       levels[depth].name, AT_REMOVEDIR);
        depth--;
    }
}
