/* SPDX-License-Identifier: Apache-2.0
 * Counts the calls, and says which of them fails. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* backtrace() */
#endif
#include "tests/fault/gate.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#define DESCRIPTORS 256

static struct {
    struct gate_fault fault;
    atomic_bool open, hit;
    atomic_long calls[GATE_KINDS];
    atomic_long blocks, own;
    char path[128];                   /* of the first call that failed */
    char names[DESCRIPTORS][96];      /* of descriptors */
    bool shown;
} gate;

static _Thread_local bool holding;
static _Thread_local const char *at = "";

void gate_open(const struct gate_fault *fault)
{
    gate.fault = *fault;
    gate.path[0] = '\0';
    atomic_store(&gate.hit, false);
    for (int i = 0; i < GATE_KINDS; i++)
        atomic_store(&gate.calls[i], 0);
    atomic_store(&gate.open, true);
}

void gate_close(void)
{
    atomic_store(&gate.open, false);
}

void gate_hold(bool held)
{
    holding = held;
}

const char *gate_at(const char *what)
{
    const char *const before = at;

    at = what;
    return before;
}

bool gate_hit(void)
{
    return atomic_load(&gate.hit);
}

const char *gate_path(void)
{
    return gate.path;
}

long gate_calls(enum gate_kind kind)
{
    return atomic_load(&gate.calls[kind]);
}

void gate_show(bool shown)
{
    gate.shown = shown;
}

static void show(void)
{
    void *frames[24];

    atomic_store(&gate.open, false);
    backtrace_symbols_fd(frames, backtrace(frames, 24), 2);
    atomic_store(&gate.open, true);
}

int gate_pass(enum gate_kind kind, const char *path)
{
    if (!atomic_load_explicit(&gate.open, memory_order_acquire) || holding)
        return 0;
    const long call = atomic_fetch_add(&gate.calls[kind], 1);
    const struct gate_fault *const f = &gate.fault;

    if (kind != f->kind || f->first < 0 || call < f->first ||
        (call > f->first && !f->for_ever))
        return 0;
    if (call == f->first) {
        (void)snprintf(gate.path, sizeof(gate.path), "%s",
                       path                  ? path
                       : kind == GATE_THREAD ? at
                       : kind == GATE_MUTEX  ? at
                                             : "");
        if (gate.shown)
            show();
        atomic_store(&gate.hit, true);
    }
    if (f->code > 0)
        errno = f->code;
    return f->code;
}

bool gate_ends(void)
{
    return gate.fault.code == GATE_END;
}

void gate_count_block(int by)
{
    atomic_fetch_add_explicit(&gate.blocks, by, memory_order_relaxed);
}

void gate_count_own(int by)
{
    atomic_fetch_add_explicit(&gate.own, by, memory_order_relaxed);
}

void gate_name(int fd, const char *path)
{
    const size_t size = strlen(path), room = sizeof(gate.names[0]);

    /* The end tells most. */
    if (fd >= 0 && fd < DESCRIPTORS)
        (void)snprintf(gate.names[fd], room, "%s",
                       size < room ? path : path + size - room + 1);
}

const char *gate_name_of(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS ? gate.names[fd] : "";
}

long gate_threads(void);

struct gate_live gate_live(void)
{
    struct gate_live live = {.blocks = atomic_load(&gate.blocks),
                             .own = atomic_load(&gate.own),
                             .threads = gate_threads()};

    for (int fd = 0; fd < DESCRIPTORS; fd++)
        live.descriptors += fcntl(fd, F_GETFD) >= 0;
    return live;
}
