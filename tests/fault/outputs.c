/* SPDX-License-Identifier: Apache-2.0
 * Takes note of a folder's files by name, size and hash. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* nftw() */
#endif
#include "tests/fault/outputs.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/hash.h"
#include "tests/support/tree.h"

static struct outputs *taken; /* nftw() takes no cookie */
static size_t taken_from;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

void outputs_clear(const char *folder)
{
    tree_close(folder);
    if (mkdir(folder, 0755))
        die(folder);
}

char *outputs_read(const char *path, size_t *size)
{
    struct stat info;
    FILE *const file = fopen(path, "rb");
    char *bytes;

    if (!file || stat(path, &info))
        die(path);
    bytes = malloc((size_t)info.st_size + 1);
    *size = (size_t)info.st_size;
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        die(path);
    bytes[*size] = '\0';
    (void)fclose(file);
    return bytes;
}

void outputs_copy(const char *from, const char *to)
{
    size_t size;
    char *const bytes = outputs_read(from, &size);
    FILE *const file = fopen(to, "wb");

    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
        die(to);
    free(bytes);
}

static int take_one(const char *path, const struct stat *info, int type,
                    struct FTW *at)
{
    struct output *const o = &taken->files[taken->n];
    size_t size;
    char *bytes;

    (void)at;
    if (type != FTW_F || taken->n == OUTPUTS)
        return 0;
    (void)snprintf(o->name, sizeof(o->name), "%s", path + taken_from);
    bytes = outputs_read(path, &size);
    o->size = (long)info->st_size;
    o->hash = pfi_hash(bytes, size, 0);
    memset(o->tail, 0, sizeof(o->tail));
    memcpy(o->tail, bytes + (size < 4 ? 0 : size - 4), size < 4 ? size : 4);
    free(bytes);
    taken->n++;
    return 0;
}

void outputs_take(struct outputs *out, const char *folder)
{
    out->n = 0;
    taken = out;
    taken_from = strlen(folder) + 1;
    if (nftw(folder, take_one, 8, FTW_PHYS))
        die(folder);
}

void outputs_forget(struct outputs *files, const char *word)
{
    int kept = 0;

    for (int i = 0; i < files->n; i++)
        if (!strstr(files->files[i].name, word))
            files->files[kept++] = files->files[i];
    files->n = kept;
}

static const struct output *find(const struct outputs *in, const char *name)
{
    for (int i = 0; i < in->n; i++)
        if (!strcmp(in->files[i].name, name))
            return &in->files[i];
    return NULL;
}

/* As the last two bytes go, whatever the digit. */
static bool same_end(const struct output *a, const struct output *b)
{
    const char x = a->tail[2], y = b->tail[2];

    return a->tail[3] == b->tail[3] &&
           (x == y || (x >= '0' && x <= '9' && y >= '0' && y <= '9'));
}

static bool is_one_of(const struct outputs *in, const struct output *o,
                      enum outputs_compare how)
{
    const struct output *const other = find(in, o->name);

    if (!other)
        return false;
    if (how == OUTPUTS_NAME)
        return true;
    return how ? same_end(o, other)
                  : o->hash == other->hash && o->size == other->size;
}

const char *outputs_wrong(const struct outputs *now, const struct outputs *want,
                          const struct outputs *before, bool whole,
                          enum outputs_compare how)
{
    static char text[256];

    for (int i = 0; i < now->n; i++) {
        const struct output *const o = &now->files[i];

        if (is_one_of(want, o, how) || is_one_of(before, o, OUTPUTS_BYTES))
            continue;
        (void)snprintf(text, sizeof(text), "%s is left, %ld bytes%s", o->name,
                       o->size, find(want, o->name) ? ", not whole" : "");
        return text;
    }
    for (int i = 0; whole && i < want->n; i++) {
        const struct output *const o = find(now, want->files[i].name);

        if (o && is_one_of(want, o, how))
            continue;
        (void)snprintf(text, sizeof(text), "%s is not there, or is the old one",
                       want->files[i].name);
        return text;
    }
    return NULL;
}
