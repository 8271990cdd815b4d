/* SPDX-License-Identifier: Apache-2.0
 * The golden file of pinfold verify: pipelines, each with its options, and rows
 * of checksums. */
#ifndef PFI_CLI_GOLDEN_H
#define PFI_CLI_GOLDEN_H

#include "src/cli/options.h"

/* One row; strings point into the file's text. */
struct pfi_cli_golden_row {
    const char *path, *pipeline, *u8, *f32;
    long long label, width, height;
    size_t line;
    int64_t sample; /* -1; the verifier's: in the data set */
};

struct pfi_cli_made;

struct pfi_cli_golden_pipeline {
    const char *name;
    struct pfi_cli_options options;
    struct pfi_cli_made *made; /* NULL; the verifier's */
};

struct pfi_cli_golden {
    const struct pfi_cli_options *o; /* arguments[1] is the file */
    char *text;
    struct pfi_cli_golden_row *rows;
    size_t n_rows;
    struct pfi_cli_golden_pipeline *pipelines;
    int n_pipelines;
};

/* Reads the file, whose pipelines' options come on top of `o`.  On a mistake
 * prints it and returns the exit status; end accepts what is left then. */
int pfi_cli_golden_read(struct pfi_cli_golden *golden,
                        const struct pfi_cli_options *o);
void pfi_cli_golden_end(struct pfi_cli_golden *golden);

/* Prints what is wrong in a line of it, and returns the exit status. */
int pfi_cli_golden_wrong(const struct pfi_cli_golden *golden, size_t line,
                         const char *what);

#endif
