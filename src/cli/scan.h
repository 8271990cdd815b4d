/* SPDX-License-Identifier: Apache-2.0
 * What scan finds out about a data set. */
#ifndef PFI_CLI_SCAN_H
#define PFI_CLI_SCAN_H

#include <stdbool.h>
#include <stdio.h>

#include "src/cli/options.h"

/* About one sample.  All zero is one that was not looked at. */
struct pfi_cli_scanned {
    pinfold_status status;
    char *message; /* why it is bad; NULL where it is not, or without memory,
                    * which is the reason then */
    const char *format, *mode; /* Pillow's */
    int32_t orientation;       /* EXIF's, 1 to 8; 0 = none */
    bool open_end;             /* decodes, but its last chunks are missing */
    char hash[65];             /* SHA-256 of the file; "" = not known */
};

/* The first ones are what makes a sample bad; the last ones are of classes. */
enum pfi_cli_kind {
    PFI_CLI_UNREADABLE,
    PFI_CLI_EMPTY,
    PFI_CLI_NO_PICTURE,
    PFI_CLI_TRUNCATED,
    PFI_CLI_CORRUPT,
    PFI_CLI_OVER_LIMIT,
    PFI_CLI_UNSUPPORTED,
    PFI_CLI_FAILED_OTHERWISE,
    PFI_CLI_EXTENSION,
    PFI_CLI_OPEN_END,
    PFI_CLI_CMYK,
    PFI_CLI_CLIPPED,
    PFI_CLI_TURNED,
    PFI_CLI_DUPLICATE,
    PFI_CLI_OVERLAP,
    PFI_CLI_CLASS_EMPTY,
    PFI_CLI_CLASS_SMALL,
    PFI_CLI_CLASS_LARGE
};

struct pfi_cli_finding {
    enum pfi_cli_kind kind;
    int64_t sample; /* -1 = it is of the class */
    int64_t label;
    int64_t other; /* the sample with the same bytes, of an overlap in the
                    * second data set; of a class how many samples it has */
};

struct pfi_cli_scan {
    const struct pfi_cli_options *o;
    pinfold_dataset *dataset, *second; /* the second may be NULL */
    struct pfi_cli_scanned *files, *second_files;
    struct pfi_cli_finding *findings; /* by sample, then by class */
    int64_t n_findings, room;
    int64_t bad, suspicious; /* samples; one that is bad is not suspicious */
    int64_t unread;          /* of the second */
    int64_t median;          /* samples of a class that is not empty */
};

/* A class with ten times as many samples as the median class, or a tenth. */
enum { PFI_CLI_LOPSIDED = 10 };

/* Looks at one sample: reads, hashes and, with `whole`, decodes it. */
void pfi_cli_scan_file(struct pfi_cli_scanned *out,
                       const pinfold_dataset *dataset, int64_t index,
                       const pinfold_recipe *recipe, bool whole);

/* All samples, by worker threads; returns them, or NULL after printing why, or
 * when a signal came.  `whole`: decodes them. */
struct pfi_cli_scanned *pfi_cli_scan_all(pinfold_dataset *dataset,
                                         const struct pfi_cli_options *o,
                                         bool whole);
void pfi_cli_scan_free(struct pfi_cli_scanned *files, int64_t n);

/* Fills in the findings and their counts; false when out of memory. */
bool pfi_cli_scan_find(struct pfi_cli_scan *scan);

/* Why it is bad. */
const char *pfi_cli_scan_reason(const struct pfi_cli_scanned *file);
bool pfi_cli_kind_is_bad(enum pfi_cli_kind kind);
/* "truncated", "cmyk", ... */
const char *pfi_cli_kind_name(enum pfi_cli_kind kind);

void pfi_cli_scan_print(const struct pfi_cli_scan *scan);
void pfi_cli_scan_print_json(const struct pfi_cli_scan *scan);
/* The bad ones' paths below the root. */
void pfi_cli_scan_print_bad(const struct pfi_cli_scan *scan, FILE *out);

#endif
