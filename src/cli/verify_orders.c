/* SPDX-License-Identifier: Apache-2.0
 * pinfold verify --orders: orders against those that PyTorch gave, by their
 * checksums (scripts of the golden file: make-orders). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/run.h"
#include "src/cli/sample_file.h"
#include "src/cli/sha256.h"
#include "src/cli/text.h"

/* A line of the file; strings point into it. */
struct row {
    const char *sampler, *parameters, *first, *sha256;
    int64_t n, epoch, count;
    uint64_t seed;
};

struct orders {
    const char *path;
    long long equal, differ, refused;
};

/* What a row asks for, with its lists. */
struct asked {
    pinfold_loader_options options;
    pinfold_order order;
    int64_t *indices;
    double *weights;
};

static bool to_int64(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

static bool to_uint64(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 10);
    return end != text && !*end && !errno;
}

static bool split(char *line, struct row *row)
{
    char *fields[8];

    for (int i = 0; i < 8; i++) {
        fields[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
        if ((line == NULL) != (i == 7))
            return false;
    }
    *row = (struct row){.sampler = fields[0],
                        .parameters = fields[3],
                        .first = fields[6],
                        .sha256 = fields[7]};
    return to_int64(fields[1], &row->n) && to_uint64(fields[2], &row->seed) &&
           to_int64(fields[4], &row->epoch) &&
           to_int64(fields[5], &row->count) && row->n >= 0 && row->epoch >= 0 &&
           row->count >= 0;
}

/* The number behind "NAME=" among the parameters; `missing` where it is not
 * there. */
static int64_t parameter(const struct row *row, const char *name,
                         int64_t missing)
{
    const size_t size = strlen(name);
    const char *at = row->parameters;

    while (at && (strncmp(at, name, size) != 0 || at[size] != '=')) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoll(at + size + 1, NULL, 10) : missing;
}

/* "indices=every third from 0" */
static bool ask_subset(struct asked *a, int64_t n)
{
    a->order.sampler = PINFOLD_SAMPLER_SUBSET;
    a->indices = calloc((size_t)n / 3 + 1, sizeof(*a->indices));
    a->order.indices = a->indices;
    for (int64_t i = 0; a->indices && i < n; i += 3)
        a->indices[a->order.n_indices++] = i;
    return a->indices;
}

/* "weights=1+(i*7919)%13 num_samples=n" */
static bool ask_weighted(struct asked *a, int64_t n)
{
    a->order.sampler = PINFOLD_SAMPLER_WEIGHTED;
    a->order.n_weights = n;
    a->weights = calloc((size_t)n + 1, sizeof(*a->weights));
    a->order.weights = a->weights;
    for (int64_t i = 0; a->weights && i < n; i++)
        a->weights[i] = (double)(1 + i * 7919 % 13);
    return a->weights;
}

/* False where the row asks for what is not known here. */
static bool ask(struct asked *a, const struct row *row)
{
    a->options.seed = row->seed;
    a->options.order = &a->order;
    a->options.batch_size = (int32_t)parameter(row, "batch", 1);
    if (!strcmp(row->sampler, "shuffle")) {
        a->options.shuffle = 1;
        a->options.drop_last = (int32_t)parameter(row, "drop_last", 0);
        a->order.persistent_workers =
            (int32_t)parameter(row, "persistent_workers", 0);
        return true;
    }
    if (!strcmp(row->sampler, "distributed")) {
        a->options.shuffle = (int32_t)parameter(row, "shuffle", 0);
        a->order.shard = PINFOLD_SHARD_TORCH;
        a->order.world = (int32_t)parameter(row, "world", 0);
        a->order.rank = (int32_t)parameter(row, "rank", 0);
        a->order.shard_drop_last = (int32_t)parameter(row, "drop_last", 0);
        return true;
    }
    if (!strcmp(row->sampler, "replacement") ||
        !strcmp(row->sampler, "num_samples")) {
        a->order.sampler = PINFOLD_SAMPLER_RANDOM;
        a->order.replacement = row->sampler[0] == 'r';
        a->order.num_samples = parameter(row, "num_samples", -1);
        return true;
    }
    if (!strcmp(row->sampler, "subset"))
        return !strcmp(row->parameters, "indices=every third from 0") &&
               ask_subset(a, row->n);
    return !strcmp(row->sampler, "weighted") &&
           !strcmp(row->parameters, "weights=1+(i*7919)%13 num_samples=n") &&
           ask_weighted(a, row->n);
}

static void report(const struct row *row, const char *verdict, const char *why,
                   long long *count)
{
    (void)printf("%s\t%s\tn=%" PRId64 " seed=%" PRIu64 " %s epoch=%" PRId64
                 "\t%s\n",
                 verdict, row->sampler, row->n, row->seed, row->parameters,
                 row->epoch, why);
    ++*count;
}

static bool same_first(const struct row *row, const int64_t *indices)
{
    char text[200] = "";
    size_t used = 0;

    for (int64_t i = 0; i < row->count && i < 8; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 i ? ",%" PRId64 : "%" PRId64, indices[i]);
    return !strcmp(text, row->first);
}

static void judge(struct orders *v, const struct row *row, int64_t *indices,
                  const struct asked *a)
{
    pinfold_error err;
    int64_t count = 0;
    char hex[65];

    if (pinfold_order_indices(&a->options, row->n, row->epoch, indices,
                              row->count, &count, &err)) {
        report(row, "refused", err.message, &v->refused);
        return;
    }
    /* What is hashed are little-endian numbers, as the machine's are. */
    pfi_cli_sha256(indices, (size_t)row->count * sizeof(*indices), hex);
    if (count != row->count)
        report(row, "differ", "the number of indices", &v->differ);
    else if (!same_first(row, indices))
        report(row, "differ", "the first indices", &v->differ);
    else if (strcmp(hex, row->sha256) != 0)
        report(row, "differ", "an index behind the eighth", &v->differ);
    else
        v->equal++;
}

static int take_line(struct orders *v, char *line, size_t number)
{
    struct asked a = {.options = pinfold_loader_options_default(),
                      .order = {.struct_size = sizeof(a.order)}};
    struct row row;
    int64_t *indices = NULL;
    bool good;

    if (!*line || *line == '#')
        return PFI_CLI_OK;
    good = split(line, &row) && (uint64_t)row.count < SIZE_MAX / 16;
    if (good)
        indices = calloc((size_t)row.count + 1, sizeof(*indices));
    if (!indices) {
        pfi_cli_say("pinfold: %s, line %zu: %s", v->path, number,
                    good ? "no memory" : "not a row of eight fields");
        return PFI_CLI_FAILED;
    }
    if (ask(&a, &row))
        judge(v, &row, indices, &a);
    else
        report(&row, "refused", "a sampler or parameters not known here",
               &v->refused);
    free(a.indices);
    free(a.weights);
    free(indices);
    return PFI_CLI_OK;
}

static int take_lines(struct orders *v, char *text)
{
    int code = PFI_CLI_OK;
    size_t number = 1;

    for (char *line = text; !code && line && !pfi_cli_signal(); number++) {
        char *const end = strchr(line, '\n');

        if (end)
            *end = '\0';
        code = take_line(v, line, number);
        line = end ? end + 1 : NULL;
    }
    return pfi_cli_signal() ? PFI_CLI_FAILED : code;
}

int pfi_cli_verify_orders(const struct pfi_cli_options *o)
{
    struct orders v = {.path = o->orders};
    size_t size = 0;
    pinfold_error err;
    char *const text =
        pfi_cli_read_file(o->orders, PFI_CLI_MOST_TEXT, &size, &err);
    int code;

    if (!text) {
        pfi_cli_say("pinfold: %s: %s", o->orders, err.message);
        return PFI_CLI_FAILED;
    }
    code = take_lines(&v, text);
    free(text);
    if (code)
        return code;
    (void)printf("verify: %lld equal, %lld differ, 0 missing, %lld refused, 0 "
                 "accepted\n",
                 v.equal, v.differ, v.refused);
    return v.differ || v.refused || !v.equal ? PFI_CLI_FAILED : PFI_CLI_OK;
}
