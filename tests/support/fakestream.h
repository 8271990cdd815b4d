/* SPDX-License-Identifier: Apache-2.0
 * The fake device's streams: queues of copies, kernels and waits that take
 * their time.  No lock of its own. */
#ifndef PFI_TESTS_FAKESTREAM_H
#define PFI_TESTS_FAKESTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/world.h"

#define FAKE_POISON 0xCD

struct fake_stream;

enum fake_op_kind {
    FAKE_COPY,   /* reads src at its start and end; dst is poison until then */
    FAKE_KERNEL, /* calls kernel() at its start and end; src and dst are its */
    FAKE_WAIT    /* until the first `count` operations of `behind` are done */
};

struct fake_op {
    enum fake_op_kind kind;
    void *dst;
    const void *src;
    size_t size, dst_size; /* 0 = size */
    uint64_t ns;
    void (*kernel)(void *argument, bool at_end);
    void *argument;
    const struct fake_stream *behind;
    long count;
};

/* What the streams share. */
struct fake_timeline {
    struct fake_stream *streams;
    uint64_t now;
    long issued;
    bool copying;       /* a device has one engine for copies to it */
    const char *misuse; /* the first broken rule */
};

/* NULL when out of memory. */
struct fake_stream *fake_stream_new(struct fake_timeline *line);
/* False when out of memory.  What can start does so at once. */
bool fake_stream_push(struct fake_timeline *line, struct fake_stream *stream,
                      const struct fake_op *op);
/* Operations that were pushed, and that are done. */
long fake_stream_pushed(const struct fake_stream *stream);
long fake_stream_done(const struct fake_stream *stream);

/* When the next operation ends, or FAKE_NEVER. */
uint64_t fake_timeline_next(const struct fake_timeline *line);
/* Does what ends until then; the clock is there afterwards. */
void fake_timeline_run(struct fake_timeline *line, uint64_t until);
/* Whether an operation that is not done reads or writes this memory. */
bool fake_timeline_uses(const struct fake_timeline *line, const void *ptr,
                        size_t size);
/* The time that all operations which are not done take, one by one. */
uint64_t fake_timeline_backlog(const struct fake_timeline *line);
/* Frees the streams, and what waits in them undone. */
void fake_timeline_end(struct fake_timeline *line);

#endif
