/* SPDX-License-Identifier: Apache-2.0
 * Finds the smallest number (of workers, of slots) that is within a tolerance
 * of the fastest, from noisy measurements that a callback takes. */
#ifndef PFI_CLI_SEARCH_H
#define PFI_CLI_SEARCH_H

#include <stdbool.h>

/* What is measured: a number with a setting (0 and 1: off and on). */
struct pfi_search_point {
    int number, setting;
    int n_samples;
    int dropped;     /* round after which it was measured no more, or 0 */
    bool live;       /* it is measured in the next round */
    double *samples; /* [max_rounds] by round; 0 = not measured in it */
};

/* Stores a throughput above 0 and returns true; false ends the search. */
typedef bool (*pfi_search_measure)(void *cookie, int number, int setting,
                                   double *throughput);

struct pfi_search_options {
    pfi_search_measure measure;
    void (*round_over)(void *cookie); /* NULL = none */
    void *cookie;
    const int *numbers; /* [n_numbers] rising; copied */
    int n_numbers, n_settings;
    int min_rounds, max_rounds; /* that the choice is measured in */
    double tolerance;           /* such as 0.02 */
    int least; /* a smaller number must be faster than all from here on by more
                * than the tolerance */
    bool exhaustive;            /* every number in every round, none dropped */
    bool all; /* start with every number, not with each fourth */
};

struct pfi_search {
    struct pfi_search_options options;
    struct pfi_search_point *points; /* [n_points], by number, then setting */
    int n_points;
    int rounds; /* begun */
    long measurements;
    double noise; /* standard deviation of one measurement, relative; infinite
                   * where it is not known */
    int leader;   /* index of the fastest point so far, or -1 */
    int choice;   /* index of the smallest that is as good, or -1 */
    bool clear;   /* the choice is clear of the noise */
    double *memory;
};

/* Measures until the choice is clear, the rounds are used up, or `measure`
 * returned false.  Returns false where memory runs out; `search` must be
 * closed in every case. */
bool pfi_search_run(struct pfi_search *search,
                    const struct pfi_search_options *options);
void pfi_search_close(struct pfi_search *search);

/* The median of a point's samples and their spread, 1.4826 times the median
 * distance from it: about two in three samples are no further away. */
double pfi_search_median(const struct pfi_search *search, int point,
                         double *spread);

/* How much faster a is than b by the rounds that measured both; 1 where none
 * did.  This, not the quotient of the medians, is what the search decides by. */
double pfi_search_ratio(const struct pfi_search *search, int a, int b);

#endif
