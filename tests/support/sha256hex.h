/* SPDX-License-Identifier: Apache-2.0
 * SHA-256 as text, to compare with golden files. */
#ifndef PFI_TESTS_SHA256HEX_H
#define PFI_TESTS_SHA256HEX_H

#include <stddef.h>

void sha256_hex(const void *data, size_t size, char out[65]);

#endif
