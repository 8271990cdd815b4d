/* SPDX-License-Identifier: Apache-2.0
 * pinfold verify: a data set against the checksums of make-golden. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/golden.h"
#include "src/cli/lists.h"
#include "src/cli/run.h"
#include "src/cli/sample_file.h"
#include "src/cli/sha256.h"
#include "src/cli/text.h"

/* What pinfold makes of a sample in one pipeline. */
struct pfi_cli_made {
    pinfold_status status;
    char u8[65], f32[65], why[200];
};

struct verify {
    const struct pfi_cli_options *o;
    struct pfi_cli_golden golden;
    pinfold_dataset *dataset;
    int64_t n_samples;
    char **names;    /* [samples] escaped paths */
    int64_t *sorted; /* [samples] by name */
    bool *listed;    /* [samples] */
    long long equal, differ, missing, refused, accepted;
};

static int no_memory(void)
{
    (void)fputs("pinfold: no memory\n", stderr);
    return PFI_CLI_FAILED;
}

/* ----------------------------------------------------------------- loading ---
 */

static void take_batch(struct pfi_cli_golden_pipeline *p,
                       const pinfold_batch *batch, bool u8)
{
    const size_t size = batch->size / (size_t)batch->count;

    for (int32_t i = 0; i < batch->count; i++) {
        struct pfi_cli_made *const made = &p->made[batch->indices[i]];
        pinfold_error err;

        /* Another pass does not make up for it. */
        if (made->status)
            continue;
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
static int run_pass(struct verify *v, struct pfi_cli_golden_pipeline *p,
                    bool u8)
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
            return no_memory();
    }
    if (!v->names || !v->sorted || !v->listed)
        return no_memory();
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

/* ---------------------------------------------------------------- verdicts ---
 */

static void report(const char *verdict, const struct pfi_cli_golden_row *row,
                   const char *why, long long *count)
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

static struct pfi_cli_golden_pipeline *find_pipeline(const struct verify *v,
                                                     const char *name)
{
    for (int i = 0; i < v->golden.n_pipelines; i++)
        if (!strcmp(v->golden.pipelines[i].name, name))
            return &v->golden.pipelines[i];
    return NULL;
}

/* NULL, or why the picture's size is not known to be the row's. */
static const char *wrong_size(const struct verify *v,
                              const struct pfi_cli_golden_row *row,
                              const struct pfi_cli_golden_pipeline *p)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    const char *wrong = NULL;
    pinfold_status status;
    pinfold_error err;
    size_t size;
    void *const data =
        pfi_cli_sample_read(v->dataset, row->sample,
                            p->options.recipe.max_file, &size, &err);

    if (!data && err.status == PINFOLD_E_MEMORY)
        return "no memory";
    if (!data)
        return err.sys_code ? strerror(err.sys_code)
                            : "the picture cannot be read";
    status = pinfold_plan_picture(&p->options.recipe, data, size, &plan, NULL);
    if (status == PINFOLD_E_MEMORY)
        wrong = "no memory";
    else if (status || plan.width != row->width || plan.height != row->height)
        wrong = "the picture's size";
    free(data);
    return wrong;
}

/* A row that says the reference refuses: every pipeline here must, too. */
static void judge_error(struct verify *v, const struct pfi_cli_golden_row *row)
{
    for (int i = 0; i < v->golden.n_pipelines; i++) {
        if (!v->golden.pipelines[i].made[row->sample].status) {
            report("accepted", row, "the reference refuses it", &v->accepted);
            return;
        }
    }
    v->equal++;
}

static void judge_made(struct verify *v, const struct pfi_cli_golden_row *row,
                       const struct pfi_cli_golden_pipeline *p)
{
    const struct pfi_cli_made *const made = &p->made[row->sample];
    const char *const wrong = made->status ? NULL : wrong_size(v, row, p);

    if (made->status == PINFOLD_E_UNSUPPORTED ||
        made->status == PINFOLD_E_LIMIT)
        report("refused", row, made->why, &v->refused);
    else if (made->status)
        report("differ", row, made->why, &v->differ);
    else if (wrong)
        report("differ", row, wrong, &v->differ);
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

    for (size_t i = 0; i < v->golden.n_rows; i++) {
        struct pfi_cli_golden_row *const row = &v->golden.rows[i];
        const bool error = !strcmp(row->pipeline, "error");
        const struct pfi_cli_golden_pipeline *const p =
            find_pipeline(v, row->pipeline);

        if (!error && !p)
            return pfi_cli_golden_wrong(&v->golden, row->line,
                                        "a pipeline that is not defined");
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
        const struct pfi_cli_golden_row row = {.path = v->names[i],
                                               .pipeline = "-"};

        if (!v->listed[i])
            report("differ", &row, "not listed in the golden file", &v->differ);
    }
}

/* ------------------------------------------------------------------ command
 * --- */

static int run_verify(struct verify *v)
{
    pinfold_error err;
    int code = pfi_cli_golden_read(&v->golden, v->o);

    if (code)
        return code;
    if (pfi_cli_dataset_open(&v->dataset, v->o, &err))
        return pfi_cli_fail(&err);
    v->n_samples = pinfold_dataset_size(v->dataset);
    code = index_names(v);
    for (int i = 0; !code && i < v->golden.n_pipelines; i++) {
        struct pfi_cli_golden_pipeline *const p = &v->golden.pipelines[i];

        p->made = calloc((size_t)v->n_samples + 1, sizeof(*p->made));
        if (!p->made)
            return no_memory();
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
    return v->differ || v->missing || v->refused || v->accepted ? PFI_CLI_FAILED
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
    for (int i = 0; i < v.golden.n_pipelines; i++)
        free(v.golden.pipelines[i].made);
    for (int64_t i = 0; v.names && i < v.n_samples; i++)
        free(v.names[i]);
    free(v.names);
    free(v.sorted);
    free(v.listed);
    pfi_cli_golden_end(&v.golden);
    pinfold_dataset_close(v.dataset);
    return code;
}
