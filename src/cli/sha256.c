/* SPDX-License-Identifier: Apache-2.0
 * The door to libmd. */
#include "src/cli/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef PINFOLD_HAVE_LIBMD
#include <sys/types.h>

#include <sha256.h>

struct pfi_cli_sha256_state {
    SHA256_CTX context;
};

bool pfi_cli_have_sha256(void)
{
    return true;
}

struct pfi_cli_sha256_state *pfi_cli_sha256_start(void)
{
    struct pfi_cli_sha256_state *const state = malloc(sizeof(*state));

    if (state)
        SHA256Init(&state->context);
    return state;
}

void pfi_cli_sha256_add(struct pfi_cli_sha256_state *state, const void *data,
                        size_t size)
{
    if (state)
        SHA256Update(&state->context, data, size);
}

static void finish(SHA256_CTX *context, char hex[65])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];

    SHA256Final(digest, context);
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void pfi_cli_sha256_end(struct pfi_cli_sha256_state *state, char hex[65])
{
    hex[0] = '\0';
    if (state)
        finish(&state->context, hex);
    free(state);
}

void pfi_cli_sha256(const void *data, size_t size, char hex[65])
{
    SHA256_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, data, size);
    finish(&context, hex);
}
#else
bool pfi_cli_have_sha256(void)
{
    return false;
}

struct pfi_cli_sha256_state *pfi_cli_sha256_start(void)
{
    return NULL;
}

void pfi_cli_sha256_add(struct pfi_cli_sha256_state *state, const void *data,
                        size_t size)
{
    (void)state;
    (void)data;
    (void)size;
}

void pfi_cli_sha256_end(struct pfi_cli_sha256_state *state, char hex[65])
{
    (void)state;
    hex[0] = '\0';
}

void pfi_cli_sha256(const void *data, size_t size, char hex[65])
{
    (void)data;
    (void)size;
    hex[0] = '\0';
}
#endif

bool pfi_cli_sha256_file(int folder, const char *name, char hex[65])
{
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct pfi_cli_sha256_state *state = NULL;
    unsigned char buffer[1 << 15];
    struct stat info;
    off_t left = -1;
    ssize_t n = 1;

    if (fd >= 0 && !fstat(fd, &info) && (state = pfi_cli_sha256_start()))
        left = info.st_size;
    while (left > 0 && n) {
        n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno != EINTR)
            break;
        pfi_cli_sha256_add(state, buffer, n > 0 ? (size_t)n : 0);
        left -= n > 0 ? n : 0;
    }
    const int code = n ? errno : EIO; /* it was cut short meanwhile */

    pfi_cli_sha256_end(state, hex);
    if (fd >= 0)
        close(fd);
    errno = code;
    return left == 0;
}
