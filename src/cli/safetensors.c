/* SPDX-License-Identifier: Apache-2.0
 * Reads the JSON of a safetensors header.  Nothing in it is trusted, nothing is
 * allocated, and what nests deeper than the format is refused. */
#include "src/cli/safetensors.h"

#include <string.h>

#include "src/cli/json.h"

#define WRONG_HEADER "a safetensors header that is not JSON of the format"

/* Names longer than this are no name that can be asked for. */
#define NAME_SIZE 256

struct entry {
    char name[NAME_SIZE];
    char dtype[16];
    int rank;
    int64_t shape[PFI_CLI_MAX_RANK];
    uint64_t begin, end;
    int seen; /* bits: 1 dtype, 2 shape, 4 data_offsets */
};

/* -------------------------------------------------------------- entries --- */

static bool take_shape(struct pfi_cli_json *t, struct entry *e)
{
    uint64_t side;

    e->rank = 0;
    if (!pfi_cli_json_take(t, '['))
        return false;
    if (pfi_cli_json_take(t, ']'))
        return true;
    do {
        if (e->rank == PFI_CLI_MAX_RANK || !pfi_cli_json_number(t, &side) ||
            side > INT64_MAX)
            return false;
        e->shape[e->rank++] = (int64_t)side;
    } while (pfi_cli_json_take(t, ','));
    return pfi_cli_json_take(t, ']');
}

static bool take_member(struct pfi_cli_json *t, struct entry *e)
{
    char key[16];
    int bit = 0;
    bool good = false;

    if (!pfi_cli_json_string(t, key, sizeof(key)) || !pfi_cli_json_take(t, ':'))
        return false;
    if (!strcmp(key, "dtype")) {
        bit = 1;
        good = pfi_cli_json_string(t, e->dtype, sizeof(e->dtype));
    } else if (!strcmp(key, "shape")) {
        bit = 2;
        good = take_shape(t, e);
    } else if (!strcmp(key, "data_offsets")) {
        bit = 4;
        good = pfi_cli_json_take(t, '[') &&
               pfi_cli_json_number(t, &e->begin) && pfi_cli_json_take(t, ',') &&
               pfi_cli_json_number(t, &e->end) && pfi_cli_json_take(t, ']');
    }
    good = good && !(e->seen & bit);
    e->seen |= bit;
    return good;
}

static bool take_tensor(struct pfi_cli_json *t, struct entry *e)
{
    e->seen = 0;
    if (!pfi_cli_json_take(t, '{'))
        return false;
    do {
        if (!take_member(t, e))
            return false;
    } while (pfi_cli_json_take(t, ','));
    return pfi_cli_json_take(t, '}') && e->seen == 7;
}

static bool skip_metadata(struct pfi_cli_json *t)
{
    if (!pfi_cli_json_take(t, '{'))
        return false;
    if (pfi_cli_json_take(t, '}'))
        return true;
    do {
        if (!pfi_cli_json_string(t, NULL, 0) || !pfi_cli_json_take(t, ':') ||
            !pfi_cli_json_string(t, NULL, 0))
            return false;
    } while (pfi_cli_json_take(t, ','));
    return pfi_cli_json_take(t, '}');
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

static const char *take_entries(struct pfi_cli_json *t, const char *wanted,
                                struct choice *choice)
{
    struct entry e;

    if (!pfi_cli_json_take(t, '{'))
        return WRONG_HEADER;
    if (pfi_cli_json_take(t, '}'))
        return NULL;
    do {
        if (!pfi_cli_json_string(t, e.name, sizeof(e.name)) || !pfi_cli_json_take(t, ':'))
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
    } while (pfi_cli_json_take(t, ','));
    if (!pfi_cli_json_take(t, '}'))
        return WRONG_HEADER;
    return pfi_cli_json_ends(t) ? NULL : WRONG_HEADER;
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
    struct pfi_cli_json text;
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
