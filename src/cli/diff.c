/* SPDX-License-Identifier: Apache-2.0
 * pinfold diff: two tensors, or a tensor and what a tree gives; where they
 * differ, and why. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/describe.h"
#include "src/cli/diff.h"
#include "src/cli/progress.h"
#include "src/cli/run.h"
#include "src/cli/text.h"

/* For files, folders and memory; 1 says that the tensors differ. */
#define TROUBLE PFI_CLI_USAGE

static int no_memory(void)
{
    (void)fputs("pinfold: no memory\n", stderr);
    return TROUBLE;
}

/* --------------------------------------------------------------- shapes --- */

static bool is_channels(int64_t n)
{
    return n == 1 || n == 3 || n == 4;
}

/* A tensor of rank 4 is pictures, one of rank 3 a single one, where one side
 * can be channels; 3 of them before 1 or 4, and NCHW before NHWC. */
static struct pfi_cli_shape shape_of(const struct pfi_cli_tensor *t)
{
    const int64_t *const s = t->shape + (t->rank == 4);
    struct pfi_cli_shape out = {.n = 1, .c = 1, .h = 1, .w = 1};

    if (t->rank == 3 || t->rank == 4) {
        const bool last =
            s[2] == 3 ? s[0] != 3 : s[0] != 3 && !is_channels(s[0]);

        if (is_channels(s[last ? 2 : 0]))
            return (struct pfi_cli_shape){
                .n = t->rank == 4 ? t->shape[0] : 1,
                .c = s[last ? 2 : 0],
                .h = s[last ? 0 : 1],
                .w = s[last ? 1 : 2],
                .nhwc = last,
                .pictures = true,
            };
    }
    if (t->rank > 0)
        out.n = t->shape[0];
    /* Sides beside a 0 have no bytes that would keep their product small. */
    for (int i = 1; i < t->rank; i++)
        out.w = t->bytes ? out.w * t->shape[i] : t->shape[i] ? out.w : 0;
    return out;
}

static const char *layout(const struct pfi_cli_shape *s)
{
    return s->nhwc ? "NHWC" : "NCHW";
}

/* Says how the shapes differ, and whether values can be compared nevertheless:
 * where only the layout or the number of samples does. */
static void compare_shapes(struct pfi_cli_diff *d)
{
    const struct pfi_cli_shape *const a = &d->a.shape, *const b = &d->b.shape;
    char *const out = d->mismatch;
    const size_t room = sizeof(d->mismatch);

    d->common = a->n < b->n ? a->n : b->n;
    d->comparable = a->c == b->c && a->h == b->h && a->w == b->w;
    if (a->pictures != b->pictures)
        (void)snprintf(out, room, "%s holds pictures, the other does not",
                       a->pictures ? "A" : "B");
    else if (a->c != b->c)
        (void)snprintf(out, room, "A has %lld channel%s, B %lld",
                       (long long)a->c, pfi_cli_plural(a->c, "s"),
                       (long long)b->c);
    else if (a->h == b->w && a->w == b->h && a->h != a->w)
        (void)snprintf(out, room,
                       "height and width are exchanged: A %lldx%lld, "
                       "B %lldx%lld",
                       (long long)a->h, (long long)a->w, (long long)b->h,
                       (long long)b->w);
    else if (!d->comparable)
        (void)snprintf(out, room,
                       "A's pictures are %lldx%lld (height x width), "
                       "B's %lldx%lld",
                       (long long)a->h, (long long)a->w, (long long)b->h,
                       (long long)b->w);
    else if (a->n != b->n)
        (void)snprintf(out, room,
                       "A has %lld sample%s, B %lld; the first %lld "
                       "%s compared",
                       (long long)a->n, pfi_cli_plural(a->n, "s"),
                       (long long)b->n, (long long)d->common,
                       d->common == 1 ? "was" : "were");
    else if (a->pictures && a->nhwc != b->nhwc)
        (void)snprintf(out, room, "A is %s, B %s; compared pixel by pixel",
                       layout(a), layout(b));
    /* Where a sample has no values, there may be any number of them. */
    if (!d->comparable || !a->c || !a->h || !a->w)
        d->common = 0;
    d->values = d->common ? a->c * a->h * a->w : 0;
}

/* ----------------------------------------------------------------- runs --- */

static int prepare(struct pfi_cli_diff *d, float **a, float **b)
{
    const size_t n = (size_t)d->values + 1;

    *a = calloc(n, sizeof(**a));
    *b = calloc(n, sizeof(**b));
    for (int i = 0; i < 2; i++)
        d->hashes[i] = calloc((size_t)d->common + 1, sizeof(*d->hashes[i]));
    return *a && *b && d->hashes[0] && d->hashes[1] ? PFI_CLI_OK : no_memory();
}

static const void *sample_of(const struct pfi_cli_side *side, int64_t i)
{
    return side->tensor->data +
           side->tensor->bytes / (size_t)side->shape.n * (size_t)i;
}

static int run_tensors(struct pfi_cli_diff *d, float *a, float *b)
{
    for (int64_t i = 0; i < d->common; i++) {
        if (pfi_cli_signal())
            return PFI_CLI_FAILED;
        pfi_cli_diff_widen(&d->a, sample_of(&d->a, i), a);
        pfi_cli_diff_widen(&d->b, sample_of(&d->b, i), b);
        if (!pfi_cli_diff_add(d, i, a, b))
            return no_memory();
    }
    return PFI_CLI_OK;
}

static int take_batch(struct pfi_cli_diff *d, const pinfold_batch *batch,
                      float *a, float *b)
{
    const size_t size = batch->size / (size_t)batch->count;

    for (int32_t i = 0; i < batch->count; i++) {
        const int64_t sample = batch->indices[i];

        if (sample >= d->common)
            continue;
        pfi_cli_diff_widen(&d->a, sample_of(&d->a, sample), a);
        pfi_cli_diff_widen(&d->b, (const char *)batch->data + (size_t)i * size,
                           b);
        if (!pfi_cli_diff_add(d, sample, a, b))
            return no_memory();
    }
    return PFI_CLI_OK;
}

static int run_tree(struct pfi_cli_diff *d, pinfold_loader *loader, float *a,
                    float *b)
{
    const pinfold_batch *batch;
    pinfold_status status = PINFOLD_OK;
    struct pfi_cli_bar bar;
    pinfold_error err;
    int code = PFI_CLI_OK;

    pfi_cli_bar_start(&bar, d->o, d->common);
    while (!code && d->count.samples < d->common) {
        status = pfi_cli_next(loader, &batch, &err);
        if (status)
            break;
        d->bad += pfi_cli_report_bad(batch, d->bad);
        code = take_batch(d, batch, a, b);
        pfi_cli_bar_add(&bar, batch->count);
        pinfold_batch_release(batch);
    }
    pfi_cli_bar_end(&bar);
    if (status < 0) {
        (void)pfi_cli_fail(&err);
        return TROUBLE;
    }
    return status == PINFOLD_TIMEOUT ? PFI_CLI_FAILED : code;
}

/* -------------------------------------------------------------- verdict --- */

static void find_causes(struct pfi_cli_diff *d)
{
    const struct pfi_cli_diff_count *const n = &d->count;

    if (n->differ == n->nan_a + n->nan_b) {
        pfi_cli_diff_cause(d, "nan", -1, "only NaN differs from numbers");
        return;
    }
    pfi_cli_diff_try_order(d);
    if (!d->n_causes)
        pfi_cli_diff_try_tensors(d);
    if (!d->n_causes)
        pfi_cli_diff_try_values(d);
    if (!d->n_causes && d->dataset)
        pfi_cli_diff_try_tree(d);
    if (!d->n_causes)
        pfi_cli_diff_try_neighbours(d);
}

static int conclude(struct pfi_cli_diff *d)
{
    const bool other_layout =
        d->comparable && d->a.shape.n == d->b.shape.n && d->mismatch[0];

    if (pfi_cli_signal())
        return PFI_CLI_FAILED;
    if (d->count.differ)
        find_causes(d);
    (d->o->json ? pfi_cli_diff_print_json : pfi_cli_diff_print)(d);
    return d->count.differ || !d->comparable || d->a.shape.n != d->b.shape.n ||
                   other_layout
               ? PFI_CLI_FAILED
               : PFI_CLI_OK;
}

static int compare(struct pfi_cli_diff *d, pinfold_loader *loader)
{
    float *a = NULL, *b = NULL;
    int code = PFI_CLI_OK;

    compare_shapes(d);
    if (d->comparable) {
        code = prepare(d, &a, &b);
        if (!code)
            code = loader ? run_tree(d, loader, a, b) : run_tensors(d, a, b);
    }
    if (!code)
        code = conclude(d);
    for (int k = 0; k < d->n_pairs; k++) {
        free(d->pairs[k].a);
        free(d->pairs[k].b);
    }
    free(d->hashes[0]);
    free(d->hashes[1]);
    free(a);
    free(b);
    return code;
}

/* The tree gives A's type, in its own order. */
static int against_tree(struct pfi_cli_diff *d)
{
    struct pfi_cli_options o = *d->o;
    struct pfi_cli_run run;
    pinfold_error err;
    int64_t shape[4];
    size_t bytes;
    int code;

    /* The tensor's own layout is no difference from a tree, which has none. */
    o.arguments[0] = o.arguments[1];
    o.recipe.dtype = d->a.dtype;
    o.recipe.layout = d->a.shape.nhwc ? PINFOLD_NHWC : PINFOLD_NCHW;
    if (!o.loader.batch_size)
        o.loader.batch_size = 32;
    if (pfi_cli_run_open(&run, &o))
        return TROUBLE;
    if (pinfold_recipe_size(&o.recipe, 1, &bytes, shape, &err)) {
        (void)pfi_cli_fail(&err);
        return pfi_cli_run_close(&run, TROUBLE);
    }
    d->o = &o;
    d->dataset = run.dataset;
    d->b.dtype = o.recipe.dtype;
    d->b.shape = (struct pfi_cli_shape){
        .n = pinfold_dataset_size(run.dataset),
        .c = 3,
        .h = shape[d->a.shape.nhwc ? 1 : 2],
        .w = shape[d->a.shape.nhwc ? 2 : 3],
        .nhwc = d->a.shape.nhwc,
        .pictures = true,
    };
    code = compare(d, run.loader);
    return pfi_cli_run_close(&run, code);
}

static int against_tensor(struct pfi_cli_diff *d)
{
    struct pfi_cli_tensor b;
    int code;

    if (!pfi_cli_tensor_open(&b, d->o->arguments[1], d->o->tensor))
        return TROUBLE;
    d->b.tensor = &b;
    d->b.dtype = b.dtype;
    d->b.shape = shape_of(&b);
    d->paths = d->paths ? d->paths : b.paths ? &b : NULL;
    code = compare(d, NULL);
    pfi_cli_tensor_close(&b);
    return code;
}

int pfi_cli_diff(const struct pfi_cli_options *o)
{
    struct pfi_cli_diff *const d = calloc(1, sizeof(*d));
    struct pfi_cli_tensor a;
    struct stat st;
    int code;

    if (!d)
        return no_memory();
    if (!pfi_cli_tensor_open(&a, o->arguments[0], o->tensor)) {
        free(d);
        return TROUBLE;
    }
    d->o = o;
    d->a = (struct pfi_cli_side){
        .name = o->arguments[0],
        .dtype = a.dtype,
        .shape = shape_of(&a),
        .tensor = &a,
    };
    d->b.name = o->arguments[1];
    d->paths = a.paths ? &a : NULL;
    if (stat(o->arguments[1], &st)) {
        pfi_cli_cannot(o->arguments[1], "read");
        code = TROUBLE;
    } else {
        code = S_ISDIR(st.st_mode) ? against_tree(d) : against_tensor(d);
    }
    pfi_cli_tensor_close(&a);
    free(d);
    return code;
}
