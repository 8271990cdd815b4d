/* SPDX-License-Identifier: Apache-2.0
 * The words that options take, to numbers. */
#include "src/cli/values.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pfi_cli_to_number(const char *text, long long low, long long high,
                       long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *out >= low && *out <= high;
}

/* `end` is what may stand behind the letter. */
static bool to_scaled(const char *text, long long step, const char *end,
                      uint64_t *out)
{
    static const char letters[] = "KMG";
    const size_t digits = strspn(text, "0123456789");
    const char *const letter =
        text[digits] ? strchr(letters, text[digits]) : NULL;
    const char *const rest = text + digits + !!letter;
    long long scale = 1, value;
    char number[24];

    if (digits >= sizeof(number) || (*rest && (!letter || strcmp(rest, end))))
        return false;
    for (const char *l = letters; letter && l <= letter; l++)
        scale *= step;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!pfi_cli_to_number(number, 1, LLONG_MAX / scale, &value))
        return false;
    *out = (uint64_t)(value * scale);
    return true;
}

const char *pfi_cli_to_bytes(const char *text, uint64_t *out)
{
    return to_scaled(text, 1024, "iB", out)
               ? NULL
               : "not bytes from 1 on, or with K, M, G, KiB, MiB or GiB "
                 "(K = 1024)";
}

const char *pfi_cli_to_pixels(const char *text, uint64_t *out)
{
    return to_scaled(text, 1000, "", out)
               ? NULL
               : "not a whole number from 1 on, or with K, M or G (K = 1000)";
}

const char *pfi_cli_to_int32(const char *text, int32_t low, int32_t *out)
{
    long long value;

    if (!pfi_cli_to_number(text, low, INT32_MAX, &value))
        return low ? "not a whole number from 1 on" : "not a whole number";
    *out = (int32_t)value;
    return NULL;
}

/* "HxW"; false where the text has no x. */
bool pfi_cli_to_pair(const char *text, int32_t *height, int32_t *width)
{
    const char *const x = strchr(text, 'x');
    char first[16];

    if (!x || (size_t)(x - text) >= sizeof(first))
        return false;
    memcpy(first, text, (size_t)(x - text));
    first[x - text] = '\0';
    return !pfi_cli_to_int32(first, 1, height) &&
           !pfi_cli_to_int32(x + 1, 1, width);
}

const char *pfi_cli_to_choice(const char *text, const char *const *names,
                              const char *what, int *out)
{
    for (int i = 0; names[i]; i++) {
        if (!strcmp(text, names[i])) {
            *out = i;
            return NULL;
        }
    }
    return what;
}

const char *pfi_cli_to_channels(const char *text, float out[3])
{
    char *end = NULL;
    double values[3];
    int n = 0;

    while (n < 3) {
        values[n] = strtod(text, &end);
        if (end == text || !isfinite(values[n]))
            return "not a number, or three with commas between";
        n++;
        if (*end != ',')
            break;
        text = end + 1;
    }
    if (*end || n == 2)
        return "not a number, or three with commas between";
    for (int c = 0; c < 3; c++)
        out[c] = (float)values[n == 1 ? 0 : c];
    return NULL;
}

const char *pfi_cli_to_range(const char *text, double out[2])
{
    char *end;

    out[0] = strtod(text, &end);
    if (end == text || *end != ',')
        return "not two numbers with a comma between";
    text = end + 1;
    out[1] = strtod(text, &end);
    return end == text || *end || !(out[0] > 0) || !(out[1] >= out[0])
               ? "not two rising numbers above 0 with a comma between"
               : NULL;
}
