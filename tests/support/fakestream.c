/* SPDX-License-Identifier: Apache-2.0
 * Streams as a discrete-event simulation. */
#include "tests/support/fakestream.h"

#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    struct fake_op op;
    long number; /* in the order of issue, of all streams */
    bool running;
    uint64_t end;
    unsigned char *before; /* what a copy read at its start */
};

/* Streams stay until the end, since events may name one that is gone. */
struct fake_stream {
    struct fake_stream *next;
    struct item *first, **last;
    long pushed, done;
};

struct fake_stream *fake_stream_new(struct fake_timeline *line)
{
    struct fake_stream *const stream = calloc(1, sizeof(*stream));

    if (!stream)
        return NULL;
    stream->last = &stream->first;
    stream->next = line->streams;
    line->streams = stream;
    return stream;
}

long fake_stream_pushed(const struct fake_stream *stream)
{
    return stream->pushed;
}

long fake_stream_done(const struct fake_stream *stream)
{
    return stream->done;
}

static void pop(struct fake_stream *stream)
{
    struct item *const item = stream->first;

    stream->first = item->next;
    if (!stream->first)
        stream->last = &stream->first;
    stream->done++;
    free(item->before);
    free(item);
}

static bool may_start(const struct fake_timeline *line, const struct item *item)
{
    if (!item || item->running)
        return false;
    return item->op.kind == FAKE_WAIT ? item->op.behind->done >= item->op.count
           : item->op.kind == FAKE_COPY ? !line->copying
                                        : true;
}

static void start(struct fake_timeline *line, struct item *item)
{
    const struct fake_op *const op = &item->op;

    item->running = true;
    item->end = line->now + op->ns;
    if (op->kind == FAKE_KERNEL)
        op->kernel(op->argument, false);
    if (op->kind != FAKE_COPY)
        return;
    line->copying = true;
    item->before = malloc(op->size ? op->size : 1);
    if (!item->before)
        abort();
    memcpy(item->before, op->src, op->size);
    memset(op->dst, FAKE_POISON, op->size);
}

/* Half of a copy's bytes are of its start and half of its end, and a source
 * that changed between is reported. */
static void finish(struct fake_timeline *line, const struct item *item)
{
    const struct fake_op *const op = &item->op;
    const size_t half = op->size / 2;

    if (op->kind == FAKE_KERNEL)
        op->kernel(op->argument, true);
    if (op->kind != FAKE_COPY)
        return;
    line->copying = false;
    if (memcmp(item->before, op->src, op->size) && !line->misuse)
        line->misuse = "host memory changed while it was copied";
    memcpy(op->dst, item->before, half);
    memcpy((unsigned char *)op->dst + half,
           (const unsigned char *)op->src + half, op->size - half);
}

/* Starts whatever can, the earliest issued first. */
static void settle(struct fake_timeline *line)
{
    for (;;) {
        struct fake_stream *best = NULL;

        for (struct fake_stream *s = line->streams; s; s = s->next)
            if (may_start(line, s->first) &&
                (!best || s->first->number < best->first->number))
                best = s;
        if (!best)
            return;
        if (best->first->op.kind == FAKE_WAIT)
            pop(best);
        else
            start(line, best->first);
    }
}

bool fake_stream_push(struct fake_timeline *line, struct fake_stream *stream,
                      const struct fake_op *op)
{
    struct item *const item = calloc(1, sizeof(*item));

    if (!item)
        return false;
    item->op = *op;
    item->number = line->issued++;
    *stream->last = item;
    stream->last = &item->next;
    stream->pushed++;
    settle(line);
    return true;
}

static struct fake_stream *next_to_end(const struct fake_timeline *line)
{
    struct fake_stream *best = NULL;

    for (struct fake_stream *s = line->streams; s; s = s->next)
        if (s->first && s->first->running &&
            (!best || s->first->end < best->first->end))
            best = s;
    return best;
}

uint64_t fake_timeline_next(const struct fake_timeline *line)
{
    const struct fake_stream *const s = next_to_end(line);

    return s ? s->first->end : FAKE_NEVER;
}

void fake_timeline_run(struct fake_timeline *line, uint64_t until)
{
    struct fake_stream *s;

    while ((s = next_to_end(line)) && s->first->end <= until) {
        if (s->first->end > line->now)
            line->now = s->first->end;
        finish(line, s->first);
        pop(s);
        settle(line);
    }
    if (until > line->now)
        line->now = until;
}

static bool touches(const void *a, size_t a_size, const void *b, size_t b_size)
{
    return (uintptr_t)a < (uintptr_t)b + b_size &&
           (uintptr_t)b < (uintptr_t)a + a_size;
}

static size_t written(const struct fake_op *op)
{
    return !op->dst ? 0 : op->dst_size ? op->dst_size : op->size;
}

bool fake_timeline_uses(const struct fake_timeline *line, const void *ptr,
                        size_t size)
{
    for (const struct fake_stream *s = line->streams; s; s = s->next)
        for (const struct item *i = s->first; i; i = i->next)
            if (touches(ptr, size, i->op.dst, written(&i->op)) ||
                touches(ptr, size, i->op.src, i->op.src ? i->op.size : 0))
                return true;
    return false;
}

uint64_t fake_timeline_backlog(const struct fake_timeline *line)
{
    uint64_t ns = 0;

    for (const struct fake_stream *s = line->streams; s; s = s->next)
        for (const struct item *i = s->first; i; i = i->next)
            ns += i->op.ns;
    return ns;
}

void fake_timeline_end(struct fake_timeline *line)
{
    while (line->streams) {
        struct fake_stream *const s = line->streams;

        while (s->first)
            pop(s);
        line->streams = s->next;
        free(s);
    }
}
