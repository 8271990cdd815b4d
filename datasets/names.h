/* SPDX-License-Identifier: Apache-2.0
 * File names as Python sees them: str with surrogateescape. */
#ifndef PFI_DATASETS_NAMES_H
#define PFI_DATASETS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Compares two names by code point, as Python compares str; a byte that is not
 * UTF-8 counts as U+DC00 plus its value (PEP 383). */
int pfi_name_compare(const char *a, const char *b);

/* The same for paths that end before a '/' or a NUL. */
int pfi_path_compare(const char *a, size_t a_size, const char *b,
                     size_t b_size);

/* Whether ImageFolder takes a file of this name. */
bool pfi_name_is_picture(const char *name);

#endif
