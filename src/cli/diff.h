/* SPDX-License-Identifier: Apache-2.0
 * What the parts of pinfold diff share. */
#ifndef PFI_CLI_DIFF_H
#define PFI_CLI_DIFF_H

#include "src/cli/options.h"
#include "src/cli/tensor.h"

/* Samples of c channels of h x w; a tensor that holds no pictures is samples of
 * 1 x 1 x w values. */
struct pfi_cli_shape {
    int64_t n, c, h, w;
    bool nhwc, pictures;
};

/* A or B. */
struct pfi_cli_side {
    const char *name;
    pinfold_dtype dtype;
    struct pfi_cli_shape shape;
    const struct pfi_cli_tensor *tensor; /* NULL = the tree */
};

#define PFI_CLI_DIFF_CHANNELS 8
#define PFI_CLI_DIFF_FIRST 10
#define PFI_CLI_DIFF_BINS 34

struct pfi_cli_diff_count {
    int64_t samples, values, differ, differing_samples;
    int64_t nan_a, nan_b, nan_both; /* the first two count as differing */
    int64_t zero_signs;             /* +0 against -0: equal, but not in bits */
    double largest;
    float largest_a, largest_b;
    int64_t at_sample, at_c, at_y, at_x;
    int64_t channels[PFI_CLI_DIFF_CHANNELS]; /* what is beyond, in the last */
    int64_t bins[PFI_CLI_DIFF_BINS];         /* by ulps: 1, 2, 3-4, 5-8, ... */
    int64_t first[PFI_CLI_DIFF_FIRST], first_differ[PFI_CLI_DIFF_FIRST];
    int n_first;
};

/* A sample that differs, kept so that causes can be tried on it. */
struct pfi_cli_pair {
    int64_t sample;
    float *a, *b; /* [c][h][w] */
};

#define PFI_CLI_DIFF_PAIRS 4
#define PFI_CLI_DIFF_CAUSES 16

struct pfi_cli_cause {
    const char *id;
    char text[224];
    int fits; /* of the kept pairs; -1 = it was found in all samples */
};

struct pfi_cli_diff {
    const struct pfi_cli_options *o;
    struct pfi_cli_side a, b;
    const pinfold_dataset *dataset;     /* of the tree, or NULL */
    const struct pfi_cli_tensor *paths; /* a tensor that knows them, or NULL */
    int64_t values;                     /* of one sample */
    int64_t common;                     /* samples that both have */
    char mismatch[200];                 /* how the shapes differ, or "" */
    bool comparable;
    struct pfi_cli_diff_count count;
    struct pfi_cli_pair pairs[PFI_CLI_DIFF_PAIRS];
    int n_pairs;
    uint64_t *hashes[2]; /* [common] of A's and B's samples */
    int64_t bad;         /* pictures of the tree that could not be decoded */
    struct pfi_cli_cause causes[PFI_CLI_DIFF_CAUSES];
    int n_causes;
};

/* Turns a sample in the side's layout at `data` into floats, [c][h][w]. */
void pfi_cli_diff_widen(const struct pfi_cli_side *side, const void *data,
                        float *out);

/* Counts one sample's differences; false where memory for a pair is lacking. */
bool pfi_cli_diff_add(struct pfi_cli_diff *d, int64_t sample, const float *a,
                      const float *b);

/* The path of a sample as it is printed, with at most size - 1 bytes; "" where
 * it is not known. */
void pfi_cli_diff_path(const struct pfi_cli_diff *d, int64_t sample, char *out,
                       size_t size);

/* Adds a cause that fits some of the pairs. */
__attribute__((format(printf, 4, 5))) void
pfi_cli_diff_cause(struct pfi_cli_diff *d, const char *id, int fits,
                   const char *format, ...);

/* Try what is known to go wrong: on the order of the samples; on the tensors
 * alone; by decoding the tree's pictures in other ways; and at last whether the
 * codes are next to each other. */
void pfi_cli_diff_try_order(struct pfi_cli_diff *d);
void pfi_cli_diff_try_tensors(struct pfi_cli_diff *d);
void pfi_cli_diff_try_values(struct pfi_cli_diff *d);
void pfi_cli_diff_try_tree(struct pfi_cli_diff *d);
void pfi_cli_diff_try_neighbours(struct pfi_cli_diff *d);

void pfi_cli_diff_print(const struct pfi_cli_diff *d);
void pfi_cli_diff_print_json(const struct pfi_cli_diff *d);

#endif
