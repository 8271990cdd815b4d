/* SPDX-License-Identifier: Apache-2.0
 * pinfold verify: a data set against the checksums of make-golden. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/lists.h"
#include "src/cli/run.h"
#include "src/cli/sha256.h"
#include "src/cli/text.h"

#define MAX_PIPELINES 64
#define MAX_WORDS 256 /* of one pipeline's options */

/* One line of the golden file; strings point into its text. */
struct row {
    const char *path, *pipeline, *u8, *f32;
    long long label, width, height;
    size_t line;
    int64_t sample; /* in the data set, or -1 */
};

/* What pinfold makes of a sample in one pipeline. */
struct made {
    pinfold_status status;
    char u8[65], f32[65], why[200];
};

struct pipeline {
    const char *name;
    struct pfi_cli_options options;
    struct made *made; /* [samples] */
};

struct verify {
    const struct pfi_cli_options *o;
    char *text;
    struct row *rows;
    size_t n_rows;
    struct pipeline *pipelines;
    int n_pipelines;
    pinfold_dataset *dataset;
    int64_t n_samples;
    char **names; /* [samples] escaped paths */
    int64_t *sorted; /* [samples] by name */
    bool *listed;    /* [samples] */
    long long equal, differ, missing, refused, accepted;
};

static int complain(const struct verify *v, size_t line, const char *what)
{
    pfi_cli_say("pinfold: %s, line %zu: %s", v->o->arguments[1], line, what);
    return PFI_CLI_FAILED;
}

/* ------------------------------------------------------------ golden file --- */

static int take_pipeline(struct verify *v, char *line, size_t number)
{
    char *const tab = strchr(line, '\t');
    char *words[MAX_WORDS], *rest = NULL;
    int n = 0;
    struct pipeline *p;

    if (!tab || v->n_pipelines == MAX_PIPELINES)
        return complain(v, number, "not a pipeline's name and options");
    *tab = '\0';
    for (char *word = strtok_r(tab + 1, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        if (n == MAX_WORDS)
            return complain(v, number, "more than 256 words");
        words[n++] = word;
    }
    p = &v->pipelines[v->n_pipelines++];
    p->name = line;
    p->options = *v->o;
    p->options.n_arguments = 0;
    if (!pfi_cli_options_parse(&p->options, n, words) || p->options.n_arguments)
        return complain(v, number, "not options of pinfold");
    p->options.n_arguments = v->o->n_arguments;
    memcpy(p->options.arguments, v->o->arguments, sizeof(v->o->arguments));
    return PFI_CLI_OK;
}

static bool to_count(const char *text, long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static int take_row(struct verify *v, char *line, size_t number)
{
    char *fields[7];
    struct row *const row = &v->rows[v->n_rows];

    for (int i = 0; i < 7; i++) {
        fields[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
        if ((line == NULL) != (i == 6))
            return complain(v, number, "not seven fields");
    }
    *row = (struct row){
        .path = fields[0],
        .pipeline = fields[2],
        .u8 = fields[5],
        .f32 = fields[6],
        .line = number,
        .sample = -1,
    };
    if (!to_count(fields[1], &row->label) ||
        !to_count(fields[3], &row->width) ||
        !to_count(fields[4], &row->height))
        return complain(v, number, "class, width or height is not a number");
    v->n_rows++;
    return PFI_CLI_OK;
}

static int take_line(struct verify *v, char *line, size_t number)
{
    static const char pipeline[] = "# pipeline ";

    if (!strncmp(line, pipeline, strlen(pipeline)))
        return take_pipeline(v, line + strlen(pipeline), number);
    return *line == '#' || !*line ? PFI_CLI_OK : take_row(v, line, number);
}

static int read_golden(struct verify *v)
{
    const char *const path = v->o->arguments[1];
    size_t size = 0, lines = 1, number = 1;
    void *const bytes = pfi_cli_read_file(path, &size);

    if (!bytes) {
        pfi_cli_say("pinfold: %s: %s", path, strerror(errno));
        return PFI_CLI_FAILED;
    }
    v->text = realloc(bytes, size + 1);
    if (!v->text) {
        free(bytes);
        return complain(v, 0, "no memory");
    }
    v->text[size] = '\0';
    for (size_t i = 0; i < size; i++)
        lines += v->text[i] == '\n';
    v->rows = calloc(lines, sizeof(*v->rows));
    v->pipelines = calloc(MAX_PIPELINES, sizeof(*v->pipelines));
    if (!v->rows || !v->pipelines)
        return complain(v, 0, "no memory");
    for (char *line = v->text; line; number++) {
        char *const end = strchr(line, '\n');

        if (end)
            *end = '\0';
        if (take_line(v, line, number))
            return PFI_CLI_FAILED;
        line = end ? end + 1 : NULL;
    }
    return v->n_rows && v->n_pipelines
               ? PFI_CLI_OK
               : complain(v, number, "no pipeline or no row");
}

/* ----------------------------------------------------------------- loading --- */

static void take_batch(struct pipeline *p, const pinfold_batch *batch, bool u8)
{
    const size_t size = batch->size / (size_t)batch->count;

    for (int32_t i = 0; i < batch->count; i++) {
        struct made *const made = &p->made[batch->indices[i]];
        pinfold_error err;

        made->status = batch->statuses[i];
        if (made->status) {
            pinfold_batch_error(batch, i, &err);
            (void)snprintf(made->why, sizeof(made->why), "%.190s", err.message);
        } else {
            pfi_cli_sha256((const char *)batch->data + (size_t)i * size, size,
                           u8 ? made->u8 : made->f32);
        }
    }
}

/* One pass over all samples, as u8 pixels or as the f32 tensor. */
static int run_pass(struct verify *v, struct pipeline *p, bool u8)
{
    pinfold_loader_options options = p->options.loader;
    pinfold_recipe recipe = p->options.recipe;
    const pinfold_batch *batch;
    pinfold_loader *loader;
    pinfold_status status;
    pinfold_error err;

    recipe.dtype = u8 ? PINFOLD_U8 : PINFOLD_F32;
    recipe.layout = u8 ? PINFOLD_NHWC : PINFOLD_NCHW;
    options.recipe = &recipe;
    options.batch_size = options.batch_size ? options.batch_size : 32;
    if (pinfold_loader_open(&loader, v->dataset, &options, &err))
        return pfi_cli_fail(&err);
    status = pinfold_loader_start(loader, 0, &err);
    while (!status) {
        status = pfi_cli_next(loader, &batch, &err);
        if (status)
            break;
        take_batch(p, batch, u8);
        pinfold_batch_release(batch);
    }
    pfi_cli_loader_close(loader);
    if (status == PINFOLD_TIMEOUT)
        return PFI_CLI_FAILED;
    return status == PINFOLD_END ? PFI_CLI_OK : pfi_cli_fail(&err);
}

static char **sort_names; /* for qsort only */

static int compare_names(const void *a, const void *b)
{
    return strcmp(sort_names[*(const int64_t *)a],
                  sort_names[*(const int64_t *)b]);
}

static int index_names(struct verify *v)
{
    const size_t n = (size_t)v->n_samples;

    v->names = calloc(n + 1, sizeof(*v->names));
    v->sorted = calloc(n + 1, sizeof(*v->sorted));
    v->listed = calloc(n + 1, sizeof(*v->listed));
    for (size_t i = 0; v->names && v->sorted && i < n; i++) {
        v->names[i] =
            pfi_cli_escape_name(pinfold_dataset_path(v->dataset, (int64_t)i));
        v->sorted[i] = (int64_t)i;
        if (!v->names[i])
            return complain(v, 0, "no memory");
    }
    if (!v->names || !v->sorted || !v->listed)
        return complain(v, 0, "no memory");
    sort_names = v->names;
    qsort(v->sorted, n, sizeof(*v->sorted), compare_names);
    return PFI_CLI_OK;
}

static int64_t find_sample(const struct verify *v, const char *name)
{
    int64_t low = 0, high = v->n_samples - 1;

    while (low <= high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = strcmp(name, v->names[v->sorted[middle]]);

        if (order == 0)
            return v->sorted[middle];
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return -1;
}

/* ---------------------------------------------------------------- verdicts --- */

static void report(const char *verdict, const struct row *row, const char *why,
                   long long *count)
{
    (void)printf("%s\t", verdict);
    pfi_cli_print_text(stdout, row->path);
    (void)fputc('\t', stdout);
    pfi_cli_print_text(stdout, row->pipeline);
    (void)fputc('\t', stdout);
    pfi_cli_print_name(stdout, why);
    (void)fputc('\n', stdout);
    ++*count;
}

static struct pipeline *find_pipeline(const struct verify *v, const char *name)
{
    for (int i = 0; i < v->n_pipelines; i++)
        if (!strcmp(v->pipelines[i].name, name))
            return &v->pipelines[i];
    return NULL;
}

/* Whether the picture's size is the row's. */
static bool right_size(const struct verify *v, const struct row *row,
                       const struct pipeline *p)
{
    const char *const root = v->o->arguments[0];
    const char *const path = pinfold_dataset_path(v->dataset, row->sample);
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    const size_t room = strlen(root) + strlen(path) + 2;
    char *const full = malloc(room);
    bool right = false;
    void *data;
    size_t size;

    if (!full)
        return false;
    (void)snprintf(full, room, "%s/%s", root, path);
    data = pfi_cli_read_file(full, &size);
    free(full);
    if (data && !pinfold_plan_picture(&p->options.recipe, data, size, &plan,
                                      NULL))
        right = plan.width == row->width && plan.height == row->height;
    free(data);
    return right;
}

/* A row that says the reference refuses: every pipeline here must, too. */
static void judge_error(struct verify *v, const struct row *row)
{
    for (int i = 0; i < v->n_pipelines; i++) {
        if (!v->pipelines[i].made[row->sample].status) {
            report("accepted", row, "the reference refuses it", &v->accepted);
            return;
        }
    }
    v->equal++;
}

static void judge_made(struct verify *v, const struct row *row,
                       const struct pipeline *p)
{
    const struct made *const made = &p->made[row->sample];

    if (made->status == PINFOLD_E_UNSUPPORTED || made->status == PINFOLD_E_LIMIT)
        report("refused", row, made->why, &v->refused);
    else if (made->status)
        report("differ", row, made->why, &v->differ);
    else if (!right_size(v, row, p))
        report("differ", row, "the picture's size", &v->differ);
    else if (strcmp(made->u8, row->u8) != 0)
        report("differ", row, "the pixels after resize and crop", &v->differ);
    else if (strcmp(made->f32, row->f32) != 0)
        report("differ", row, "the tensor", &v->differ);
    else
        v->equal++;
}

static int judge(struct verify *v)
{
    int64_t last = -1;

    for (size_t i = 0; i < v->n_rows; i++) {
        struct row *const row = &v->rows[i];
        const bool error = !strcmp(row->pipeline, "error");
        const struct pipeline *const p = find_pipeline(v, row->pipeline);

        if (!error && !p)
            return complain(v, row->line, "a pipeline that is not defined");
        row->sample = find_sample(v, row->path);
        if (row->sample < 0) {
            report("missing", row, "not in the data set", &v->missing);
            continue;
        }
        v->listed[row->sample] = true;
        if (row->sample < last)
            report("differ", row, "its place in the order", &v->differ);
        else if (pinfold_dataset_label(v->dataset, row->sample) != row->label)
            report("differ", row, "the label", &v->differ);
        else if (error)
            judge_error(v, row);
        else
            judge_made(v, row, p);
        last = row->sample;
    }
    return PFI_CLI_OK;
}

static void judge_unlisted(struct verify *v)
{
    for (int64_t i = 0; i < v->n_samples; i++) {
        const struct row row = {.path = v->names[i], .pipeline = "-"};

        if (!v->listed[i])
            report("differ", &row, "not listed in the golden file", &v->differ);
    }
}

/* ------------------------------------------------------------------ command --- */

static int run_verify(struct verify *v)
{
    pinfold_error err;
    int code = read_golden(v);

    if (code)
        return code;
    if (pfi_cli_dataset_open(&v->dataset, v->o, &err))
        return pfi_cli_fail(&err);
    v->n_samples = pinfold_dataset_size(v->dataset);
    code = index_names(v);
    for (int i = 0; !code && i < v->n_pipelines; i++) {
        struct pipeline *const p = &v->pipelines[i];

        p->made = calloc((size_t)v->n_samples + 1, sizeof(*p->made));
        if (!p->made)
            return complain(v, 0, "no memory");
        code = run_pass(v, p, true);
        if (!code)
            code = run_pass(v, p, false);
    }
    if (!code)
        code = judge(v);
    if (code)
        return code;
    judge_unlisted(v);
    (void)printf("verify: %lld equal, %lld differ, %lld missing, %lld refused, "
                 "%lld accepted\n",
                 v->equal, v->differ, v->missing, v->refused, v->accepted);
    return v->differ || v->missing || v->refused || v->accepted
               ? PFI_CLI_FAILED
               : PFI_CLI_OK;
}

int pfi_cli_verify(const struct pfi_cli_options *o)
{
    struct verify v = {.o = o};
    int code;

    if (!pfi_cli_have_sha256()) {
        (void)fputs("pinfold: built without libmd, which verify needs\n",
                    stderr);
        return PFI_CLI_FAILED;
    }
    if (o->orders)
        return pfi_cli_verify_orders(o);
    code = run_verify(&v);
    for (int i = 0; v.pipelines && i < v.n_pipelines; i++)
        free(v.pipelines[i].made);
    for (int64_t i = 0; v.names && i < v.n_samples; i++)
        free(v.names[i]);
    free(v.names);
    free(v.sorted);
    free(v.listed);
    free(v.pipelines);
    free(v.rows);
    free(v.text);
    pinfold_dataset_close(v.dataset);
    return code;
}
