/* SPDX-License-Identifier: Apache-2.0
 * Where an export's shards lie and what they are called. */
#ifndef PFI_CLI_PLACE_H
#define PFI_CLI_PLACE_H

#include "src/cli/options.h"

/* The shards of a folder OUT lie in it: manifest-RRRRR-of-WWWWW.json and what
 * it lists.  Those of a file OUT.safetensors lie beside:
 * OUT-RRRRR-of-WWWWW.json and OUT-RRRRR-of-WWWWW.safetensors. */
struct pfi_cli_place {
    int folder;
    char *path;      /* the folder's */
    char *stem;      /* what the manifests' names start with */
    const char *end; /* a single file's ".safetensors", or "" */
};

/* "-RRRRR-of-WWWWW". */
struct pfi_cli_suffix {
    char text[32];
};

/* Opens the folder that holds `target`, and stores its path and target's own
 * name in it (the caller frees both).  -1 with errno set. */
int pfi_cli_place_parent(const char *target, char **path, char **name);

/* Finds out where the shards of `target` lie.  `is_file` is whether it is one
 * file.  -1 with errno set.  The close accepts what a failed open left. */
int pfi_cli_place_open(struct pfi_cli_place *place, const char *target,
                       bool is_file);
void pfi_cli_place_close(struct pfi_cli_place *place);

struct pfi_cli_suffix pfi_cli_suffix(int32_t rank, int32_t world);

/* BEFORE + STEM + SUFFIX + AFTER, which the caller frees; NULL without memory.
 */
char *pfi_cli_place_name(const char *before, const char *stem,
                         const struct pfi_cli_suffix *suffix,
                         const char *after);

/* The text of a file in the folder, which the caller frees; NULL with errno
 * set. */
char *pfi_cli_place_read(const struct pfi_cli_place *place, const char *name);

/* Prints "pinfold: FOLDER/NAME: WHY" and returns the exit status. */
int pfi_cli_place_fail(const struct pfi_cli_place *place, const char *name,
                       const char *why);
/* The same with "cannot WHAT: " and why by errno. */
int pfi_cli_place_cannot(const struct pfi_cli_place *place, const char *name,
                         const char *what);

#endif
