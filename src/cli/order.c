/* SPDX-License-Identifier: Apache-2.0
 * Samplers and shards by options, and lists of numbers by file. */
#include "src/cli/order.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/run.h"
#include "src/cli/sample_file.h"
#include "src/cli/text.h"
#include "src/cli/values.h"

/* ----------------------------------------------------------------- options --- */

const char *pfi_cli_take_replacement(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->order.replacement = 1;
    return NULL;
}

const char *pfi_cli_take_num_samples(struct pfi_cli_options *o, const char *text)
{
    long long n;

    if (!pfi_cli_to_number(text, 1, LLONG_MAX, &n))
        return "not a whole number from 1 to 9223372036854775807";
    o->order.num_samples = n;
    return NULL;
}

const char *pfi_cli_take_subset(struct pfi_cli_options *o, const char *text)
{
    o->subset = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_weights(struct pfi_cli_options *o, const char *text)
{
    o->weights = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_order(struct pfi_cli_options *o, const char *text)
{
    o->list_order = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_shard(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"exact", "contiguous", "torch", NULL};
    int i = 0;
    const char *const wrong = pfi_cli_to_choice(
        text, names, "not exact, contiguous or torch", &i);

    o->order.shard = (pinfold_shard)i;
    return wrong;
}

const char *pfi_cli_take_shard_drop_last(struct pfi_cli_options *o,
                                         const char *text)
{
    (void)text;
    o->order.shard_drop_last = 1;
    return NULL;
}

const char *pfi_cli_take_rank(struct pfi_cli_options *o, const char *text)
{
    o->rank_text = text;
    return pfi_cli_to_int32(text, 0, &o->order.rank);
}

const char *pfi_cli_take_world(struct pfi_cli_options *o, const char *text)
{
    o->world_text = text;
    return pfi_cli_to_int32(text, 1, &o->order.world);
}

const char *pfi_cli_take_orders(struct pfi_cli_options *o, const char *text)
{
    o->orders = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_order_wrong(const struct pfi_cli_options *o)
{
    const int lists = (o->subset != NULL) + (o->weights != NULL) +
                      (o->list_order != NULL);

    if (lists > 1)
        return "only one of --subset, --weights and --order can be";
    if ((o->subset || o->list_order) &&
        (o->order.num_samples || o->order.replacement))
        return "--num-samples and --replacement go with no list of indices";
    if (o->loader.shuffle &&
        (lists || o->order.num_samples || o->order.replacement))
        return "--shuffle goes with no other sampler";
    return NULL;
}

bool pfi_cli_seed_is_idle(const struct pfi_cli_options *o)
{
    return o->seed_given && !o->loader.shuffle && !o->order.replacement &&
           !o->order.num_samples && !o->subset && !o->weights &&
           !o->recipe.random_crop && !(o->recipe.flip > 0);
}

/* ------------------------------------------------------------------- lists --- */

/* A text of numbers with blanks between. */
struct numbers {
    const char *path;
    char *text;
    size_t most; /* of numbers, and of lines */
};

static int fail(const char *path, size_t line, const char *what)
{
    if (line)
        pfi_cli_say("pinfold: %s, line %zu: %s", path, line, what);
    else
        pfi_cli_say("pinfold: %s: %s", path, what);
    return PFI_CLI_FAILED;
}

static int read_numbers(struct numbers *numbers, const char *path)
{
    size_t size = 0;
    pinfold_error err;

    *numbers = (struct numbers){.path = path};
    numbers->text = pfi_cli_read_file(path, PFI_CLI_MOST_TEXT, &size, &err);
    if (!numbers->text)
        return fail(path, 0, err.message);
    if (strlen(numbers->text) != size)
        return fail(path, 0, "not a text of numbers");
    numbers->most = size / 2 + 1;
    return PFI_CLI_OK;
}

/* Skips blanks; counts the line ends among them. */
static char *skip_blanks(char *at, size_t *line)
{
    for (; *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'; at++)
        *line += *at == '\n';
    return at;
}

static bool ends_word(char c)
{
    return !c || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Indices, and how many stand on each line that has any. */
static int parse_indices(const struct numbers *numbers,
                         struct pfi_cli_order *order, int64_t *indices,
                         int32_t *sizes)
{
    pinfold_order *const o = &order->order;
    size_t line = 1, last = 0;
    char *at = skip_blanks(numbers->text, &line), *end;

    for (; *at; at = skip_blanks(end, &line)) {
        errno = 0;
        indices[o->n_indices] = strtoll(at, &end, 10);
        if (end == at || !ends_word(*end) || errno)
            return fail(numbers->path, line, "not a whole number of 64 bits");
        o->n_indices++;
        if (line != last)
            sizes[o->n_batches++] = 0;
        last = line;
        if (sizes[o->n_batches - 1]++ == INT32_MAX)
            return fail(numbers->path, line, "too many for a batch");
    }
    return PFI_CLI_OK;
}

static int parse_weights(const struct numbers *numbers,
                         struct pfi_cli_order *order, double *weights)
{
    size_t line = 1;
    char *at = skip_blanks(numbers->text, &line), *end;

    for (; *at; at = skip_blanks(end, &line)) {
        weights[order->order.n_weights] = strtod(at, &end);
        if (end == at || !ends_word(*end))
            return fail(numbers->path, line, "not a number");
        order->order.n_weights++;
    }
    return PFI_CLI_OK;
}

static int open_weights(struct pfi_cli_order *order,
                        const struct numbers *numbers)
{
    double *const weights = calloc(numbers->most, sizeof(*weights));

    order->weights = weights;
    if (!weights)
        return fail(numbers->path, 0, "no memory");
    order->order.weights = weights;
    order->order.replacement = 0;
    order->order.sampler = PINFOLD_SAMPLER_WEIGHTED;
    return parse_weights(numbers, order, weights);
}

/* More than one index on a line makes each line a batch. */
static int open_indices(struct pfi_cli_order *order,
                        const struct numbers *numbers, bool subset)
{
    int64_t *const indices = calloc(numbers->most, sizeof(*indices));
    int32_t *const sizes = calloc(numbers->most, sizeof(*sizes));
    pinfold_order *const o = &order->order;
    int code;

    order->indices = indices;
    order->sizes = sizes;
    if (!indices || !sizes)
        return fail(numbers->path, 0, "no memory");
    code = parse_indices(numbers, order, indices, sizes);
    o->indices = indices;
    if (!subset && o->n_batches < o->n_indices) {
        o->batch_sizes = sizes;
        o->sampler = PINFOLD_SAMPLER_BATCHES;
        return code;
    }
    o->n_batches = 0;
    o->sampler = subset ? PINFOLD_SAMPLER_SUBSET : PINFOLD_SAMPLER_LIST;
    return code;
}

int pfi_cli_order_open(struct pfi_cli_order *order,
                       const struct pfi_cli_options *o)
{
    const char *const path = o->subset    ? o->subset
                             : o->weights ? o->weights
                                          : o->list_order;
    struct numbers numbers;
    int code;

    *order = (struct pfi_cli_order){.order = o->order};
    order->order.struct_size = sizeof(order->order);
    if (order->order.num_samples || order->order.replacement)
        order->order.sampler = PINFOLD_SAMPLER_RANDOM;
    if (!path)
        return PFI_CLI_OK;
    code = read_numbers(&numbers, path);
    if (!code)
        code = o->weights ? open_weights(order, &numbers)
                          : open_indices(order, &numbers, o->subset != NULL);
    free(numbers.text);
    if (code)
        pfi_cli_order_close(order);
    return code;
}

void pfi_cli_order_close(struct pfi_cli_order *order)
{
    free(order->indices);
    free(order->weights);
    free(order->sizes);
    *order = (struct pfi_cli_order){0};
}
