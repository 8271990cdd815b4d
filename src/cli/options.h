/* SPDX-License-Identifier: Apache-2.0
 * The one table of options that all commands share. */
#ifndef PFI_CLI_OPTIONS_H
#define PFI_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include <pinfold/pinfold.h>

/* Exit statuses. */
enum { PFI_CLI_OK = 0, PFI_CLI_FAILED = 1, PFI_CLI_USAGE = 2 };

/* Commands, as bits for the table of options. */
enum pfi_cli_command {
    PFI_CLI_LS = 1,
    PFI_CLI_VERIFY = 2,
    PFI_CLI_BENCH = 4,
    PFI_CLI_EXPORT = 8,
    PFI_CLI_EXPLAIN = 16,
    PFI_CLI_PRESETS = 32,
    PFI_CLI_DIFF = 256,
    PFI_CLI_TUNE = 512,
    PFI_CLI_PLAN = 1024,
    PFI_CLI_ENV = 2048,
    PFI_CLI_MERGE = 4096,
    PFI_CLI_SCAN = 8192,
    PFI_CLI_SHEET = 16384,
    PFI_CLI_STATS = 32768
};

/* What export writes. */
enum pfi_cli_format {
    PFI_CLI_NPY,
    PFI_CLI_SAFETENSORS,
    PFI_CLI_RAW,
    PFI_CLI_NPY_EACH
};

enum pfi_cli_progress { PFI_CLI_AUTO, PFI_CLI_ALWAYS, PFI_CLI_NEVER };

/* How a sheet is drawn on a terminal. */
enum pfi_cli_term {
    PFI_CLI_TERM_OFF,
    PFI_CLI_TERM_AUTO,
    PFI_CLI_TERM_BLOCKS,
    PFI_CLI_TERM_SIXEL,
    PFI_CLI_TERM_KITTY
};

/* What sheet, and scan's sheet, take. */
struct pfi_cli_sheet_options {
    int32_t count, columns; /* 0 = what fits */
    bool before;            /* the whole picture, too */
    enum pfi_cli_term term;
    const char *file; /* of scan, or NULL */
};

/* What tune alone takes. */
struct pfi_cli_tune_options {
    const char *csv, *svg; /* files, or NULL */
    const char *program;   /* of --command, or NULL */
    long long images;      /* that one run of it loads; 0 = not told */
    long long max_seconds, max_workers, rounds;
    bool exhaustive;
};

struct pfi_cli_options {
    enum pfi_cli_command command;
    const char *name; /* the command's, for messages, or NULL */
    pinfold_recipe recipe;
    pinfold_loader_options loader; /* recipe is set when it is used */
    pinfold_dataset_options dataset;
    long long epoch, epochs, batches, warmup;
    bool classes, json, quiet, force, stages;
    bool all_devices;
    bool labels32; /* int32, not int64 */
    enum pfi_cli_format format;
    bool format_given;
    const char *tensor; /* its name in a safetensors file, or NULL */
    bool sandbox;
    bool locked; /* slots are page-locked by mlock() */
    struct pfi_cli_tune_options tune;
    struct pfi_cli_sheet_options sheet;
    const char *quarantine; /* a file for bad samples' paths, or NULL */
    bool null;              /* a NUL behind each, not a line's end */
    enum pfi_cli_progress progress;
    const char *trace; /* a file, or NULL */
    bool watch;
    const char *metrics; /* a file, a port or an address, or NULL */
    bool no_pixels;      /* stats decodes nothing */
    pinfold_order order; /* without its lists: */
    const char *subset, *weights, *list_order, *orders; /* files, or NULL */
    const char *rank_text, *world_text; /* as given, or NULL */
    bool no_launcher, device_given, seed_given;
    const char *save; /* a file for an index, or NULL */
    bool checksums, delete_shards;
    char *const *words; /* [n_words] that were parsed */
    int n_words;
    const char *arguments[2];
    int n_arguments;
    char wrong[512]; /* a message that an option made */
};

void pfi_cli_options_init(struct pfi_cli_options *options,
                          enum pfi_cli_command command);

/* Takes the words behind the command's name.  On a mistake prints it to stderr
 * and returns false. */
bool pfi_cli_options_parse(struct pfi_cli_options *options, int n,
                           char *const *words);

/* What is printed of an option. */
struct pfi_cli_option_words {
    const char *name;
    const char *value; /* what it takes, or NULL: words that are taken as they
                        * are, and names in capitals, with | between */
    const char *help;
    int commands;
};

/* Stores those of option i; false behind the last one. */
bool pfi_cli_option_words(size_t i, struct pfi_cli_option_words *out);

/* Edits between two words, two letters that changed places being one, for "did
 * you mean"; and how many are too many for a guess at `word`: a third of a short
 * one is another word. */
int pfi_cli_distance(const char *a, const char *b);
int pfi_cli_too_far(const char *word);

#endif
