/* SPDX-License-Identifier: Apache-2.0
 * Names and numbers as text. */
#ifndef PFI_CLI_TEXT_H
#define PFI_CLI_TEXT_H

#include <stdio.h>

/* Prints a name with \\, \t and \n written as those two characters, and bytes of
 * other controls, or that are not UTF-8, as \xHH: no name can move a terminal. */
void pfi_cli_print_name(FILE *out, const char *name);
/* Prints a text with every control, and what is not UTF-8, as \xHH. */
void pfi_cli_print_text(FILE *out, const char *text);
/* Prints such a text and a line end to stderr. */
__attribute__((format(printf, 1, 2))) void pfi_cli_say(const char *format, ...);
/* Prints "pinfold: PATH: cannot WHAT: " and why by errno. */
void pfi_cli_cannot(const char *path, const char *what);
/* A name with only \\, \t and \n escaped, as golden files have it, in memory that
 * the caller frees; NULL when out of memory. */
char *pfi_cli_escape_name(const char *name);
/* Prints a JSON string; bytes that are not UTF-8 become U+FFFD. */
void pfi_cli_print_json(FILE *out, const char *text);
/* The same with nothing lost: such a byte b becomes the lone surrogate
 * U+DC00 + b, as Python's surrogateescape has it. */
void pfi_cli_print_json_exact(FILE *out, const char *text);

/* `ending`, which makes a plural, or "" for one. */
const char *pfi_cli_plural(long long n, const char *ending);

#endif
