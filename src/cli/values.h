/* SPDX-License-Identifier: Apache-2.0
 * The words that options take, to numbers.  Functions that return a string say
 * what is wrong, or NULL. */
#ifndef PFI_CLI_VALUES_H
#define PFI_CLI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* A whole number from `low` to `high`. */
bool pfi_cli_to_number(const char *text, long long low, long long high,
                       long long *out);
/* The same from 1 on with an ending: K, M or G, and of bytes KiB, MiB or GiB, too.
 * Bytes have 1024 for a K, pixels 1000. */
const char *pfi_cli_to_bytes(const char *text, uint64_t *out);
const char *pfi_cli_to_pixels(const char *text, uint64_t *out);

const char *pfi_cli_to_int32(const char *text, int32_t low, int32_t *out);

/* "HxW"; false where the text has no x. */
bool pfi_cli_to_pair(const char *text, int32_t *height, int32_t *width);

/* The place of `text` in `names`, which NULL ends; otherwise `what`. */
const char *pfi_cli_to_choice(const char *text, const char *const *names,
                              const char *what, int *out);

/* One number for three channels, or "R,G,B". */
const char *pfi_cli_to_channels(const char *text, float out[3]);

/* "A,B", rising and above 0. */
const char *pfi_cli_to_range(const char *text, double out[2]);

#endif
