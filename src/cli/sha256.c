/* SPDX-License-Identifier: Apache-2.0
 * The door to libmd. */
#include "src/cli/sha256.h"

#include <stdio.h>
#include <string.h>

#ifdef PINFOLD_HAVE_LIBMD
#include <sys/types.h>

#include <sha256.h>

bool pfi_cli_have_sha256(void)
{
    return true;
}

void pfi_cli_sha256(const void *data, size_t size, char hex[65])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, data, size);
    SHA256Final(digest, &context);
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}
#else
bool pfi_cli_have_sha256(void)
{
    return false;
}

void pfi_cli_sha256(const void *data, size_t size, char hex[65])
{
    (void)data;
    (void)size;
    hex[0] = '\0';
}
#endif
