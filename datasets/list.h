/* SPDX-License-Identifier: Apache-2.0
 * Data sets by list: a path and a label a line; and lists of classes. */
#ifndef PFI_DATASETS_LIST_H
#define PFI_DATASETS_LIST_H

#include "datasets/strings.h"
#include "src/base/error.h"

/* Most classes of a list without names. */
#define PFI_LIST_CLASSES (1 << 24)

/* Adds the names, one a line; empty lines do not count.  Refuses a name that
 * comes twice. */
pinfold_status pfi_list_classes(const char *file, struct pfi_strings *out,
                                pinfold_error *err);

/* Adds the paths, and stores their labels in *labels, to be freed.  A tab, a
 * comma or spaces stand before each label.  Labels are below `classes`.
 * Refuses a list that names a file that is not below the folder root_fd. */
pinfold_status pfi_list_samples(const char *file, int root_fd, int64_t classes,
                                struct pfi_strings *out, int32_t **labels,
                                pinfold_error *err);

#endif
