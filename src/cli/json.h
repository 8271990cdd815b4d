/* SPDX-License-Identifier: Apache-2.0
 * Reads JSON piece by piece, from text that is not trusted. */
#ifndef PFI_CLI_JSON_H
#define PFI_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text that is left.  What takes something from it skips the space before,
 * and returns false where something else stands there. */
struct pfi_cli_json {
    const char *at, *end;
};

bool pfi_cli_json_take(struct pfi_cli_json *t, char c);
/* Cuts off what does not fit into `out`; NULL = nowhere.  U+DC80 to U+DCFF are
 * the bytes 80 to FF that were no UTF-8 (Python's surrogateescape); any other
 * escape beyond ASCII becomes '?'. */
bool pfi_cli_json_string(struct pfi_cli_json *t, char *out, size_t room);
/* A whole number from 0 on. */
bool pfi_cli_json_number(struct pfi_cli_json *t, uint64_t *out);
/* A value of any kind, which is only looked at for where it ends. */
bool pfi_cli_json_skip(struct pfi_cli_json *t);
/* Whether nothing but space is left. */
bool pfi_cli_json_ends(struct pfi_cli_json *t);

/* Finds the value of a member of the object that the text starts with. */
bool pfi_cli_json_member(struct pfi_cli_json object, const char *name,
                         struct pfi_cli_json *value);

#endif
