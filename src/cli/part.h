/* SPDX-License-Identifier: Apache-2.0
 * A file that gets its name only once it is whole and on the disk. */
#ifndef PFI_CLI_PART_H
#define PFI_CLI_PART_H

#include <stdbool.h>
#include <stdio.h>

/* All zero is a part that pfi_cli_part_drop() accepts. */
struct pfi_cli_part {
    FILE *file;
    char *name, *temporary; /* in `folder` */
    int folder;
    bool made; /* the drop removes the temporary file */
};

/* Each returns 0, or -1 with errno set.  The name is one in the folder, whose
 * descriptor stays the caller's and open until the drop; or a path, where that
 * is AT_FDCWD. */
int pfi_cli_part_open(struct pfi_cli_part *part, int folder, const char *name);
/* Opens what is under the temporary name, and keeps it. */
int pfi_cli_part_reopen(struct pfi_cli_part *part, int folder,
                        const char *name);
/* The same for a user's path, which may be a pipe, a device or a link: what is
 * no regular file is opened as it is. */
int pfi_cli_part_user(struct pfi_cli_part *part, const char *path);
/* Removes what a killed run left under the temporary name. */
int pfi_cli_part_forget(int folder, const char *name);
int pfi_cli_part_sync(struct pfi_cli_part *part);
int pfi_cli_part_rename(struct pfi_cli_part *part);

/* Removes what has not got its name. */
void pfi_cli_part_drop(struct pfi_cli_part *part);

#endif
