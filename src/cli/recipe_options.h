/* SPDX-License-Identifier: Apache-2.0
 * Takes the values of the options that describe a recipe.  Each returns what is
 * wrong with `text`, or NULL. */
#ifndef PFI_CLI_RECIPE_OPTIONS_H
#define PFI_CLI_RECIPE_OPTIONS_H

#include "src/cli/options.h"

const char *pfi_cli_take_resize(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_crop(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_max_size(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_filter(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_mean(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_std(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_preset(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_scale(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_random_crop(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_flip(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_random_area(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_random_aspect(struct pfi_cli_options *o,
                                       const char *text);
const char *pfi_cli_take_max_file(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_max_side(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_max_ancillary(struct pfi_cli_options *o,
                                       const char *text);
const char *pfi_cli_take_max_pixels(struct pfi_cli_options *o,
                                    const char *text);
const char *pfi_cli_take_max_scratch(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_full_decode(struct pfi_cli_options *o,
                                     const char *text);
const char *pfi_cli_take_max_scans(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_exif(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_pillow(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_cpu_level(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_dtype(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_layout(struct pfi_cli_options *o, const char *text);
const char *pfi_cli_take_jpeg(struct pfi_cli_options *o, const char *text);

#endif
