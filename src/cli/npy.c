/* SPDX-License-Identifier: Apache-2.0
 * The header that numpy's format.py (2.4.6) describes: a multiple of 64 bytes,
 * a Python dictionary, filled with spaces, a line feed last. */
#include "src/cli/npy.h"

#include <string.h>

#define HEADER 192
#define WRONG_HEADER                                                           \
    "a .npy header that is not a dictionary of descr, "                        \
    "fortran_order and shape"

const char *pfi_cli_npy_description(pinfold_dtype dtype)
{
    static const char *const names[] = {"<f4", "<f2", "|u1", NULL};

    return names[dtype];
}

void pfi_cli_npy_header(FILE *out, const char *description,
                        const int64_t *shape, int n)
{
    char header[HEADER + 1];
    size_t used;

    memset(header, ' ', HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER - 10);
    header[9] = 0;
    used = 10;
    used += (size_t)snprintf(header + used, sizeof(header) - used,
                             "{'descr': '%s', 'fortran_order': False, "
                             "'shape': (%lld,",
                             description, (long long)shape[0]);
    for (int i = 1; i < n; i++)
        used +=
            (size_t)snprintf(header + used, sizeof(header) - used, " %lld%s",
                             (long long)shape[i], i + 1 < n ? "," : "");
    used += (size_t)snprintf(header + used, sizeof(header) - used, "), }");
    header[used] = ' ';
    header[HEADER - 1] = '\n';
    (void)fwrite(header, 1, HEADER, out);
}

/* -------------------------------------------------------------- reading --- */

/* The dictionary's text; every take_ leaves `at` behind what it took. */
struct text {
    const char *at, *end;
};

static bool take(struct text *t, const char *word)
{
    const size_t size = strlen(word);

    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n'))
        t->at++;
    if ((size_t)(t->end - t->at) < size || memcmp(t->at, word, size) != 0)
        return false;
    t->at += size;
    return true;
}

/* A string of at most 31 characters, in either quotes, without escapes. */
static bool take_string(struct text *t, char out[32])
{
    const bool single = take(t, "'");
    size_t size = 0;

    if (!single && !take(t, "\""))
        return false;
    for (; t->at < t->end && *t->at != (single ? '\'' : '"'); t->at++) {
        if (size == 31 || *t->at == '\\')
            return false;
        out[size++] = *t->at;
    }
    out[size] = '\0';
    return t->at < t->end && t->at++;
}

static bool take_number(struct text *t, int64_t *out)
{
    int64_t value = 0;
    bool any = false;

    (void)take(t, "");
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (value > (INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (*t->at - '0');
        any = true;
    }
    (void)take(t, "L"); /* as Python 2 wrote long integers */
    *out = value;
    return any;
}

static bool take_shape(struct text *t, struct pfi_cli_tensor *out)
{
    out->rank = 0;
    if (!take(t, "("))
        return false;
    while (!take(t, ")")) {
        if (out->rank == PFI_CLI_MAX_RANK ||
            !take_number(t, &out->shape[out->rank]))
            return false;
        out->rank++;
        if (take(t, ","))
            continue;
        return take(t, ")");
    }
    return true;
}

struct dictionary {
    char descr[32];
    bool fortran;
    int seen; /* bits: 1 descr, 2 fortran_order, 4 shape */
};

static bool take_member(struct text *t, struct dictionary *d,
                        struct pfi_cli_tensor *out)
{
    char key[32];
    int bit = 0;
    bool good = false;

    if (!take_string(t, key) || !take(t, ":"))
        return false;
    if (!strcmp(key, "descr")) {
        bit = 1;
        good = take_string(t, d->descr);
    } else if (!strcmp(key, "fortran_order")) {
        bit = 2;
        d->fortran = take(t, "True");
        good = d->fortran || take(t, "False");
    } else if (!strcmp(key, "shape")) {
        bit = 4;
        good = take_shape(t, out);
    }
    good = good && !(d->seen & bit);
    d->seen |= bit;
    return good;
}

static const char *take_dictionary(struct text *t, struct dictionary *d,
                                   struct pfi_cli_tensor *out)
{
    if (!take(t, "{"))
        return WRONG_HEADER;
    while (!take(t, "}")) {
        if (!take_member(t, d, out))
            return WRONG_HEADER;
        if (!take(t, ",")) {
            if (!take(t, "}"))
                return WRONG_HEADER;
            break;
        }
    }
    (void)take(t, "");
    return t->at == t->end && d->seen == 7 ? NULL : WRONG_HEADER;
}

/* Stores where the dictionary lies in the file. */
static const char *find_dictionary(const unsigned char *file, size_t size,
                                   struct text *out)
{
    const int version = size > 8 ? file[6] : 0;
    const size_t start = version == 1 ? 10 : 12;
    size_t length;

    if (version < 1 || version > 3 || file[7] || size < start)
        return "not a .npy file of version 1.0, 2.0 or 3.0";
    length = (size_t)file[8] | (size_t)file[9] << 8;
    if (version > 1)
        length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length > size - start)
        return "a .npy header that is longer than the file";
    out->at = (const char *)file + start;
    out->end = out->at + length;
    return NULL;
}

bool pfi_cli_npy_is(const unsigned char *file, size_t size)
{
    return size >= 6 && !memcmp(file, "\x93NUMPY", 6);
}

const char *pfi_cli_npy_read(const unsigned char *file, size_t size,
                             struct pfi_cli_tensor *out)
{
    static const struct {
        const char *descr;
        pinfold_dtype dtype;
        size_t item;
    } types[] = {{"<f4", PINFOLD_F32, 4},
                 {"<f2", PINFOLD_F16, 2},
                 {"|u1", PINFOLD_U8, 1},
                 {"<u1", PINFOLD_U8, 1}};
    struct dictionary d = {.seen = 0};
    struct text text = {0};
    const char *wrong = find_dictionary(file, size, &text);
    size_t i = 0, left;

    if (!wrong)
        wrong = take_dictionary(&text, &d, out);
    if (wrong)
        return wrong;
    while (i < 4 && strcmp(types[i].descr, d.descr) != 0)
        i++;
    if (i == 4)
        return "a type other than u8, f16 and f32, little-endian (of .npy; "
               "safetensors has bf16, too)";
    if (d.fortran && out->rank > 1)
        return "in Fortran's order; save it by numpy.ascontiguousarray()";
    left = size - (size_t)((const unsigned char *)text.end - file);
    if (!pfi_cli_tensor_bytes(out->shape, out->rank, types[i].item,
                              &out->bytes) ||
        out->bytes > left)
        return "cut short: less data than its shape says";
    out->dtype = types[i].dtype;
    out->data = (const unsigned char *)text.end;
    return NULL;
}
