/* SPDX-License-Identifier: Apache-2.0
 * What the formats of an export share. */
#ifndef PFI_CLI_EXPORT_H
#define PFI_CLI_EXPORT_H

#include "src/cli/options.h"
#include "src/cli/part.h"

struct pfi_cli_export {
    const struct pfi_cli_options *o;
    const pinfold_dataset *dataset;
    int64_t shape[4]; /* of all images, in the recipe's layout */
    size_t sample_bytes;
    int64_t written; /* samples so far; the arrays below hold as many */
    long long bad;
    int64_t *indices, *labels; /* [shape[0]] */
    int32_t *statuses;
    void *state; /* the format's */
};

/* A format.  Each function but close prints what went wrong and returns an exit
 * status; finish writes the rest and gives every file its name; close accepts
 * whatever open left and removes what has not got its name. */
struct pfi_cli_exporter {
    int (*open)(struct pfi_cli_export *e);
    int (*write)(struct pfi_cli_export *e, const pinfold_batch *batch);
    int (*finish)(struct pfi_cli_export *e);
    void (*close)(struct pfi_cli_export *e);
};

extern const struct pfi_cli_exporter pfi_cli_export_npy;
extern const struct pfi_cli_exporter pfi_cli_export_safetensors;
extern const struct pfi_cli_exporter pfi_cli_export_raw;
extern const struct pfi_cli_exporter pfi_cli_export_npy_each;

/* Prints "pinfold: TARGET[/NAME]: ..." for errno. */
int pfi_cli_export_errno(const struct pfi_cli_export *e, const char *name);
/* Makes the folder TARGET where it is not there and opens it; refuses one that
 * holds an export unless it is forced.  Below 0 after printing why. */
int pfi_cli_export_folder(const struct pfi_cli_export *e);
/* Removes the files of an earlier export of any format, its manifest first; an
 * earlier one stays whole until here, and then does not look so.  False with
 * errno set. */
bool pfi_cli_export_forget(int folder);
/* The folder that holds TARGET, and TARGET's own name in it (the caller frees
 * it).  Below 0 after printing why. */
int pfi_cli_export_parent(const struct pfi_cli_export *e, char **name);

/* The labels in the type that was asked for; false with errno set. */
bool pfi_cli_export_write_labels(const struct pfi_cli_export *e, FILE *out);
/* Members "classes" and "samples" (path, label, index, status) of a manifest.
 */
void pfi_cli_export_write_samples(const struct pfi_cli_export *e, FILE *out);

#endif
