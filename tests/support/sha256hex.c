/* SPDX-License-Identifier: Apache-2.0
 * SHA-256 by libmd. */
#include "tests/support/sha256hex.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <sha256.h>

void sha256_hex(const void *data, size_t size, char out[65])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, data, size);
    SHA256Final(digest, &context);
    for (size_t i = 0; i < sizeof(digest); i++)
        (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
