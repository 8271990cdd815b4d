/* SPDX-License-Identifier: Apache-2.0
 * SHA-256 by libmd, where the program is built with it. */
#ifndef PFI_CLI_SHA256_H
#define PFI_CLI_SHA256_H

#include <stdbool.h>
#include <stddef.h>

bool pfi_cli_have_sha256(void);
/* 64 hexadecimal digits and a NUL. */
void pfi_cli_sha256(const void *data, size_t size, char hex[65]);

/* The same in pieces.  Start returns NULL without libmd or memory; the others
 * accept that, and end then stores "". */
struct pfi_cli_sha256_state;
struct pfi_cli_sha256_state *pfi_cli_sha256_start(void);
void pfi_cli_sha256_add(struct pfi_cli_sha256_state *state, const void *data,
                        size_t size);
void pfi_cli_sha256_end(struct pfi_cli_sha256_state *state, char hex[65]);

/* Of a file in a folder; false with errno set where it cannot be read. */
bool pfi_cli_sha256_file(int folder, const char *name, char hex[65]);

#endif
