/* SPDX-License-Identifier: Apache-2.0
 * The commands that are swept. */
#ifndef PFI_TESTS_ROWS_H
#define PFI_TESTS_ROWS_H

#include <stdbool.h>

/* What is different in a row. */
enum {
    ROW_VARIES = 1, /* each run has other figures: stdout is not compared, of a
                     * file the end alone */
    ROW_DEVICE = 2, /* with two fake devices */
    ROW_LISTS = 4,  /* what is bad is listed on stdout */
    ROW_KEEPS = 8,  /* a bad sample is zeroed, drawn as such or listed in what
                     * is written */
    ROW_TWO = 16,   /* trouble is status 2, as diff(1) has it */
    ROW_LACKS = 32, /* what it writes is no more than a help */
    ROW_FAILS = 64, /* without a fault, too */
    ROW_RESUMES = 128 /* goes on with what is there, and the next run with what
                       * a failed one left */
};

struct row {
    const char *name;
    const char *command; /* words with one blank between; files to out/ */
    int ways;
    const char *before; /* commands that are run first, without a fault, with
                         * " ; " between; or "copy FOLDER TO" */
};

/* Up to one without a name.  They live in a folder of furnish_rows(). */
extern const struct row rows[];
void furnish_rows(void);

/* Runs the program in this process; the words are the program's to keep. */
int run_program(const char *command);
/* The same in a process of its own whose output nobody sees. */
int run_apart(const char *command);
/* What comes before a row, each command in a process of its own; all must
 * succeed. */
void run_before(const char *before);
int pinfold_main(int argc, char **argv);

#endif
