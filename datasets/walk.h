/* SPDX-License-Identifier: Apache-2.0
 * The listing of a whole tree, its class folders read side by side. */
#ifndef PFI_DATASETS_WALK_H
#define PFI_DATASETS_WALK_H

#include "datasets/index.h"

/* Fills `out`, which is {0}.  `class_list` is a file that names the classes, or
 * NULL.  Result and error are the same for any number of threads. */
pinfold_status pfi_walk(struct pfi_listing *out, const struct pfi_root *root,
                        const char *class_list, int32_t threads,
                        pinfold_error *err);

#endif
