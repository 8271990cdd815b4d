/* SPDX-License-Identifier: Apache-2.0
 * One rank's share of an export, which a killed run leaves so that the next one
 * goes on with it.
 *
 * Files of rank 1 of 4 under --format npy, in OUT:
 *   images-00001-of-00004.npy, labels-..., indices-..., statuses-... .npy,
 *   classes-... .txt, files-... .txt: as an export of all has them
 *   manifest-00001-of-00004.json: is written last; where it is, they are whole
 * and while it is being made:
 *   .manifest-00001-of-00004.json.lock: locked by the one who writes
 *   .images-00001-of-00004.npy.part: the images so far
 *   .manifest-00001-of-00004.json.journal: what the manifest will start with,
 *   "written" (the samples whose images are on the disk), the bad ones among
 *   them, and "state" (pinfold_loader_state() behind them).  It is replaced
 *   block by block. */
#ifndef PFI_CLI_SHARD_H
#define PFI_CLI_SHARD_H

#include "src/cli/export.h"
#include "src/cli/json.h"
#include "src/cli/place.h"

#define PFI_CLI_SHARD_FILES 8

struct pfi_cli_shard {
    const struct pfi_cli_options *o;
    struct pfi_cli_place place;
    struct pfi_cli_suffix suffix;
    char *images, *part, *manifest, *journal, *lock; /* names in the place */
    const char *files[PFI_CLI_SHARD_FILES]; /* that the manifest lists */
    int n_files;
    int lock_fd;
    uint64_t dataset_hash, order_hash;
    int64_t dataset_size, order_size; /* of all ranks */
    int64_t *indices, shape[4];       /* of this one: [shape[0]] */
    bool batches;  /* an order of batches, of which each rank gets whole ones */
    long long bad; /* known when the manifest is written */
    bool whole;    /* an earlier run finished it: there is nothing to be done */
    /* Where an earlier run stopped; 0 = at the start. */
    char *stopped; /* its journal */
    int64_t written;
    unsigned char state[PINFOLD_STATE_MAX];
    size_t state_size;
    size_t images_offset; /* in the images' file */
    int64_t block_start;  /* samples and batches of the block in work */
    int block_batches;
};

/* Each prints what went wrong and returns an exit status. */

/* Locks the shard, and looks what is there of it already.  o->order has a
 * world. */
int pfi_cli_shard_open(struct pfi_cli_shard *s, const struct pfi_cli_options *o,
                       const pinfold_dataset *dataset);
/* Restores the samples that are written, and puts the stream of images, which
 * stands where they start, behind them. */
int pfi_cli_shard_start(struct pfi_cli_shard *s, struct pfi_cli_export *e,
                        FILE *images);
/* Ends a block where enough was written, or where `now`: from then on it is not
 * made again. */
int pfi_cli_shard_block(struct pfi_cli_shard *s, const struct pfi_cli_export *e,
                        FILE *images, pinfold_loader *loader, bool now);
/* Writes the manifest behind the format's finish. */
int pfi_cli_shard_finish(struct pfi_cli_shard *s,
                         const struct pfi_cli_export *e);
/* Accepts whatever a failed open left. */
void pfi_cli_shard_close(struct pfi_cli_shard *s);

/* ---------------------------------------------------------- shard_text.c ---
 */

/* The journal and the manifest.  Each prints what else than the writing went
 * wrong and returns an exit status. */
int pfi_cli_shard_write_journal(FILE *out, const struct pfi_cli_shard *s,
                                const struct pfi_cli_export *e);
int pfi_cli_shard_write_manifest(FILE *out, const struct pfi_cli_shard *s,
                                 const struct pfi_cli_export *e);
/* Takes from the journal `written` and `state`; false where it is damaged. */
bool pfi_cli_shard_read_journal(struct pfi_cli_shard *s);
/* The statuses of the samples written, and how many are bad. */
bool pfi_cli_shard_read_statuses(const struct pfi_cli_shard *s,
                                 struct pfi_cli_export *e);
/* The name of the first member, of those that shards of one export share (and
 * where `same_rank`, runs of one rank), that differs; NULL = none. */
const char *pfi_cli_shard_differs(struct pfi_cli_json a, struct pfi_cli_json b,
                                  bool same_rank);
/* The same for what this run makes; false without memory. */
bool pfi_cli_shard_differs_from(const struct pfi_cli_shard *s, const char *text,
                                const char **differs);

bool pfi_cli_shard_status(struct pfi_cli_json *t, pinfold_status *out);

/* FNV-1a, 64 bits; starts with PFI_CLI_HASH. */
#define PFI_CLI_HASH 0xCBF29CE484222325u
uint64_t pfi_cli_hash(uint64_t hash, const void *data, size_t size);

#endif
