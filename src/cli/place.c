/* SPDX-License-Identifier: Apache-2.0
 * The folder and the names of shards. */
#include "src/cli/place.h"
#include "src/cli/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAFETENSORS ".safetensors"

int pfi_cli_place_parent(const char *target, char **path, char **name)
{
    char *const text = strdup(target);
    size_t size = text ? strlen(text) : 0;
    int folder = -1;
    char *slash;

    *path = *name = NULL;
    while (size > 1 && text[size - 1] == '/')
        text[--size] = '\0';
    slash = text ? strrchr(text, '/') : NULL;
    errno = text ? EINVAL : ENOMEM;
    if (text)
        *name = strdup(slash ? slash + 1 : text);
    if (slash)
        slash[slash == text] = '\0';
    if (text)
        *path = strdup(slash ? text : ".");
    if (*path && *name && **name && strcmp(*name, ".") != 0 &&
        strcmp(*name, "..") != 0)
        folder = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(text);
    return folder;
}

int pfi_cli_place_open(struct pfi_cli_place *place, const char *target,
                       bool is_file)
{
    *place = (struct pfi_cli_place){.folder = -1};
    if (is_file) {
        place->folder =
            pfi_cli_place_parent(target, &place->path, &place->stem);
        const size_t size = place->stem ? strlen(place->stem) : 0;
        const size_t end = sizeof(SAFETENSORS) - 1;

        place->end = "";
        if (size > end && !strcmp(place->stem + size - end, SAFETENSORS)) {
            place->stem[size - end] = '\0';
            place->end = SAFETENSORS;
        }
        return place->folder < 0 ? -1 : 0;
    }
    place->path = strdup(target);
    place->stem = strdup("manifest");
    errno = ENOMEM;
    if (place->path && place->stem)
        place->folder = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return place->folder < 0 ? -1 : 0;
}

void pfi_cli_place_close(struct pfi_cli_place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    free(place->path);
    free(place->stem);
    *place = (struct pfi_cli_place){.folder = -1};
}

struct pfi_cli_suffix pfi_cli_suffix(int32_t rank, int32_t world)
{
    struct pfi_cli_suffix suffix;

    (void)snprintf(suffix.text, sizeof(suffix.text), "-%05d-of-%05d", rank,
                   world);
    return suffix;
}

char *pfi_cli_place_name(const char *before, const char *stem,
                         const struct pfi_cli_suffix *suffix, const char *after)
{
    const size_t size = strlen(before) + strlen(stem) + strlen(suffix->text) +
                        strlen(after) + 1;
    char *const name = malloc(size);

    if (name)
        (void)snprintf(name, size, "%s%s%s%s", before, stem, suffix->text,
                       after);
    return name;
}

char *pfi_cli_place_read(const struct pfi_cli_place *place, const char *name)
{
    const int fd = openat(place->folder, name,
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    size_t size = 0, used = 0;
    char *text = NULL;
    ssize_t n = 1;

    if (fd < 0)
        return NULL;
    errno = 0;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
        size = (size_t)st.st_size;
        text = malloc(size + 1);
    }
    while (text && used < size && n > 0) {
        n = read(fd, text + used, size - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (text && n > 0)
        text[used] = '\0';
    else
        errno = errno ? errno : EIO;
    const int code = errno;

    close(fd);
    if (n <= 0) {
        free(text);
        text = NULL;
    }
    errno = code;
    return text;
}

int pfi_cli_place_fail(const struct pfi_cli_place *place, const char *name,
                       const char *why)
{
    pfi_cli_say("pinfold: %s%s%s: %s", place->path, *name ? "/" : "", name,
                why);
    return PFI_CLI_FAILED;
}

int pfi_cli_place_cannot(const struct pfi_cli_place *place, const char *name,
                         const char *what)
{
    char why[160];

    (void)snprintf(why, sizeof(why), "cannot %s: %s", what, strerror(errno));
    return pfi_cli_place_fail(place, name, why);
}
