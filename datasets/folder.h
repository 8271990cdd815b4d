/* SPDX-License-Identifier: Apache-2.0
 * The walk over root/class/.../picture, in torchvision's order. */
#ifndef PFI_DATASETS_FOLDER_H
#define PFI_DATASETS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"

/* Strings one behind the other; string i begins at bytes + at[i]. */
struct pfi_strings {
    char *bytes;
    size_t used, room;
    size_t *at;
    int64_t count, at_room;
};

/* "folder/name" (or "name" where folder is ""); false when out of memory. */
bool pfi_strings_add(struct pfi_strings *strings, const char *folder,
                     const char *name);
static inline const char *pfi_strings_get(const struct pfi_strings *strings,
                                          int64_t i)
{
    return strings->bytes + strings->at[i];
}
void pfi_strings_end(struct pfi_strings *strings);

/* The classes of a root: its folders, sorted by name. */
pinfold_status pfi_folder_classes(int root_fd, const char *root,
                                  struct pfi_strings *out, pinfold_error *err);

/* Adds the pictures of the folder `top` below the root, as paths below the
 * root. */
pinfold_status pfi_folder_pictures(int root_fd, const char *root,
                                   const char *top, struct pfi_strings *out,
                                   pinfold_error *err);

#endif
