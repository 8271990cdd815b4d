/* SPDX-License-Identifier: Apache-2.0
 * Headers and pixels of all samples. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/crew.h"
#include "src/cli/run.h"
#include "src/cli/sample_file.h"
#include "src/cli/stats.h"

/* Bad samples that are named; the rest is counted.  The first bytes are enough
 * of a JPEG, whose header is whole or an error; what is cut off elsewhere may
 * change the mode. */
enum { SHOWN_BAD = 10, HEAD = 32768 };

struct job {
    struct pfi_cli_dataset_stats *s;
    pinfold_recipe recipe;
    size_t size; /* of a sample; 0 = decode nothing */
    pthread_mutex_t lock; /* of s->values */
};

static void add_pixels(struct job *job, const unsigned char *rgb)
{
    struct pfi_cli_values own = {0};

    for (size_t i = 0; i < job->size; i += 3)
        for (int c = 0; c < 3; c++)
            own.count[c][rgb[i + (size_t)c]]++;
    (void)pthread_mutex_lock(&job->lock);
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            job->s->values.count[c][v] += own.count[c][v];
    (void)pthread_mutex_unlock(&job->lock);
}

static pinfold_status look_at(struct job *job, struct pfi_cli_looked *out,
                              const void *file, size_t size, pinfold_error *err)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    pinfold_status status =
        pinfold_plan_picture(&job->recipe, file, size, &plan, err);
    unsigned char *sample;

    out->format = plan.format;
    out->mode = plan.mode;
    out->width = plan.width;
    out->height = plan.height;
    if (status || !job->size)
        return status;
    sample = malloc(job->size);
    if (!sample) {
        (void)snprintf(err->message, sizeof(err->message), "no memory");
        return PINFOLD_E_MEMORY;
    }
    status = pinfold_preprocess(&job->recipe, file, size, sample, job->size,
                                err);
    if (!status)
        add_pixels(job, sample);
    free(sample);
    return status;
}

static void look(void *cookie, int64_t i)
{
    struct job *const job = cookie;
    struct pfi_cli_looked *const out = &job->s->files[i];
    struct pfi_cli_head head = {.most = job->size ? SIZE_MAX : HEAD};
    pinfold_error err;
    void *file;

    do {
        file = pfi_cli_sample_head(job->s->dataset, i, job->recipe.max_file,
                                   &head, &err);
        out->status = file ? look_at(job, out, file, head.size, &err) : err.status;
        free(file);
        head.most = SIZE_MAX;
    } while (file && head.size < head.whole &&
             (out->status || strcmp(out->format, "JPEG") != 0));
    out->bytes = (int64_t)head.whole;
    if (out->status)
        out->message = strdup(err.message);
}

static void tell_bad(struct pfi_cli_dataset_stats *s)
{
    for (int64_t i = 0; i < pinfold_dataset_size(s->dataset); i++) {
        if (!s->files[i].status)
            continue;
        if (s->bad++ < SHOWN_BAD)
            pfi_cli_tell_bad(s->dataset, i,
                             s->files[i].message ? s->files[i].message
                                                 : "no reason kept");
    }
}

int pfi_cli_stats_look(struct pfi_cli_dataset_stats *s)
{
    const size_t n = (size_t)pinfold_dataset_size(s->dataset);
    struct job job = {.s = s,
                      .recipe = s->o->recipe,
                      .lock = PTHREAD_MUTEX_INITIALIZER};

    job.recipe.dtype = PINFOLD_U8;
    job.recipe.layout = PINFOLD_NHWC;
    if (!s->o->no_pixels &&
        pinfold_recipe_size(&job.recipe, 1, &job.size, NULL, NULL))
        return PFI_CLI_FAILED; /* main has asked the same */
    s->files = calloc(n + 1, sizeof(*s->files));
    if (!s->files) {
        (void)fputs("pinfold: out of memory for the samples\n", stderr);
        return PFI_CLI_FAILED;
    }
    if (!pfi_cli_crew_run(s->dataset, s->o, look, &job))
        return PFI_CLI_FAILED;
    tell_bad(s);
    return PFI_CLI_OK;
}
