/* SPDX-License-Identifier: Apache-2.0
 * Numbers as Python reads them, which is how Pillow reads a PNM's. */
#ifndef PFI_CODEC_PNM_NUMBER_H
#define PFI_CODEC_PNM_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer ones are refused. */
#define PFI_PNM_TOKEN_MAX 10

/* What separates numbers. */
bool pfi_pnm_is_space(int c);

/* Python's int() of n bytes, at most PFI_PNM_TOKEN_MAX; false where it raises
 * ValueError. */
bool pfi_pnm_int(const unsigned char *token, size_t n, int64_t *out);

/* Whether Python's float() of n bytes, at most PFI_PNM_TOKEN_MAX, is finite and
 * not zero; *negative is its sign. */
bool pfi_pnm_scale(const unsigned char *token, size_t n, bool *negative);

#endif
