/* SPDX-License-Identifier: Apache-2.0
 * The walk over root/class/.../picture, in torchvision's order. */
#ifndef PFI_DATASETS_FOLDER_H
#define PFI_DATASETS_FOLDER_H

#include "datasets/strings.h"
#include "src/base/error.h"

/* The folders that were read, as paths below the root, and when each was
 * changed last: nanoseconds since 1970. */
struct pfi_folders {
    struct pfi_strings paths;
    int64_t *changed;
    int64_t room;
};

bool pfi_folders_add(struct pfi_folders *folders, const char *path,
                     int64_t changed);
bool pfi_folders_append(struct pfi_folders *folders,
                        const struct pfi_folders *more);
void pfi_folders_end(struct pfi_folders *folders);

/* Nanoseconds since 1970 of a file's last change, for struct stat. */
#define PFI_CHANGED(info)                                                      \
    ((int64_t)(info).st_mtim.tv_sec * 1000000000 + (info).st_mtim.tv_nsec)

struct pfi_root {
    int fd;
    const char *path;   /* as it was given, for messages */
    const char *inside; /* NULL, or its real path, which no link may leave */
};

/* The classes of a root: its folders, sorted by name. */
pinfold_status pfi_folder_classes(const struct pfi_root *root,
                                  struct pfi_strings *out,
                                  struct pfi_folders *folders,
                                  pinfold_error *err);

/* Adds the pictures of the folder `top` below the root, as paths below the
 * root, and the folders that they were found in. */
pinfold_status pfi_folder_pictures(const struct pfi_root *root,
                                   const char *top, struct pfi_strings *out,
                                   struct pfi_folders *folders,
                                   pinfold_error *err);

#endif
