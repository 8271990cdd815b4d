/* SPDX-License-Identifier: Apache-2.0
 * The 16-bit floating-point types, to and from float. */
#ifndef PFI_CLI_HALF_H
#define PFI_CLI_HALF_H

#include <stdint.h>

float pfi_cli_from_f16(uint16_t bits);
float pfi_cli_from_bf16(uint16_t bits);
/* Rounded to nearest, ties to even. */
uint16_t pfi_cli_to_f16(float value);
uint16_t pfi_cli_to_bf16(float value);

#endif
