/* SPDX-License-Identifier: Apache-2.0
 * Escapes and cuts. */
#include "src/cli/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps `tail` characters of the end. */
static void shorten(char *text, size_t most, size_t tail)
{
    const size_t size = strlen(text);

    if (size <= most)
        return;
    if (most < 5) {
        text[most] = '\0';
        return;
    }
    memcpy(text + most - tail - 2, "..", 2);
    memmove(text + most - tail, text + size - tail, tail + 1);
}

/* A file name's end, with its number, tells more than its beginning. */
void pfi_cli_shorten_name(char *name, size_t most)
{
    shorten(name, most, most * 3 / 5);
}

void pfi_cli_shorten_words(char *words, size_t most)
{
    shorten(words, most, 0);
}

/* Writes at most four characters and returns how many. */
static size_t escape(char *out, unsigned char c)
{
    if (c == '\\')
        return (size_t)snprintf(out, 5, "\\\\");
    if (c < ' ' || c > '~')
        return (size_t)snprintf(out, 5, "\\x%02x", c);
    *out = (char)c;
    return 1;
}

void pfi_cli_label(char label[PFI_CLI_LABEL], const char *name)
{
    char *const whole = malloc(4 * strlen(name) + 1), *end = whole;

    label[0] = '\0';
    if (!whole)
        return;
    for (; *name; name++)
        end += escape(end, (unsigned char)*name);
    *end = '\0';
    pfi_cli_shorten_name(whole, PFI_CLI_LABEL - 1);
    (void)strcpy(label, whole);
    free(whole);
}

const char *pfi_cli_base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
