/* SPDX-License-Identifier: Apache-2.0
 * A small HTTP server for one page: GET /metrics, from a thread of its own. */
#ifndef PFI_CLI_SERVE_H
#define PFI_CLI_SERVE_H

#include <stdbool.h>
#include <stdio.h>

struct pfi_cli_server;

struct pfi_cli_address {
    char host[256], port[6];
};

/* "PORT", of the loopback, or "HOST:PORT", "[HOST]:PORT", and no path; false
 * for everything else. */
bool pfi_cli_address_parse(struct pfi_cli_address *out, const char *text);

/* Serves what `print` prints; it is called in the server's thread.  On failure
 * prints why and returns the exit status.  Says on stderr where it listens
 * unless it is to be quiet. */
int pfi_cli_server_open(struct pfi_cli_server **out,
                        const struct pfi_cli_address *address, bool quiet,
                        void (*print)(FILE *out, void *cookie), void *cookie);
/* Drops every client.  NULL is allowed. */
void pfi_cli_server_close(struct pfi_cli_server *server);

#endif
