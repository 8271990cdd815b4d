/* SPDX-License-Identifier: Apache-2.0
 * All samples of a data set, looked at.  Where a sample's results go depends on
 * its index alone. */
#include <stdlib.h>

#include "src/cli/crew.h"
#include "src/cli/scan.h"

struct job {
    const pinfold_dataset *dataset;
    const pinfold_recipe *recipe;
    bool whole; /* decode them */
    struct pfi_cli_scanned *files; /* each its worker's until it is done */
};

static void look(void *cookie, int64_t i)
{
    const struct job *const job = cookie;

    pfi_cli_scan_file(&job->files[i], job->dataset, i, job->recipe,
                      job->whole);
}

struct pfi_cli_scanned *pfi_cli_scan_all(pinfold_dataset *dataset,
                                         const struct pfi_cli_options *o,
                                         bool whole)
{
    const int64_t n = pinfold_dataset_size(dataset);
    struct job job = {
        .dataset = dataset, .recipe = &o->recipe, .whole = whole};

    job.files = calloc((size_t)n + 1, sizeof(*job.files));
    if (!job.files) {
        (void)fputs("pinfold: out of memory for the samples\n", stderr);
        return NULL;
    }
    if (pfi_cli_crew_run(dataset, o, look, &job))
        return job.files;
    pfi_cli_scan_free(job.files, n);
    return NULL;
}

void pfi_cli_scan_free(struct pfi_cli_scanned *files, int64_t n)
{
    for (int64_t i = 0; files && i < n; i++)
        free(files[i].message);
    free(files);
}
