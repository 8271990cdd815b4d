/* SPDX-License-Identifier: Apache-2.0
 * What the parts of tune share: measuring, and showing what was measured. */
#ifndef PFI_CLI_TUNE_H
#define PFI_CLI_TUNE_H

#include <stdbool.h>
#include <stdio.h>

#include "src/cli/run.h"
#include "src/cli/search.h"

/* Kinds of memory that are compared: off and on. */
struct pfi_tune_setting {
    const char *name; /* as --memory takes it, or what {pinned} becomes */
    pinfold_memory memory;
    bool locked;
};

/* One measurement. */
struct pfi_tune_row {
    bool of_slots; /* it compared numbers of slots, not of workers */
    int workers, setting, slots;
    double seconds, rate;
};

enum pfi_tune_end {
    PFI_TUNE_CLEAR,
    PFI_TUNE_ROUNDS,
    PFI_TUNE_SECONDS,
    PFI_TUNE_SIGNAL,
    PFI_TUNE_FAILED
};

struct pfi_tune {
    const struct pfi_cli_options *o;
    pinfold_dataset *dataset; /* NULL with --command */
    struct pfi_tune_setting settings[2];
    int n_settings, cpus, highest;
    const char *remark; /* on the kinds of memory */
    const char *unit;   /* of a rate */

    struct pfi_search by_workers, by_slots;
    struct pfi_search *running;  /* one of both, or NULL */
    int workers, setting, slots; /* what is chosen, or held meanwhile */
    bool slots_searched;
    enum pfi_tune_end end;

    double started, deadline; /* deadline 0 = none */
    long long bad;            /* samples of the run that had most */
    struct pfi_tune_row *rows;
    size_t n_rows, room;

    bool live;      /* a table is drawn on stderr */
    int live_lines; /* of it, to be drawn over */
};

/* ---------------------------------------------------------------- measuring */

/* Runs once with a number of workers and a setting; false with a message where
 * that fails, or without one where a signal came. */
bool pfi_tune_once(struct pfi_tune *t, int workers, int setting, int slots,
                   struct pfi_tune_row *row);

/* Replaces {workers} and {pinned}; the caller frees it, NULL = no memory. */
char *pfi_tune_command_line(const struct pfi_tune *t, int workers, int setting);

/* ------------------------------------------------------------------ showing */

void pfi_tune_live(struct pfi_tune *t, int workers, int setting, int slots);
void pfi_tune_live_end(struct pfi_tune *t);
void pfi_tune_print_words(const struct pfi_tune *t);
void pfi_tune_print_json(const struct pfi_tune *t);
void pfi_tune_print_csv(const struct pfi_tune *t, FILE *out);
void pfi_tune_print_svg(const struct pfi_tune *t, FILE *out);

/* The point that is marked: the choice, or the best so far; NULL = none. */
const struct pfi_search_point *pfi_tune_marked(const struct pfi_search *search);

/* The line of options to copy; `clear` or not. */
void pfi_tune_print_options(const struct pfi_tune *t, FILE *out);

#endif
