/* SPDX-License-Identifier: Apache-2.0
 * The fake CUDA runtime: queues that run late, and rules that are checked. */
#include "tests/support/fakegpu.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Codes of driver_types.h. */
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define INVALID_DEVICE 101
#define INVALID_CONTEXT 201
#define INVALID_HANDLE 400

#define ALIGNMENT 256
#define POISON 0xCD

enum kind { PINNED, DEVICE, STREAM, EVENT };

/* What a handle names.  It stays when it is given back, so that a handle is
 * never used twice and an event may name a stream that is gone. */
struct object {
    struct object *next;
    enum kind kind;
    bool alive;
    void *ptr; /* of memory */
    size_t size;
    struct operation *first, **last; /* of a stream */
    long issued, done;
    struct object *behind; /* of an event: done when the first `count` */
    long count;            /* operations of this stream are; NULL = at once */
};

/* A copy, or, where `behind` is set, a wait for that stream's first `count`
 * operations. */
struct operation {
    struct operation *next;
    void *dst;
    const void *src;
    size_t size;
    struct object *behind;
    long count;
};

/* The lock guards all but the table and the key. */
struct fake_gpu {
    struct pfi_gpu table;
    pthread_key_t device; /* the thread's current device + 1 */
    pthread_mutex_t lock;
    int devices, count_code, runtime, driver;
    long calls, fail_at;
    int fail_code;
    bool fail_for_ever;
    const char *misuse;
    struct object *objects;
    struct object initial; /* the NULL stream, last of the objects */
};

/* Locks, counts the call, and returns the code that it has to fail with. */
static int enter(struct fake_gpu *f)
{
    pthread_mutex_lock(&f->lock);
    f->calls++;
    if (!f->fail_at || f->calls < f->fail_at ||
        (f->calls > f->fail_at && !f->fail_for_ever))
        return 0;
    return f->fail_code;
}

static int leave(struct fake_gpu *f, int code)
{
    pthread_mutex_unlock(&f->lock);
    return code;
}

static int broken(struct fake_gpu *f, int code, const char *rule)
{
    if (!f->misuse)
        f->misuse = rule;
    return code;
}

/* Does the first `count` operations of a stream, and those of other streams
 * that they wait for.  A wait names earlier operations only, so this ends. */
static void run_up_to(struct object *stream, long count)
{
    while (stream->done < count) {
        struct operation *const op = stream->first;

        if (op->behind)
            run_up_to(op->behind, op->count);
        else
            memcpy(op->dst, op->src, op->size);
        stream->first = op->next;
        if (!stream->first)
            stream->last = &stream->first;
        stream->done++;
        free(op);
    }
}

static void run_all(struct fake_gpu *f)
{
    for (struct object *o = f->objects; o; o = o->next)
        run_up_to(o, o->issued);
}

static int append(struct object *stream, const struct operation *wanted)
{
    struct operation *const op = malloc(sizeof(*op));

    if (!op)
        return OUT_OF_MEMORY;
    *op = *wanted;
    *stream->last = op;
    stream->last = &op->next;
    stream->issued++;
    return 0;
}

/* -------------------------------------------------------------- objects --- */

static struct object *find(struct fake_gpu *f, enum kind kind,
                           const void *handle)
{
    struct object *o = f->objects;

    if (kind == STREAM && !handle)
        return &f->initial;
    while (o && (!o->alive || o->kind != kind ||
                 (o->ptr ? o->ptr : (const void *)o) != handle))
        o = o->next;
    if (!o)
        (void)broken(f, 0, "a handle that is not alive");
    return o;
}

static int make(struct fake_gpu *f, enum kind kind, size_t size, void **handle)
{
    const int code = enter(f);
    struct object *o;

    if (code)
        return leave(f, code);
    if (!pthread_getspecific(f->device))
        return leave(f, broken(f, INVALID_CONTEXT, "no use_device before"));
    o = calloc(1, sizeof(*o));
    if (!o || (size && posix_memalign(&o->ptr, ALIGNMENT, size))) {
        free(o);
        return leave(f, OUT_OF_MEMORY);
    }
    if (size)
        memset(o->ptr, POISON, size);
    o->kind = kind;
    o->alive = true;
    o->size = size;
    o->last = &o->first;
    o->next = f->objects;
    f->objects = o;
    *handle = o->ptr ? o->ptr : o;
    return leave(f, 0);
}

/* Whether `size` bytes at `ptr` share any with the memory, or lie in it. */
static bool touches(const struct object *o, const void *ptr, size_t size)
{
    return (uintptr_t)ptr < (uintptr_t)o->ptr + o->size &&
           (uintptr_t)o->ptr < (uintptr_t)ptr + size;
}

static bool holds(const struct object *o, const void *ptr, size_t size)
{
    return (uintptr_t)ptr >= (uintptr_t)o->ptr &&
           (uintptr_t)ptr + size <= (uintptr_t)o->ptr + o->size;
}

static bool is_in_use(const struct fake_gpu *f, const struct object *memory)
{
    for (const struct object *o = f->objects; o; o = o->next)
        for (const struct operation *op = o->first; op; op = op->next)
            if (!op->behind && (touches(memory, op->dst, op->size) ||
                                touches(memory, op->src, op->size)))
                return true;
    return false;
}

static int give_back(struct fake_gpu *f, enum kind kind, const void *handle)
{
    const int code = enter(f);
    struct object *const o = find(f, kind, handle);

    if (!o || o == &f->initial)
        return leave(f, broken(f, INVALID_HANDLE, "the end of a NULL stream"));
    if (kind == STREAM)
        run_up_to(o, o->issued);
    if (o->ptr && is_in_use(f, o)) {
        /* CUDA waits here.  A caller whose wait failed may come to this. */
        if (!f->fail_at || f->calls < f->fail_at)
            (void)broken(f, 0, "the end of memory that a copy needs");
        run_all(f);
    }
    free(o->ptr);
    o->ptr = NULL;
    o->alive = false;
    return leave(f, code);
}

/* ------------------------------------------------------------ the table --- */

static int runtime_version(void *cookie, int *version)
{
    *version = ((const struct fake_gpu *)cookie)->runtime;
    return 0;
}

static int driver_version(void *cookie, int *version)
{
    *version = ((const struct fake_gpu *)cookie)->driver;
    return 0;
}

static int device_count(void *cookie, int *count)
{
    struct fake_gpu *const f = cookie;
    int code = enter(f);

    if (!code)
        code = f->count_code;
    if (!code)
        *count = f->devices;
    return leave(f, code);
}

static int current_device(void *cookie, int *device)
{
    struct fake_gpu *const f = cookie;
    const int code = enter(f);
    const intptr_t now = (intptr_t)pthread_getspecific(f->device);

    if (!code)
        *device = now ? (int)(now - 1) : 0;
    return leave(f, code);
}

static int use_device(void *cookie, int device)
{
    struct fake_gpu *const f = cookie;
    int code = enter(f);

    if (!code && (device < 0 || device >= f->devices))
        code = broken(f, INVALID_DEVICE, "no such device");
    if (!code)
        pthread_setspecific(f->device, (void *)((intptr_t)device + 1));
    return leave(f, code);
}

static int pin(void *cookie, void **ptr, size_t size)
{
    return make(cookie, PINNED, size, ptr);
}

static int unpin(void *cookie, void *ptr)
{
    return give_back(cookie, PINNED, ptr);
}

static int alloc(void *cookie, void **ptr, size_t size)
{
    return make(cookie, DEVICE, size, ptr);
}

static int dealloc(void *cookie, void *ptr)
{
    return give_back(cookie, DEVICE, ptr);
}

static int stream_create(void *cookie, void **stream)
{
    return make(cookie, STREAM, 0, stream);
}

static int stream_destroy(void *cookie, void *stream)
{
    return give_back(cookie, STREAM, stream);
}

static int event_create(void *cookie, void **event)
{
    return make(cookie, EVENT, 0, event);
}

static int event_destroy(void *cookie, void *event)
{
    return give_back(cookie, EVENT, event);
}

static int stream_wait(void *cookie, void *stream, void *event)
{
    struct fake_gpu *const f = cookie;
    const int code = enter(f);
    struct object *const s = code ? NULL : find(f, STREAM, stream);
    const struct object *const e = s ? find(f, EVENT, event) : NULL;

    if (!e)
        return leave(f, code ? code : INVALID_HANDLE);
    if (!e->behind)
        return leave(f, broken(f, INVALID_VALUE, "wait for what never began"));
    return leave(f, append(s, &(struct operation){.behind = e->behind,
                                                  .count = e->count}));
}

static int copy_async(void *cookie, void *dst, const void *src, size_t size,
                      void *stream)
{
    struct fake_gpu *const f = cookie;
    const int code = enter(f);
    struct object *const s = code ? NULL : find(f, STREAM, stream);
    const struct object *o = f->objects;

    if (!s)
        return leave(f, code ? code : INVALID_HANDLE);
    while (o && (!o->alive || o->kind != DEVICE || !holds(o, dst, size)))
        o = o->next;
    if (!o)
        return leave(f, broken(f, INVALID_VALUE, "copy outside the device"));
    return leave(f, append(s, &(struct operation){
                                  .dst = dst, .src = src, .size = size}));
}

static int event_record(void *cookie, void *event, void *stream)
{
    struct fake_gpu *const f = cookie;
    const int code = enter(f);
    struct object *const s = code ? NULL : find(f, STREAM, stream);
    struct object *const e = s ? find(f, EVENT, event) : NULL;

    if (!e)
        return leave(f, code ? code : INVALID_HANDLE);
    e->behind = s;
    e->count = s->issued;
    return leave(f, 0);
}

/* As in CUDA, an event that was never recorded is done. */
static int event_wait(void *cookie, void *event)
{
    struct fake_gpu *const f = cookie;
    const int code = enter(f);
    const struct object *const e = code ? NULL : find(f, EVENT, event);

    if (!e)
        return leave(f, code ? code : INVALID_HANDLE);
    if (e->behind)
        run_up_to(e->behind, e->count);
    return leave(f, 0);
}

static const char *error_name(void *cookie, int code)
{
    (void)cookie;
    return code ? "cudaErrorFake" : "cudaSuccess";
}

/* ------------------------------------------------------------ the tests --- */

struct fake_gpu *fake_gpu_start(int devices)
{
    struct fake_gpu *const f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    if (pthread_key_create(&f->device, NULL)) {
        free(f);
        return NULL;
    }
    pthread_mutex_init(&f->lock, NULL);
    f->devices = devices;
    f->runtime = f->driver = 13000;
    f->initial.kind = STREAM;
    f->initial.last = &f->initial.first;
    f->objects = &f->initial;
    f->table = (struct pfi_gpu){f,
                                runtime_version,
                                driver_version,
                                device_count,
                                current_device,
                                use_device,
                                pin,
                                unpin,
                                alloc,
                                dealloc,
                                stream_create,
                                stream_destroy,
                                stream_wait,
                                copy_async,
                                event_create,
                                event_destroy,
                                event_record,
                                event_wait,
                                error_name};
    return f;
}

void fake_gpu_end(struct fake_gpu *f)
{
    run_all(f);
    for (struct object *o = f->objects, *next; o != &f->initial; o = next) {
        next = o->next;
        free(o->ptr);
        free(o);
    }
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

void fake_gpu_fail(struct fake_gpu *f, long calls, int code, bool for_ever)
{
    pthread_mutex_lock(&f->lock);
    f->fail_at = f->calls + calls + 1;
    f->fail_code = code;
    f->fail_for_ever = for_ever;
    pthread_mutex_unlock(&f->lock);
}

void fake_gpu_run(struct fake_gpu *f, void *stream)
{
    pthread_mutex_lock(&f->lock);
    struct object *const s = find(f, STREAM, stream);

    if (s)
        run_up_to(s, s->issued);
    pthread_mutex_unlock(&f->lock);
}

void fake_gpu_run_all(struct fake_gpu *f)
{
    pthread_mutex_lock(&f->lock);
    run_all(f);
    pthread_mutex_unlock(&f->lock);
}

struct fake_live fake_gpu_live(struct fake_gpu *f)
{
    int counts[4] = {0}, pending = 0;

    pthread_mutex_lock(&f->lock);
    for (const struct object *o = f->objects; o; o = o->next) {
        counts[o->kind] += o->alive;
        pending += (int)(o->issued - o->done);
    }
    pthread_mutex_unlock(&f->lock);
    return (struct fake_live){counts[PINNED], counts[DEVICE], counts[STREAM],
                              counts[EVENT], pending};
}

long fake_gpu_calls(struct fake_gpu *f)
{
    pthread_mutex_lock(&f->lock);
    const long calls = f->calls;

    pthread_mutex_unlock(&f->lock);
    return calls;
}

const char *fake_gpu_misuse(struct fake_gpu *f)
{
    pthread_mutex_lock(&f->lock);
    const char *const misuse = f->misuse;

    pthread_mutex_unlock(&f->lock);
    return misuse;
}
