/* SPDX-License-Identifier: Apache-2.0
 * Escapes. */
#include "src/cli/text.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *escape_of(char c)
{
    return c == '\\' ? "\\\\" : c == '\t' ? "\\t" : c == '\n' ? "\\n" : NULL;
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

/* What could move a terminal's cursor or change its state: C0, DEL, and C1, which
 * in UTF-8 is C2 80 to C2 9F. */
static bool is_control(const unsigned char *s)
{
    return *s < 0x20 || *s == 0x7F || (s[0] == 0xC2 && s[1] && s[1] < 0xA0);
}

/* Prints a character of `s`, or its first byte as \xHH where it is a control or
 * not UTF-8; returns what it took of `s`. */
static size_t print_one(FILE *out, const unsigned char *s)
{
    const size_t n = utf8_size(s);

    if (n == 0 || is_control(s)) {
        (void)fprintf(out, "\\x%02x", *s);
        /* The second byte of a C1 stands alone then: not UTF-8. */
        return 1;
    }
    (void)fwrite(s, 1, n, out);
    return n;
}

void pfi_cli_print_name(FILE *out, const char *name)
{
    const unsigned char *s = (const unsigned char *)name;

    while (*s) {
        const char *const escape = escape_of((char)*s);

        if (escape)
            (void)fputs(escape, out);
        s += escape ? 1 : print_one(out, s);
    }
}

void pfi_cli_print_text(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s)
        s += print_one(out, s);
}

void pfi_cli_say(const char *format, ...)
{
    char text[PATH_MAX + 1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    flockfile(stderr);
    pfi_cli_print_text(stderr, text);
    (void)fputc('\n', stderr);
    funlockfile(stderr);
}

void pfi_cli_cannot(const char *path, const char *what)
{
    pfi_cli_say("pinfold: %s: cannot %s: %s", path, what, strerror(errno));
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
        else if (is_control(s))
            (void)fprintf(out, "\\u%04x", n == 1 ? *s : s[1]);
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

const char *pfi_cli_plural(long long n, const char *ending)
{
    return n == 1 ? "" : ending;
}
