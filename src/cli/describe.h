/* SPDX-License-Identifier: Apache-2.0
 * What was done to the pictures, in words and in JSON. */
#ifndef PFI_CLI_DESCRIBE_H
#define PFI_CLI_DESCRIBE_H

#include <stdint.h>
#include <stdio.h>

#include "src/cli/options.h"

/* "f32", "f16", "u8", "bf16"; "bilinear", ... */
const char *pfi_cli_dtype_name(pinfold_dtype dtype);
const char *pfi_cli_filter_name(pinfold_filter filter);
size_t pfi_cli_dtype_size(pinfold_dtype dtype);

/* "Resize(256, bilinear), CenterCrop(224), ToTensor, Normalize(...)". */
void pfi_cli_describe_words(FILE *out, const pinfold_recipe *recipe);
/* An object of the recipe's numbers. */
void pfi_cli_describe_recipe(FILE *out, const pinfold_recipe *recipe);
/* Members "schema" to "epoch" of a manifest, without braces: versions, counts,
 * type, shape, recipe, order. */
void pfi_cli_describe_export(FILE *out, const struct pfi_cli_options *o,
                             const int64_t shape[4], long long bad);
/* An array of the class names. */
void pfi_cli_describe_classes(FILE *out, const char **names, int64_t n);

#endif
