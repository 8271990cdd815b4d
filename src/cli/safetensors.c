/* SPDX-License-Identifier: Apache-2.0
 * Reads the JSON of a safetensors header.  Nothing in it is trusted, nothing is
 * allocated, and what nests deeper than the format is refused. */
#include "src/cli/safetensors.h"

#include <string.h>

#define WRONG_HEADER "a safetensors header that is not JSON of the format"

/* Names longer than this are no name that can be asked for. */
#define NAME_SIZE 256

struct text {
    const char *at, *end;
};

struct entry {
    char name[NAME_SIZE];
    char dtype[16];
    int rank;
    int64_t shape[PFI_CLI_MAX_RANK];
    uint64_t begin, end;
    int seen; /* bits: 1 dtype, 2 shape, 4 data_offsets */
};

/* ----------------------------------------------------------------- JSON --- */

static void skip_space(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' ||
                              *t->at == '\t' || *t->at == '\r'))
        t->at++;
}

static bool take(struct text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The character of an escape; those beyond ASCII become '?', since no name that
 * is looked for has one.  -1 where it is none. */
static int take_escape(struct text *t)
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
    return code < 0x80 ? code : '?';
}

/* What does not fit into `out` is cut off; NULL = nowhere. */
static bool take_string(struct text *t, char *out, size_t room)
{
    size_t size = 0;

    if (!take(t, '"'))
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
    return take(t, '"');
}

static bool take_number(struct text *t, uint64_t *out)
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

/* -------------------------------------------------------------- entries --- */

static bool take_shape(struct text *t, struct entry *e)
{
    uint64_t side;

    e->rank = 0;
    if (!take(t, '['))
        return false;
    if (take(t, ']'))
        return true;
    do {
        if (e->rank == PFI_CLI_MAX_RANK || !take_number(t, &side) ||
            side > INT64_MAX)
            return false;
        e->shape[e->rank++] = (int64_t)side;
    } while (take(t, ','));
    return take(t, ']');
}

static bool take_member(struct text *t, struct entry *e)
{
    char key[16];
    int bit = 0;
    bool good = false;

    if (!take_string(t, key, sizeof(key)) || !take(t, ':'))
        return false;
    if (!strcmp(key, "dtype")) {
        bit = 1;
        good = take_string(t, e->dtype, sizeof(e->dtype));
    } else if (!strcmp(key, "shape")) {
        bit = 2;
        good = take_shape(t, e);
    } else if (!strcmp(key, "data_offsets")) {
        bit = 4;
        good = take(t, '[') && take_number(t, &e->begin) && take(t, ',') &&
               take_number(t, &e->end) && take(t, ']');
    }
    good = good && !(e->seen & bit);
    e->seen |= bit;
    return good;
}

static bool take_tensor(struct text *t, struct entry *e)
{
    e->seen = 0;
    if (!take(t, '{'))
        return false;
    do {
        if (!take_member(t, e))
            return false;
    } while (take(t, ','));
    return take(t, '}') && e->seen == 7;
}

static bool skip_metadata(struct text *t)
{
    if (!take(t, '{'))
        return false;
    if (take(t, '}'))
        return true;
    do {
        if (!take_string(t, NULL, 0) || !take(t, ':') ||
            !take_string(t, NULL, 0))
            return false;
    } while (take(t, ','));
    return take(t, '}');
}

/* --------------------------------------------------------------- choice --- */

static bool find_type(const char *name, pinfold_dtype *dtype, size_t *item)
{
    static const struct {
        const char *name;
        pinfold_dtype dtype;
        size_t item;
    } types[] = {{"F32", PINFOLD_F32, 4},
                 {"F16", PINFOLD_F16, 2},
                 {"BF16", PINFOLD_BF16, 2},
                 {"U8", PINFOLD_U8, 1}};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!strcmp(types[i].name, name)) {
            *dtype = types[i].dtype;
            *item = types[i].item;
            return true;
        }
    }
    return false;
}

/* How well a tensor fits what is looked for; 0 = not at all. */
static int rank_entry(const struct entry *e, const char *wanted)
{
    pinfold_dtype dtype;
    size_t item;

    if (wanted)
        return strcmp(e->name, wanted) ? 0 : 3;
    if (!strcmp(e->name, "images"))
        return 3;
    if (!find_type(e->dtype, &dtype, &item))
        return 0;
    return e->rank >= 3 ? 2 : 1;
}

struct choice {
    struct entry best;
    int rank, equals; /* how well it fits; how many fit as well */
};

static const char *take_entries(struct text *t, const char *wanted,
                                struct choice *choice)
{
    struct entry e;

    if (!take(t, '{'))
        return WRONG_HEADER;
    if (take(t, '}'))
        return NULL;
    do {
        if (!take_string(t, e.name, sizeof(e.name)) || !take(t, ':'))
            return WRONG_HEADER;
        if (!strcmp(e.name, "__metadata__")) {
            if (!skip_metadata(t))
                return WRONG_HEADER;
            continue;
        }
        if (!take_tensor(t, &e))
            return WRONG_HEADER;
        const int rank = rank_entry(&e, wanted);

        choice->equals += rank && rank == choice->rank;
        if (rank > choice->rank)
            *choice = (struct choice){.best = e, .rank = rank, .equals = 1};
    } while (take(t, ','));
    if (!take(t, '}'))
        return WRONG_HEADER;
    skip_space(t);
    return t->at == t->end ? NULL : WRONG_HEADER;
}

static uint64_t header_size(const unsigned char *file)
{
    uint64_t size = 0;

    for (int i = 7; i >= 0; i--)
        size = size << 8 | file[i];
    return size;
}

bool pfi_cli_safetensors_is(const unsigned char *file, size_t size)
{
    return size >= 10 && file[8] == '{' &&
           header_size(file) <= PFI_CLI_SAFETENSORS_MAX_HEADER;
}

static const char *take_choice(const struct choice *choice, const char *wanted,
                               const unsigned char *data, size_t left,
                               struct pfi_cli_tensor *out)
{
    const struct entry *const e = &choice->best;
    size_t item;

    if (!choice->rank)
        return wanted ? "no tensor of that name"
                      : "no tensor of u8, f16, bf16 or f32";
    if (choice->equals > 1)
        return "several tensors; choose one by --tensor NAME";
    if (!find_type(e->dtype, &out->dtype, &item))
        return "a type other than U8, F16, BF16 and F32";
    out->rank = e->rank;
    memcpy(out->shape, e->shape, sizeof(out->shape));
    if (e->begin > e->end || e->end > left)
        return "cut short: a tensor ends behind the file";
    if (!pfi_cli_tensor_bytes(out->shape, out->rank, item, &out->bytes) ||
        out->bytes != e->end - e->begin)
        return "a tensor whose bytes are not those of its shape";
    out->data = data + e->begin;
    return NULL;
}

const char *pfi_cli_safetensors_read(const unsigned char *file, size_t size,
                                     const char *name,
                                     struct pfi_cli_tensor *out)
{
    struct choice choice = {.rank = 0};
    struct text text;
    uint64_t header;
    const char *wrong;

    if (size < 8)
        return "too short for a safetensors file";
    header = header_size(file);
    if (header > PFI_CLI_SAFETENSORS_MAX_HEADER)
        return "a safetensors header of more than 100000000 bytes";
    if (header > size - 8)
        return "a safetensors header that is longer than the file";
    text.at = (const char *)file + 8;
    text.end = text.at + header;
    wrong = take_entries(&text, name, &choice);
    if (wrong)
        return wrong;
    return take_choice(&choice, name, file + 8 + header,
                       size - 8 - (size_t)header, out);
}
