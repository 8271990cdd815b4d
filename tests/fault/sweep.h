/* SPDX-License-Identifier: Apache-2.0
 * The loop of a fault sweep: in each row (a scenario or a command) each call of
 * each kind fails in turn, each in a process of its own, until none is left. */
#ifndef PFI_TESTS_SWEEP_H
#define PFI_TESTS_SWEEP_H

#include "tests/fault/gate.h"

/* A way to fail. */
struct sweep_fault {
    const char *name;
    enum gate_kind kind;
    int code;         /* errno, or GATE_SHORT ... */
    bool once;        /* for ever makes no sense */
    const char *word; /* that the message must have; NULL = strerror(code) */
};

/* What may fail without a word, since the result is right all the same: it is
 * compared with that of a run without a fault. */
struct sweep_excuse {
    const char *fault; /* begin of its name */
    const char *row;   /* part of its name */
    const char *path;  /* part of the path that the call was of */
    enum sweep_times { EVER, ONCE } times; /* ONCE: not where it goes on */
    const char *why;
};

/* Shared with the process that meets the fault. */
struct sweep_report {
    bool hit;
    int code;     /* the status, or the exit status */
    int sys_code;
    char path[128];    /* of the call that failed */
    char message[512]; /* the first error's */
    char wrong[256];   /* what must not be; "" = nothing */
    bool silent;       /* nobody heard of it, and the result is right */
    char theirs[64];   /* the library that crashed, where it was not ours */
    long calls[GATE_KINDS];
    struct gate_live left; /* more than before */
};

struct sweep {
    const char *title;
    int n_rows;
    const char *(*row_name)(int row);
    /* Makes what the rows need in the current folder, which is empty. */
    void (*furnish)(void);
    /* Takes note of what the row gives without a fault. */
    void (*prepare)(int row, struct sweep_report *report);
    /* In a process of its own; ends it by exit(). */
    void (*live)(int row, const struct gate_fault *fault,
                 struct sweep_report *report);
    /* Sets `wrong` or `silent`. */
    void (*judge)(int row, const struct sweep_fault *fault, bool for_ever,
                  struct sweep_report *report);
    const struct sweep_excuse *excuses; /* up to one without a why */
};

/* usage: [--most N] [--row PART] [--one ROW FAULT CALL once|on]; returns the exit
 * status. */
int sweep_main(const struct sweep *sweep, int argc, char **argv);

/* Lives the row once in a process of its own. */
void sweep_run(const struct sweep *sweep, int row,
               const struct gate_fault *fault, struct sweep_report *report);

/* Whether the message is a line of printable text. */
bool sweep_is_line(const char *message);
/* Whether it has the reason that it should. */
bool sweep_says(const char *message, const struct sweep_fault *fault);
/* Whether it names the file at `path`, or the one that a part is to become. */
bool sweep_names(const char *message, const char *path);
/* Sets `wrong` where nothing is set yet. */
__attribute__((format(printf, 2, 3)))
void sweep_wrong(struct sweep_report *report, const char *format, ...);

#endif
