/* SPDX-License-Identifier: Apache-2.0
 * Makes, ages and removes trees. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* nftw() */
#endif
#include "tests/support/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(2);
}

void tree_open(char root[64])
{
    strcpy(root, "/tmp/pinfold-tree-XXXXXX");
    if (!mkdtemp(root))
        die("mkdtemp");
}

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

void tree_close(const char *root)
{
    (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *tree_path(const char *root, const char *path)
{
    static char full[4096];

    (void)snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *c = full + strlen(root) + 1; *c; c++)
        if (*c == '/') {
            *c = '\0';
            if (mkdir(full, 0755) && errno != EEXIST)
                die(full);
            *c = '/';
        }
    return full;
}

void tree_file(const char *root, const char *path, const char *text)
{
    FILE *const file = fopen(tree_path(root, path), "wb");

    if (!file || fwrite(text, 1, strlen(text), file) != strlen(text) ||
        fclose(file))
        die(path);
}

static int settle_one(const char *path, const struct stat *info, int type,
                      struct FTW *at)
{
    const time_t then = time(NULL) - 3600;
    const struct timespec times[2] = {{.tv_sec = then}, {.tv_sec = then}};

    (void)info;
    (void)at;
    return type == FTW_DP || type == FTW_D ? utimensat(AT_FDCWD, path, times, 0)
                                           : 0;
}

void tree_settle(const char *root)
{
    if (nftw(root, settle_one, 16, FTW_PHYS))
        die(root);
}
