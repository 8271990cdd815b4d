/* SPDX-License-Identifier: Apache-2.0
 * JSON without a tree: nothing is allocated, nothing recurses. */
#include "src/cli/json.h"

#include <string.h>

static void skip_space(struct pfi_cli_json *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' ||
                              *t->at == '\t' || *t->at == '\r'))
        t->at++;
}

bool pfi_cli_json_take(struct pfi_cli_json *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

bool pfi_cli_json_ends(struct pfi_cli_json *t)
{
    skip_space(t);
    return t->at == t->end;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The character of an escape; -1 where it is none. */
static int take_escape(struct pfi_cli_json *t)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;
    int code = 0;

    if (t->at == t->end)
        return -1;
    const char c = *t->at++;

    if (c != 'u') {
        found = c ? strchr(plain, c) : NULL;
        return found ? meant[found - plain] : -1;
    }
    for (int i = 0; i < 4; i++) {
        const int digit = t->at < t->end ? hex_digit(*t->at++) : -1;

        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    if (code >= 0xDC80 && code <= 0xDCFF)
        return code - 0xDC00;
    return code < 0x80 ? code : '?';
}

bool pfi_cli_json_string(struct pfi_cli_json *t, char *out, size_t room)
{
    size_t size = 0;

    if (!pfi_cli_json_take(t, '"'))
        return false;
    while (t->at < t->end && *t->at != '"') {
        int c = (unsigned char)*t->at++;

        if (c < 0x20)
            return false;
        if (c == '\\')
            c = take_escape(t);
        if (c < 0)
            return false;
        if (out && size + 1 < room)
            out[size++] = (char)c;
    }
    if (out)
        out[size] = '\0';
    return pfi_cli_json_take(t, '"');
}

bool pfi_cli_json_number(struct pfi_cli_json *t, uint64_t *out)
{
    uint64_t value = 0;
    const char *start;

    skip_space(t);
    start = t->at;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(*t->at - '0');
    }
    *out = value;
    return t->at > start;
}

/* A number, true, false or null. */
static bool skip_word(struct pfi_cli_json *t)
{
    const char *const start = t->at;

    while (t->at < t->end && *t->at && !strchr(",:[]{}\" \n\t\r", *t->at))
        t->at++;
    return t->at > start;
}

bool pfi_cli_json_skip(struct pfi_cli_json *t)
{
    int64_t depth = 0;

    do {
        bool good = true;

        skip_space(t);
        if (t->at == t->end)
            return false;
        if (*t->at == '"')
            good = pfi_cli_json_string(t, NULL, 0);
        else if (*t->at == '[' || *t->at == '{')
            depth++, t->at++;
        else if (depth && (*t->at == ']' || *t->at == '}'))
            depth--, t->at++;
        else if (depth && (*t->at == ',' || *t->at == ':'))
            t->at++;
        else
            good = skip_word(t);
        if (!good)
            return false;
    } while (depth);
    return true;
}

bool pfi_cli_json_member(struct pfi_cli_json object, const char *name,
                         struct pfi_cli_json *value)
{
    char key[64];

    if (!pfi_cli_json_take(&object, '{'))
        return false;
    do {
        if (!pfi_cli_json_string(&object, key, sizeof(key)) ||
            !pfi_cli_json_take(&object, ':'))
            return false;
        skip_space(&object);
        value->at = object.at;
        if (!pfi_cli_json_skip(&object))
            return false;
        value->end = object.at;
        if (!strcmp(key, name))
            return true;
    } while (pfi_cli_json_take(&object, ','));
    return false;
}
