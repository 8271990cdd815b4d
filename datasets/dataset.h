/* SPDX-License-Identifier: Apache-2.0
 * What the loader needs of a dataset beyond the public functions. */
#ifndef PFI_DATASETS_DATASET_H
#define PFI_DATASETS_DATASET_H

#include "src/base/error.h"

/* Counts another user of the dataset; pinfold_dataset_close() takes one away
 * and the last one frees it.  Any thread. */
void pfi_dataset_ref(pinfold_dataset *dataset);

/* A hash of the classes, paths and labels, never 0. */
uint64_t pfi_dataset_fingerprint(const pinfold_dataset *dataset);

/* A descriptor of the root folder for openat() of pinfold_dataset_path(). */
int pfi_dataset_root_fd(const pinfold_dataset *dataset);

#endif
