/* SPDX-License-Identifier: Apache-2.0
 * Kernels of the fake device: its PTX runs on the host, at the launch's end.
 * By convention the first argument is the memory that is written and the second
 * what is read. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/fakeinside.h"

/* Codes of driver_types.h. */
#define INVALID_VALUE 1
#define INVALID_PTX 218
#define INVALID_HANDLE 400
#define NOT_FOUND 500

/* Freed with the fake, whether it ran or not. */
struct fake_launch {
    struct fake_launch *next;
    struct fake_gpu *fake;
    const struct fake_object *library, *dst, *src;
    unsigned char *before; /* what src held at the start */
    struct pfi_gpu_grid grid;
    uint64_t values[FAKE_PTX_PARAMETERS];
};

void fake_launches_end(struct fake_gpu *f)
{
    while (f->launches) {
        struct fake_launch *const launch = f->launches;

        f->launches = launch->next;
        free(launch->before);
        free(launch);
    }
}

int fake_library_load(void *cookie, const char *text, void **library)
{
    struct fake_gpu *const f = cookie;
    int code = fake_enter(f, "cudaLibraryLoadData");
    struct fake_ptx *const ptx = code ? NULL : fake_ptx_load(text);

    if (!ptx)
        return fake_leave(f, code ? code : INVALID_PTX);
    code = fake_add(f, LIBRARY, NULL, 0, library);
    if (code)
        fake_ptx_free(ptx);
    else
        f->objects->ptx = ptx;
    return fake_leave(f, code);
}

int fake_library_unload(void *cookie, void *library)
{
    return fake_give_back(cookie, "cudaLibraryUnload", LIBRARY, library);
}

/* The kernel's handle is its library's text. */
int fake_library_kernel(void *cookie, void *library, const char *name,
                        void **kernel)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaLibraryGetKernel");
    const struct fake_object *const o =
        code ? NULL : fake_find_here(f, LIBRARY, library);

    if (!o)
        return fake_leave(f, code ? code : INVALID_HANDLE);
    if (!fake_ptx_is(o->ptx, name))
        return fake_leave(f, NOT_FOUND);
    *kernel = o->ptx;
    return fake_leave(f, 0);
}

static bool is_in(const struct fake_object *o, uintptr_t address, size_t size)
{
    return address >= (uintptr_t)o->ptr &&
           address + size <= (uintptr_t)o->ptr + o->size;
}

static bool may_touch(void *cookie, uintptr_t address, size_t size, bool write)
{
    const struct fake_launch *const launch = cookie;

    return is_in(write ? launch->dst : launch->src, address, size);
}

/* With the fake's lock held, or in the simulation's turn. */
static void run(void *argument, bool at_end)
{
    struct fake_launch *const l = argument;
    const char *wrong = NULL;

    if (!l->library->alive || !l->dst->alive || !l->src->alive)
        wrong = "a kernel runs without its library or memory";
    else if (!at_end) {
        memcpy(l->before, l->src->ptr, l->src->size);
        memset(l->dst->ptr, FAKE_POISON, l->dst->size);
    } else {
        wrong = memcmp(l->before, l->src->ptr, l->src->size)
                    ? "device memory changed while a kernel read it"
                    : fake_ptx_run(l->library->ptx, &l->grid, l->values,
                                   may_touch, l);
    }
    if (wrong)
        (void)fake_broken(l->fake, 0, wrong);
}

static const struct fake_object *library_of(const struct fake_gpu *f,
                                            const void *kernel)
{
    const struct fake_object *o = f->objects;

    while (o && !(o->alive && o->kind == LIBRARY && o->ptx == kernel))
        o = o->next;
    return o;
}

/* Puts the launch into the stream; with the lock held. */
static int push(struct fake_gpu *f, struct fake_object *stream,
                struct fake_launch *l)
{
    struct fake_op op = {.kind = FAKE_KERNEL, .kernel = run, .argument = l};

    l->before = malloc(l->src->size);
    if (!l->before)
        abort();
    op.dst = l->dst->ptr;
    op.dst_size = l->dst->size;
    op.src = l->src->ptr;
    op.size = l->src->size;
    /* Device memory is many times faster than the bus. */
    op.ns =
        1 +
        (f->latency_ns + (uint64_t)((double)op.dst_size / f->bytes_per_ns)) / 8;
    f->kernels++;
    return fake_gpu_push(f, stream, &op);
}

int fake_launch(void *cookie, void *kernel, const struct pfi_gpu_grid *grid,
                void **arguments, void *stream)
{
    struct fake_gpu *const f = cookie;
    const int code = fake_enter(f, "cudaLaunchKernel");
    struct fake_object *const s =
        code ? NULL : fake_find_here(f, STREAM, stream);
    struct fake_launch *l;

    if (!s)
        return fake_leave(f, code ? code : INVALID_HANDLE);
    l = calloc(1, sizeof(*l));
    if (!l)
        abort();
    l->next = f->launches;
    f->launches = l;
    l->fake = f;
    l->grid = *grid;
    l->library = library_of(f, kernel);
    if (!l->library)
        return fake_leave(f, fake_broken(f, INVALID_HANDLE, "no such kernel"));
    if (grid->threads > 1024 || grid->blocks_y > 65535 || !grid->threads ||
        !grid->blocks_x || !grid->blocks_y)
        return fake_leave(f,
                          fake_broken(f, INVALID_VALUE, "an impossible grid"));
    if (fake_ptx_take(l->library->ptx, arguments, l->values) >= 2) {
        l->dst = fake_holder(f, DEVICE, (void *)(uintptr_t)l->values[0], 1);
        l->src = fake_holder(f, DEVICE, (void *)(uintptr_t)l->values[1], 1);
    }
    if (!l->dst || !l->src)
        return fake_leave(
            f, fake_broken(f, INVALID_VALUE, "a kernel outside the device"));
    return fake_leave(f, push(f, s, l));
}
