/* SPDX-License-Identifier: Apache-2.0
 * What stats finds out about a data set. */
#ifndef PFI_CLI_STATS_H
#define PFI_CLI_STATS_H

#include <stdbool.h>
#include <stdio.h>

#include "src/cli/label.h"
#include "src/cli/options.h"

/* About one sample. */
struct pfi_cli_looked {
    pinfold_status status;
    char *message;             /* why it is bad, or NULL */
    const char *format, *mode; /* Pillow's */
    int32_t width, height;
    int64_t bytes; /* of the file */
};

/* Of all channels' values of the pixels that the recipe leaves: their sums and
 * squares are exact, whatever the order. */
struct pfi_cli_values {
    uint64_t count[3][256];
};

/* One bar: of a name, or of the numbers from `from` below `to`. */
struct pfi_cli_count {
    const char *name; /* NULL = numbers */
    double from, to;
    int64_t count;
};

enum pfi_cli_group {
    PFI_CLI_CLASSES,
    PFI_CLI_FORMATS,
    PFI_CLI_MODES,
    PFI_CLI_WIDTHS,
    PFI_CLI_HEIGHTS,
    PFI_CLI_PIXELS,
    PFI_CLI_BYTES,
    PFI_CLI_GROUPS
};

/* Bars that belong together.  The first and the last of numbers take what lies
 * below and above, too. */
struct pfi_cli_counts {
    struct pfi_cli_count *bars;
    int64_t n;
    double min, median, mean, max; /* of classes: their samples */
};

struct pfi_cli_dataset_stats {
    const struct pfi_cli_options *o;
    pinfold_dataset *dataset;
    struct pfi_cli_looked *files; /* [samples] */
    int64_t bad;
    struct pfi_cli_values values;
    struct pfi_cli_counts groups[PFI_CLI_GROUPS];
    uint64_t pixels; /* that mean and std are of; 0 = not known */
    double mean[3], std[3]; /* on 0..1 */
};

/* Titles for people, and members of the JSON. */
const char *pfi_cli_group_title(enum pfi_cli_group group);
const char *pfi_cli_group_key(enum pfi_cli_group group);
/* "JPEG", "100k - 120k", as printable ASCII. */
void pfi_cli_count_label(char label[PFI_CLI_LABEL],
                         const struct pfi_cli_counts *counts, int64_t i);
/* "1234", "12.5k", "3.21M" */
void pfi_cli_short_number(char text[24], double number);

/* Fills in the files, `bad` and the values; returns an exit status. */
int pfi_cli_stats_look(struct pfi_cli_dataset_stats *s);
/* Fills in the rest from them; false when out of memory. */
bool pfi_cli_stats_count(struct pfi_cli_dataset_stats *s);

void pfi_cli_stats_print(const struct pfi_cli_dataset_stats *s);
void pfi_cli_stats_print_json(const struct pfi_cli_dataset_stats *s);
void pfi_cli_stats_print_svg(const struct pfi_cli_dataset_stats *s, FILE *out);

#endif
