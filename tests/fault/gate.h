/* SPDX-License-Identifier: Apache-2.0
 * The door that every call which can fail goes through in a fault test: the
 * linker's --wrap sends the calls here (cmake lists them), where one is told to
 * fail.  Counted are calls between gate_open() and gate_close() only. */
#ifndef PFI_TESTS_GATE_H
#define PFI_TESTS_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum gate_kind {
    GATE_HEAP,
    GATE_OPEN,
    GATE_STAT,
    GATE_READ,
    GATE_ENTRY,  /* readdir() */
    GATE_FOLDER, /* fdopendir() */
    GATE_MAP,
    GATE_WRITE,
    GATE_SEEK,
    GATE_SYNC,
    GATE_RENAME,
    GATE_UNLINK,
    GATE_MKDIR,
    GATE_CLOSE,
    GATE_THREAD,
    GATE_MUTEX,
    GATE_CONDITION,
    GATE_LOCK, /* mlock() */
    GATE_PROCESS,
    GATE_KINDS
};

/* In place of an errno value: one byte is moved; the file seems to end. */
#define GATE_SHORT (-1)
#define GATE_END (-2)

/* Call `first` of the kind fails, and all later ones too where `for_ever`. */
struct gate_fault {
    enum gate_kind kind;
    long first; /* -1 = none fails */
    bool for_ever;
    int code;
};

void gate_open(const struct gate_fault *fault);
void gate_close(void);
/* Until false, the calls of this thread pass uncounted. */
void gate_hold(bool held);
/* What this thread is at, which stands for the path of threads and locks that
 * have none; "" = nothing of note.  Returns what it was at. */
const char *gate_at(const char *what);
/* Whether the call that was to fail came, and the path that it was of, or "". */
bool gate_hit(void);
const char *gate_path(void);
long gate_calls(enum gate_kind kind);
/* Writes the calls above the one that failed to stderr. */
void gate_show(bool shown);

/* Blocks of the heap, threads and descriptors that are there. */
struct gate_live {
    long blocks, own; /* own: those of the library itself */
    long threads, descriptors;
};

struct gate_live gate_live(void);

/* stdout from here on goes through the door, to descriptor 1. */
void gate_take_stdout(void);

/* ------------------------------------------------------------- for the door --- */

/* 0, or what the call has to fail with; sets errno.  `path` may be NULL. */
int gate_pass(enum gate_kind kind, const char *path);
/* Whether the fault is an early end of a file. */
bool gate_ends(void);
void gate_count_block(int by);
void gate_count_own(int by);
void gate_name(int fd, const char *path);
const char *gate_name_of(int fd);

/* What --wrap makes of the calls, for those that stand for streams. */
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);

#endif
