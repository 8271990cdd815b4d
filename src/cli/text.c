/* SPDX-License-Identifier: Apache-2.0
 * Escapes. */
#include "src/cli/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *escape_of(char c)
{
    return c == '\\' ? "\\\\" : c == '\t' ? "\\t" : c == '\n' ? "\\n" : NULL;
}

void pfi_cli_print_name(FILE *out, const char *name)
{
    for (; *name; name++) {
        const char *const escape = escape_of(*name);

        if (escape)
            (void)fputs(escape, out);
        else
            (void)fputc(*name, out);
    }
}

char *pfi_cli_escape_name(const char *name)
{
    char *const out = malloc(2 * strlen(name) + 1);
    char *p = out;

    for (; out && *name; name++) {
        const char *const escape = escape_of(*name);

        *p++ = escape ? escape[0] : *name;
        if (escape)
            *p++ = escape[1];
    }
    if (out)
        *p = '\0';
    return out;
}

static size_t utf8_size(const unsigned char *s)
{
    const size_t n = s[0] < 0x80   ? 1
                     : s[0] < 0xC2 ? 0
                     : s[0] < 0xE0 ? 2
                     : s[0] < 0xF0 ? 3
                     : s[0] < 0xF5 ? 4
                                   : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0; /* overlong, a surrogate, or above U+10FFFF */
    return n;
}

static void print_json(FILE *out, const char *text, bool exact)
{
    const unsigned char *s = (const unsigned char *)text;

    (void)fputc('"', out);
    while (*s) {
        const size_t n = utf8_size(s);

        if (n == 0 && exact)
            (void)fprintf(out, "\\udc%02x", *s);
        else if (n == 0)
            (void)fputs("\xEF\xBF\xBD", out);
        else if (*s == '"' || *s == '\\')
            (void)fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F)
            (void)fprintf(out, "\\u%04x", *s);
        else
            (void)fwrite(s, 1, n, out);
        s += n ? n : 1;
    }
    (void)fputc('"', out);
}

void pfi_cli_print_json(FILE *out, const char *text)
{
    print_json(out, text, false);
}

void pfi_cli_print_json_exact(FILE *out, const char *text)
{
    print_json(out, text, true);
}
