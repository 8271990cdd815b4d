/* SPDX-License-Identifier: Apache-2.0
 * The fake CUDA runtime's functions, and the rules that they check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fakeinside.h"

/* Codes of driver_types.h. */
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define INVALID_DEVICE 101
#define INVALID_CONTEXT 201
#define INVALID_HANDLE 400
#define ALREADY_REGISTERED 712

#define ALIGNMENT 256

int fake_broken(struct fake_gpu *f, int code, const char *rule)
{
    if (!f->line.misuse)
        f->line.misuse = rule;
    return code;
}

/* The device of the calling thread, -1 where none was set. */
static int device_of_thread(const struct fake_gpu *f)
{
    return (int)(intptr_t)pthread_getspecific(f->device) - 1;
}

static _Thread_local bool is_spared;

void fake_gpu_spare(bool spared)
{
    is_spared = spared;
}

/* The code that this call has to fail with, or 0. */
static int forced(struct fake_gpu *f, const char *name)
{
    if (f->fail_at && (f->calls == f->fail_at ||
                       (f->calls > f->fail_at && f->fail_for_ever))) {
        if (!f->failed)
            f->failed = name;
        return f->fail_code;
    }
    return f->refused && !strcmp(f->refused, name) ? f->refused_code : 0;
}

/* Locks, counts the call, and returns the code that it has to fail with. */
int fake_enter(struct fake_gpu *f, const char *name)
{
    const char *rule = NULL;
    uint64_t ns = 0;

    if (f->pid != getpid())
        rule = "a call from a forked child";
    else if (f->world && f->world->locks_held())
        rule = "a call with a lock held";
    pthread_mutex_lock(&f->lock);
    if (rule)
        (void)fake_broken(f, 0, rule);
    if (is_spared)
        return 0;
    f->calls++;
    if (f->slow_at < 0 || f->slow_at == f->calls)
        ns = f->slow_ns;
    const int code = forced(f, name);

    if (!f->world)
        return code;
    pthread_mutex_unlock(&f->lock);
    f->world->sleep(ns);
    pthread_mutex_lock(&f->lock);
    return code;
}

int fake_leave(struct fake_gpu *f, int code)
{
    pthread_mutex_unlock(&f->lock);
    return code;
}

/* --------------------------------------------------------------- waits --- */

static bool is_over(void *argument)
{
    const struct fake_pending *const p = argument;

    return p->stream ? fake_stream_done(p->stream) >= p->count
                     : !fake_timeline_uses(&p->fake->line, p->memory->ptr,
                                           p->memory->size);
}

void fake_gpu_await(struct fake_gpu *f, struct fake_pending *p)
{
    p->fake = f;
    if (f->world) {
        pthread_mutex_unlock(&f->lock);
        f->world->wait(is_over, p, "waits for the device");
        pthread_mutex_lock(&f->lock);
        return;
    }
    while (!is_over(p))
        fake_timeline_run(&f->line, fake_timeline_next(&f->line));
}

/* ------------------------------------------------------------- objects --- */

static struct fake_object *find(struct fake_gpu *f, enum fake_kind kind,
                                const void *handle)
{
    struct fake_object *o = f->objects;

    if (kind == STREAM && !handle)
        return &f->initial;
    while (o && (!o->alive || o->kind != kind ||
                 (o->ptr ? o->ptr : (const void *)o) != handle))
        o = o->next;
    if (!o)
        (void)fake_broken(f, 0, "a handle that is not alive");
    return o;
}

/* A stream or event that the calling thread's device has. */
struct fake_object *fake_find_here(struct fake_gpu *f, enum fake_kind kind,
                                   const void *handle)
{
    struct fake_object *const o = find(f, kind, handle);

    /* Once every call fails, none can set the device. */
    if (!o || (f->failed && f->fail_for_ever))
        return o;
    if (device_of_thread(f) < 0)
        (void)fake_broken(f, 0, "a call in a thread without a device");
    else if (o != &f->initial && o->device != device_of_thread(f))
        (void)fake_broken(f, 0, "a call on another device than the thread's");
    return o;
}

/* With the lock held. */
int fake_add(struct fake_gpu *f, enum fake_kind kind, void *ptr, size_t size,
             void **handle)
{
    struct fake_object *const o = calloc(1, sizeof(*o));

    if (!o)
        return OUT_OF_MEMORY;
    if (kind == STREAM && !(o->stream = fake_stream_new(&f->line))) {
        free(o);
        return OUT_OF_MEMORY;
    }
    o->kind = kind;
    o->alive = true;
    o->device = device_of_thread(f);
    o->ptr = ptr;
    o->size = size;
    o->next = f->objects;
    f->objects = o;
    if (handle)
        *handle = ptr ? ptr : o;
    return 0;
}

size_t fake_gpu_bytes(const struct fake_gpu *f, enum fake_kind kind)
{
    size_t bytes = 0;

    for (const struct fake_object *o = f->objects; o; o = o->next)
        if (o->alive && o->kind == kind)
            bytes += o->size;
    return bytes;
}

static int make(struct fake_gpu *f, const char *name, enum fake_kind kind,
                size_t size, void **handle)
{
    int code = fake_enter(f, name);
    void *ptr = NULL;

    if (code)
        return fake_leave(f, code);
    if (device_of_thread(f) < 0)
        return fake_leave(
            f, fake_broken(f, INVALID_CONTEXT, "no use_device before"));
    if (kind == DEVICE && size > f->room - fake_gpu_bytes(f, DEVICE))
        return fake_leave(f, OUT_OF_MEMORY);
    if (size && posix_memalign(&ptr, ALIGNMENT, size))
        return fake_leave(f, OUT_OF_MEMORY);
    if (size)
        memset(ptr, FAKE_POISON, size);
    code = fake_add(f, kind, ptr, size, handle);
    if (code)
        free(ptr);
    return fake_leave(f, code);
}

int fake_give_back(struct fake_gpu *f, const char *name, enum fake_kind kind,
                   const void *handle)
{
    const int code = fake_enter(f, name);
    struct fake_object *const o = find(f, kind, handle);

    if (!o || o == &f->initial)
        return fake_leave(
            f, fake_broken(f, INVALID_HANDLE, "the end of a NULL stream"));
    if (o->ptr && fake_timeline_uses(&f->line, o->ptr, o->size)) {
        /* CUDA waits here.  A caller whose wait failed may come to this. */
        if (!f->failed || (!f->fail_for_ever && !strstr(f->failed, "Synch")))
            (void)fake_broken(f, 0, "the end of memory that a copy needs");
        fake_gpu_await(f, &(struct fake_pending){.memory = o});
    }
    if (o->ptr && kind != REGISTERED) {
        memset(o->ptr, FAKE_POISON, o->size);
        free(o->ptr);
    }
    o->ptr = NULL;
    o->alive = false;
    return fake_leave(f, code);
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
    int code = fake_enter(f, "cudaGetDeviceCount");

    if (!code)
        code = f->count_code;
    if (!code)
        *count = f->devices;
    return fake_leave(f, code);
}

static int pci_bus_id(void *cookie, char *text, int size, int device)
{
    const struct fake_gpu *const f = cookie;

    if (!f->pci || device < 0 || device >= f->devices)
        return INVALID_VALUE;
    (void)snprintf(text, (size_t)size, "%s", f->pci);
    return 0;
}

static int current_device(void *cookie, int *device)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaGetDevice");
    const int now = device_of_thread(f);

    if (!code)
        *device = now < 0 ? 0 : now;
    return fake_leave(f, code);
}

static int use_device(void *cookie, int device)
{
    struct fake_gpu *const f = cookie;
    int code = fake_enter(f, "cudaSetDevice");

    if (!code && (device < 0 || device >= f->devices))
        code = fake_broken(f, INVALID_DEVICE, "no such device");
    if (!code)
        pthread_setspecific(f->device, (void *)((intptr_t)device + 1));
    return fake_leave(f, code);
}

static int pin(void *cookie, void **ptr, size_t size)
{
    return make(cookie, "cudaHostAlloc", PINNED, size, ptr);
}

static int unpin(void *cookie, void *ptr)
{
    return fake_give_back(cookie, "cudaFreeHost", PINNED, ptr);
}

static int alloc(void *cookie, void **ptr, size_t size)
{
    return make(cookie, "cudaMalloc", DEVICE, size, ptr);
}

static int dealloc(void *cookie, void *ptr)
{
    return fake_give_back(cookie, "cudaFree", DEVICE, ptr);
}

static int memory_info(void *cookie, size_t *left, size_t *total)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaMemGetInfo");

    if (!code) {
        *total = f->room;
        *left = f->room - fake_gpu_bytes(f, DEVICE);
    }
    return fake_leave(f, code);
}

static int stream_create(void *cookie, void **stream)
{
    return make(cookie, "cudaStreamCreateWithFlags", STREAM, 0, stream);
}

/* As in CUDA, what was queued is done all the same. */
static int stream_destroy(void *cookie, void *stream)
{
    return fake_give_back(cookie, "cudaStreamDestroy", STREAM, stream);
}

static int event_create(void *cookie, void **event)
{
    return make(cookie, "cudaEventCreateWithFlags", EVENT, 0, event);
}

static int event_destroy(void *cookie, void *event)
{
    return fake_give_back(cookie, "cudaEventDestroy", EVENT, event);
}

int fake_gpu_push(struct fake_gpu *f, struct fake_object *stream,
                  const struct fake_op *op)
{
    if (f->world)
        fake_timeline_run(&f->line, f->world->now());
    return fake_stream_push(&f->line, stream->stream, op) ? 0 : OUT_OF_MEMORY;
}

static int stream_wait(void *cookie, void *stream, void *event)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaStreamWaitEvent");
    struct fake_object *const s =
        code ? NULL : fake_find_here(f, STREAM, stream);
    const struct fake_object *const e =
        s ? fake_find_here(f, EVENT, event) : NULL;

    if (!e)
        return fake_leave(f, code ? code : INVALID_HANDLE);
    if (!e->stream)
        return fake_leave(
            f, fake_broken(f, INVALID_VALUE, "wait for what never began"));
    return fake_leave(f, fake_gpu_push(f, s,
                                       &(struct fake_op){.kind = FAKE_WAIT,
                                                         .behind = e->stream,
                                                         .count = e->count}));
}

static int stream_sync(void *cookie, void *stream)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaStreamSynchronize");
    const struct fake_object *const s =
        code ? NULL : fake_find_here(f, STREAM, stream);

    if (!s)
        return fake_leave(f, code ? code : INVALID_HANDLE);
    fake_gpu_await(
        f, &(struct fake_pending){.stream = s->stream,
                                  .count = fake_stream_pushed(s->stream)});
    return fake_leave(f, 0);
}

/* The live memory of a kind that holds these bytes, or NULL. */
const struct fake_object *fake_holder(const struct fake_gpu *f,
                                      enum fake_kind kind, const void *ptr,
                                      size_t size)
{
    for (const struct fake_object *o = f->objects; o; o = o->next)
        if (o->alive && o->kind == kind &&
            (uintptr_t)ptr >= (uintptr_t)o->ptr &&
            (uintptr_t)ptr + size <= (uintptr_t)o->ptr + o->size)
            return o;
    return NULL;
}

static int host_register(void *cookie, void *ptr, size_t size)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaHostRegister");

    if (code)
        return fake_leave(f, code);
    if (device_of_thread(f) < 0)
        return fake_leave(
            f, fake_broken(f, INVALID_CONTEXT, "no use_device before"));
    if (fake_holder(f, REGISTERED, ptr, 1) || fake_holder(f, PINNED, ptr, 1))
        return fake_leave(f, ALREADY_REGISTERED);
    return fake_leave(f, fake_add(f, REGISTERED, ptr, size, NULL));
}

static int host_unregister(void *cookie, void *ptr)
{
    return fake_give_back(cookie, "cudaHostUnregister", REGISTERED, ptr);
}

static int copy_async(void *cookie, void *dst, const void *src, size_t size,
                      void *stream)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaMemcpyAsync");
    struct fake_object *const s =
        code ? NULL : fake_find_here(f, STREAM, stream);
    const bool pinned = fake_holder(f, PINNED, src, size) ||
                        fake_holder(f, REGISTERED, src, size);
    uint64_t ns = f->latency_ns + (uint64_t)((double)size / f->bytes_per_ns);

    if (!s)
        return fake_leave(f, code ? code : INVALID_HANDLE);
    if (!fake_holder(f, DEVICE, dst, size))
        return fake_leave(
            f, fake_broken(f, INVALID_VALUE, "copy outside the device"));
    if (!pinned &&
        (fake_holder(f, PINNED, src, 1) || fake_holder(f, REGISTERED, src, 1)))
        return fake_leave(
            f, fake_broken(f, INVALID_VALUE, "copy past pinned memory"));
    *(pinned ? &f->pinned_copies : &f->pageable_copies) += 1;
    ns *= pinned ? 1 : 4;
    return fake_leave(f, fake_gpu_push(f, s,
                                       &(struct fake_op){.kind = FAKE_COPY,
                                                         .dst = dst,
                                                         .src = src,
                                                         .size = size,
                                                         .ns = ns}));
}

static int event_record(void *cookie, void *event, void *stream)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaEventRecord");
    struct fake_object *const s =
        code ? NULL : fake_find_here(f, STREAM, stream);
    struct fake_object *const e = s ? fake_find_here(f, EVENT, event) : NULL;

    if (!e)
        return fake_leave(f, code ? code : INVALID_HANDLE);
    e->stream = s->stream;
    e->count = fake_stream_pushed(s->stream);
    return fake_leave(f, 0);
}

static int event_wait(void *cookie, void *event)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaEventSynchronize");
    /* As in CUDA, from any device. */
    const struct fake_object *const e = code ? NULL : find(f, EVENT, event);

    if (!e)
        return fake_leave(f, code ? code : INVALID_HANDLE);
    if (!e->stream)
        return fake_leave(f, fake_broken(f, 0, "wait for what never began"));
    fake_gpu_await(
        f, &(struct fake_pending){.stream = e->stream, .count = e->count});
    return fake_leave(f, 0);
}

static const char *error_name(void *cookie, int code)
{
    (void)cookie;
    switch (code) {
    case 0: return "cudaSuccess";
    case INVALID_VALUE: return "cudaErrorInvalidValue";
    case OUT_OF_MEMORY: return "cudaErrorMemoryAllocation";
    case INVALID_DEVICE: return "cudaErrorInvalidDevice";
    case INVALID_HANDLE: return "cudaErrorInvalidResourceHandle";
    case ALREADY_REGISTERED: return "cudaErrorHostMemoryAlreadyRegistered";
    case 700: return "cudaErrorIllegalAddress";
    case 719: return "cudaErrorLaunchFailure";
    case 218: return "cudaErrorInvalidPtx";
    case 500: return "cudaErrorSymbolNotFound";
    default: return "cudaErrorUnknown";
    }
}

const struct pfi_gpu fake_gpu_calls_table = {
    .runtime_version = runtime_version,
    .driver_version = driver_version,
    .device_count = device_count,
    .pci_bus_id = pci_bus_id,
    .current_device = current_device,
    .use_device = use_device,
    .pin = pin,
    .unpin = unpin,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .alloc = alloc,
    .dealloc = dealloc,
    .memory_info = memory_info,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .stream_sync = stream_sync,
    .copy_async = copy_async,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .error_name = error_name,
    .library_load = fake_library_load,
    .library_unload = fake_library_unload,
    .library_kernel = fake_library_kernel,
    .launch = fake_launch,
};
