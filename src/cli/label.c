/* SPDX-License-Identifier: Apache-2.0
 * Escapes and cuts. */
#include "src/cli/label.h"

#include <stdio.h>
#include <string.h>

/* A file name's end, with its number, tells more than its beginning. */
#define NAME_TAIL(most) ((most)*3 / 5)

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

void pfi_cli_shorten_name(char *name, size_t most)
{
    shorten(name, most, NAME_TAIL(most));
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

/* Without memory, so that no label is ever lost. */
void pfi_cli_label(char label[PFI_CLI_LABEL], const char *name)
{
    enum { MOST = PFI_CLI_LABEL - 1, TAIL = NAME_TAIL(MOST) };
    size_t size = 0, left_out, at = 0;
    char piece[5];

    for (const char *c = name; *c; c++)
        size += escape(piece, (unsigned char)*c);
    left_out = size > MOST ? size - MOST : 0;
    for (; *name; name++) {
        const size_t n = escape(piece, (unsigned char)*name);

        for (size_t i = 0; i < n; i++, at++)
            if (at < MOST - TAIL)
                label[at] = piece[i];
            else if (at >= size - TAIL)
                label[at - left_out] = piece[i];
    }
    label[size - left_out] = '\0';
    if (left_out)
        memcpy(label + MOST - TAIL - 2, "..", 2);
}

const char *pfi_cli_base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
