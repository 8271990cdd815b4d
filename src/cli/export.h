/* SPDX-License-Identifier: Apache-2.0
 * What the formats of an export share. */
#ifndef PFI_CLI_EXPORT_H
#define PFI_CLI_EXPORT_H

#include "src/cli/options.h"
#include "src/cli/part.h"

struct pfi_cli_shard;

struct pfi_cli_export {
    const struct pfi_cli_options *o;
    const pinfold_dataset *dataset; /* NULL where shards are merged */
    struct pfi_cli_shard *shard;    /* NULL = all in one */
    const char **classes;           /* [n_classes] names */
    int64_t n_classes;
    int64_t shape[4]; /* of all images, in the recipe's layout */
    size_t sample_bytes;
    int64_t written; /* samples so far; the arrays below hold as many */
    long long bad;
    int64_t *indices, *labels; /* [shape[0]] */
    const char **paths;
    int32_t *statuses;
    void *state; /* the format's */
};

/* A format.  Each function but close prints what went wrong and returns an exit
 * status; finish writes the rest and gives every file its name; close accepts
 * whatever open left and removes what has not got its name.  `images` is where
 * samples are written; after open it stands before the first. */
struct pfi_cli_exporter {
    int (*open)(struct pfi_cli_export *e);
    int (*write)(struct pfi_cli_export *e, const pinfold_batch *batch);
    int (*finish)(struct pfi_cli_export *e);
    void (*close)(struct pfi_cli_export *e);
    FILE *(*images)(const struct pfi_cli_export *e);
    bool hashes; /* write has to see every byte */
};

extern const struct pfi_cli_exporter pfi_cli_export_npy;
extern const struct pfi_cli_exporter pfi_cli_export_safetensors;
extern const struct pfi_cli_exporter pfi_cli_export_raw;
extern const struct pfi_cli_exporter pfi_cli_export_npy_each;

/* The format that the options name. */
const struct pfi_cli_exporter *
pfi_cli_export_format(const struct pfi_cli_options *o);
/* Memory for the numbers and names of shape[0] samples. */
int pfi_cli_export_allocate(struct pfi_cli_export *e);
void pfi_cli_export_free(struct pfi_cli_export *e);
/* Opens the file of images; that of a shard stays for the next run. */
int pfi_cli_export_open_images(const struct pfi_cli_export *e,
                               struct pfi_cli_part *part, int folder,
                               const char *name);

/* Prints "pinfold: TARGET[/NAME]: cannot write: " and why by errno. */
int pfi_cli_export_errno(const struct pfi_cli_export *e, const char *name);
/* Whether the name is taken in the folder, or that cannot be told; prints why
 * nothing can be written there. */
bool pfi_cli_export_there(const struct pfi_cli_export *e, int folder,
                          const char *name, const char *what);
/* Makes the folder TARGET where it is not there and opens it; refuses one that
 * holds an export unless it is forced.  Below 0 after printing why. */
int pfi_cli_export_folder(const struct pfi_cli_export *e);
/* Removes the files of an earlier export of any format, its manifest first; an
 * earlier one stays whole until here, and then does not look so. */
int pfi_cli_export_forget(const struct pfi_cli_export *e, int folder);
/* The folder that holds TARGET, and TARGET's own name in it (the caller frees
 * it).  Below 0 after printing why. */
int pfi_cli_export_parent(const struct pfi_cli_export *e, char **name);

/* The labels in the type that was asked for; false with errno set. */
bool pfi_cli_export_write_labels(const struct pfi_cli_export *e, FILE *out);
/* Members "classes" and "samples" (path, label, index, status) of a manifest.
 */
void pfi_cli_export_write_samples(const struct pfi_cli_export *e, FILE *out);

#endif
