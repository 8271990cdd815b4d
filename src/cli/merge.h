/* SPDX-License-Identifier: Apache-2.0
 * The shards that are made into one export. */
#ifndef PFI_CLI_MERGE_H
#define PFI_CLI_MERGE_H

#include "src/cli/export.h"
#include "src/cli/json.h"
#include "src/cli/place.h"

struct pfi_cli_merged {
    char *manifest, *images; /* names in the place */
    char *text;              /* of the manifest, */
    size_t size;             /* and its length */
    char *names; /* paths of the samples, and of the first the classes, too */
    size_t names_used;
    uint64_t offset; /* of the first sample in the images' file */
    int64_t count;   /* of its samples, */
    int64_t start;   /* and of those of the ranks before */
    int fd;
};

struct pfi_cli_merge {
    const struct pfi_cli_options *given;
    struct pfi_cli_place place;
    struct pfi_cli_options o; /* of the export, from the first manifest */
    char **words;
    int32_t world;
    struct pfi_cli_merged *shards; /* [world] */
    struct pfi_cli_export e;
};

/* Reads the manifests and checks that they are those of one export, that their
 * files are whole and that every sample is there once; fills m->o and the
 * numbers and names of m->e.  Prints what is wrong and returns an exit status.
 * The close accepts whatever was left. */
int pfi_cli_merge_read(struct pfi_cli_merge *m);
void pfi_cli_merge_close(struct pfi_cli_merge *m);

/* Where sample i of a rank is in the whole order. */
int64_t pfi_cli_merge_at(const struct pfi_cli_merge *m, int32_t rank,
                         int64_t i);

/* Calls `file` for each name that a shard's manifest lists, until one returns
 * other than 0. */
int pfi_cli_merge_files(const struct pfi_cli_merge *m, int32_t rank,
                        int (*file)(const struct pfi_cli_merge *m,
                                    struct pfi_cli_json entry,
                                    const char *name));

/* ------------------------------------------------------- merge_read.c --- */

/* Prints that it is not a shard's manifest; returns the exit status. */
int pfi_cli_merge_damaged(const struct pfi_cli_merge *m, int32_t rank);
struct pfi_cli_json pfi_cli_merge_text(const struct pfi_cli_merged *shard);
/* A member that is a whole number. */
bool pfi_cli_merge_number(struct pfi_cli_json object, const char *name,
                          uint64_t *out);

/* ------------------------------------------------------ merge_check.c --- */

int pfi_cli_merge_check_kind(const struct pfi_cli_merge *m, int32_t rank);
int pfi_cli_merge_check_files(const struct pfi_cli_merge *m, int32_t rank);
int pfi_cli_merge_check_order(const struct pfi_cli_merge *m);

#endif
