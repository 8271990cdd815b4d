/* SPDX-License-Identifier: Apache-2.0
 * The fake CUDA runtime's outside: how tests make it, script it and look at
 * it. */
#include "tests/support/fakegpu.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/fakeinside.h"

struct fake_gpu *fake_gpu_start(int devices)
{
    struct fake_gpu *const f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->initial.stream = fake_stream_new(&f->line);
    if (!f->initial.stream || pthread_key_create(&f->device, NULL)) {
        fake_timeline_end(&f->line);
        free(f);
        return NULL;
    }
    pthread_mutex_init(&f->lock, NULL);
    f->pid = getpid();
    f->devices = devices;
    f->runtime = f->driver = 13000;
    f->latency_ns = 1;
    f->bytes_per_ns = 1;
    fake_gpu_room(f, 0);
    f->initial.kind = STREAM;
    f->objects = &f->initial;
    f->table = fake_gpu_calls_table;
    f->table.cookie = f;
    return f;
}

void fake_gpu_end(struct fake_gpu *f)
{
    fake_timeline_end(&f->line);
    for (struct fake_object *o = f->objects, *next; o != &f->initial;
         o = next) {
        next = o->next;
        if (o->kind != REGISTERED)
            free(o->ptr);
        fake_ptx_free(o->ptx);
        free(o);
    }
    fake_launches_end(f);
    pthread_mutex_destroy(&f->lock);
    pthread_key_delete(f->device);
    free(f);
}

const struct pfi_gpu *fake_gpu_table(struct fake_gpu *f)
{
    return &f->table;
}

void fake_gpu_script(struct fake_gpu *f, int count_code, int runtime,
                     int driver)
{
    f->count_code = count_code;
    f->runtime = runtime;
    f->driver = driver;
}

void fake_gpu_pci(struct fake_gpu *f, const char *pci)
{
    f->pci = pci;
}

void fake_gpu_room(struct fake_gpu *f, size_t bytes)
{
    f->room = bytes ? bytes : (size_t)1 << 40;
}

void fake_gpu_fail(struct fake_gpu *f, long calls, int code, bool for_ever)
{
    pthread_mutex_lock(&f->lock);
    f->fail_at = f->calls + calls + 1;
    f->fail_code = code;
    f->fail_for_ever = for_ever;
    f->failed = NULL;
    pthread_mutex_unlock(&f->lock);
}

void fake_gpu_refuse(struct fake_gpu *f, const char *name, int code)
{
    pthread_mutex_lock(&f->lock);
    f->refused = name;
    f->refused_code = code;
    pthread_mutex_unlock(&f->lock);
}

void fake_gpu_delay(struct fake_gpu *f, long calls, uint64_t ns)
{
    pthread_mutex_lock(&f->lock);
    f->slow_at = calls < 0 ? -1 : f->calls + calls + 1;
    f->slow_ns = ns;
    pthread_mutex_unlock(&f->lock);
}

const char *fake_gpu_failed(struct fake_gpu *f)
{
    pthread_mutex_lock(&f->lock);
    const char *const failed = f->failed;

    pthread_mutex_unlock(&f->lock);
    return failed;
}

static uint64_t machine_next(void *cookie)
{
    return fake_timeline_next(&((struct fake_gpu *)cookie)->line);
}

static void machine_run(void *cookie, uint64_t until)
{
    fake_timeline_run(&((struct fake_gpu *)cookie)->line, until);
}

void fake_gpu_join(struct fake_gpu *f, const struct fake_world *world)
{
    const struct fake_machine machine = {f, machine_next, machine_run};

    f->world = world;
    world->attach(&machine);
}

void fake_gpu_speed(struct fake_gpu *f, uint64_t latency_ns,
                    double bytes_per_ns)
{
    f->latency_ns = latency_ns;
    f->bytes_per_ns = bytes_per_ns;
}

/* With the lock held; NULL where there is none. */
static struct fake_object *stream_of(struct fake_gpu *f, const void *handle)
{
    struct fake_object *s = f->objects;

    while (s && (handle ? s != handle || !s->alive : s != &f->initial))
        s = s->next;
    return s;
}

void fake_gpu_work(struct fake_gpu *f, void *stream, const void *data,
                   size_t size, uint64_t ns,
                   void (*work)(void *argument, bool at_end), void *argument)
{
    pthread_mutex_lock(&f->lock);
    struct fake_object *const s = stream_of(f, stream);

    if (!s || fake_gpu_push(f, s,
                            &(struct fake_op){.kind = FAKE_KERNEL,
                                              .src = data,
                                              .size = size,
                                              .ns = ns,
                                              .kernel = work,
                                              .argument = argument}))
        abort();
    pthread_mutex_unlock(&f->lock);
}

int fake_gpu_copy_back(struct fake_gpu *f, void *dst, const void *src,
                       size_t size, void *stream)
{
    pthread_mutex_lock(&f->lock);
    struct fake_object *const s = stream_of(f, stream);
    const struct fake_op op = {
        .kind = FAKE_COPY, .dst = dst, .src = src, .size = size, .ns = 1};
    const int code = s ? fake_gpu_push(f, s, &op) : 400;

    pthread_mutex_unlock(&f->lock);
    return code;
}

void fake_gpu_run(struct fake_gpu *f, void *stream)
{
    pthread_mutex_lock(&f->lock);
    const struct fake_object *const s = stream_of(f, stream);

    if (s)
        fake_gpu_await(
            f, &(struct fake_pending){.stream = s->stream,
                                      .count = fake_stream_pushed(s->stream)});
    pthread_mutex_unlock(&f->lock);
}

void fake_gpu_run_all(struct fake_gpu *f)
{
    for (struct fake_object *o = f->objects; o; o = o->next) {
        struct fake_pending p = {.stream = o->stream};

        pthread_mutex_lock(&f->lock);
        if (o->kind == STREAM) {
            p.count = fake_stream_pushed(o->stream);
            fake_gpu_await(f, &p);
        }
        pthread_mutex_unlock(&f->lock);
    }
}

uint64_t fake_gpu_backlog(struct fake_gpu *f)
{
    pthread_mutex_lock(&f->lock);
    const uint64_t ns = fake_timeline_backlog(&f->line);

    pthread_mutex_unlock(&f->lock);
    return ns;
}

struct fake_live fake_gpu_live(struct fake_gpu *f)
{
    int counts[N_KINDS] = {0}, pending = 0;

    pthread_mutex_lock(&f->lock);
    for (const struct fake_object *o = f->objects; o; o = o->next) {
        counts[o->kind] += o->alive;
        if (o->kind == STREAM)
            pending += (int)(fake_stream_pushed(o->stream) -
                             fake_stream_done(o->stream));
    }
    const size_t pinned =
        fake_gpu_bytes(f, PINNED) + fake_gpu_bytes(f, REGISTERED);
    const size_t device = fake_gpu_bytes(f, DEVICE);

    pthread_mutex_unlock(&f->lock);
    return (struct fake_live){counts[PINNED] + counts[REGISTERED],
                              counts[DEVICE], counts[STREAM], counts[EVENT],
                              counts[LIBRARY], pending, pinned, device};
}

long fake_gpu_calls(struct fake_gpu *f)
{
    pthread_mutex_lock(&f->lock);
    const long calls = f->calls;

    pthread_mutex_unlock(&f->lock);
    return calls;
}

long fake_gpu_pinned_copies(struct fake_gpu *f)
{
    return f->pinned_copies;
}

long fake_gpu_pageable_copies(struct fake_gpu *f)
{
    return f->pageable_copies;
}

long fake_gpu_kernels(struct fake_gpu *f)
{
    return f->kernels;
}

int fake_gpu_kind_of(struct fake_gpu *f, const void *ptr)
{
    pthread_mutex_lock(&f->lock);
    const int kind = fake_holder(f, DEVICE, ptr, 1) ? 2
                     : fake_holder(f, PINNED, ptr, 1) ||
                             fake_holder(f, REGISTERED, ptr, 1)
                         ? 1
                         : 0;

    pthread_mutex_unlock(&f->lock);
    return kind;
}

void fake_gpu_report(struct fake_gpu *f, const char *rule)
{
    pthread_mutex_lock(&f->lock);
    if (!f->line.misuse)
        f->line.misuse = rule;
    pthread_mutex_unlock(&f->lock);
}

const char *fake_gpu_misuse(struct fake_gpu *f)
{
    /* In a forked child the lock may be held by a thread that is not there. */
    if (f->pid != getpid())
        return f->line.misuse;
    pthread_mutex_lock(&f->lock);
    const char *const misuse = f->line.misuse;

    pthread_mutex_unlock(&f->lock);
    return misuse;
}
