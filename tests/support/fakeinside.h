/* SPDX-License-Identifier: Apache-2.0
 * What the fake CUDA runtime's own files share. */
#ifndef PFI_TESTS_FAKEINSIDE_H
#define PFI_TESTS_FAKEINSIDE_H

#include <pthread.h>
#include <sys/types.h>

#include "tests/support/fakegpu.h"
#include "tests/support/fakeptx.h"
#include "tests/support/fakestream.h"

enum fake_kind { PINNED, REGISTERED, DEVICE, STREAM, EVENT, LIBRARY, N_KINDS };

/* What a handle names.  It stays when it is given back, so that a handle is
 * never used twice. */
struct fake_object {
    struct fake_object *next;
    enum fake_kind kind;
    bool alive;
    int device;
    void *ptr; /* of memory */
    size_t size;
    /* Of a stream; of an event, NULL until it is recorded: done when the first
     * `count` operations of this stream are. */
    struct fake_stream *stream;
    long count;
    struct fake_ptx *ptx; /* of a library */
};

/* The lock guards all but the table, the key, the process and the world. */
struct fake_gpu {
    struct pfi_gpu table;
    pthread_key_t device; /* the thread's current device + 1 */
    pid_t pid;
    const struct fake_world *world;
    pthread_mutex_t lock;
    int devices, count_code, runtime, driver;
    const char *pci;
    size_t room;
    long calls, fail_at, slow_at;
    int fail_code, refused_code;
    bool fail_for_ever;
    const char *failed, *refused;
    uint64_t slow_ns, latency_ns;
    double bytes_per_ns;
    long pinned_copies, pageable_copies, kernels;
    struct fake_launch *launches;
    struct fake_timeline line;
    struct fake_object *objects;
    struct fake_object initial; /* the NULL stream, last of the objects */
};

/* What a wait is for: a stream's first `count` operations, or all that use
 * this memory. */
struct fake_pending {
    struct fake_gpu *fake;
    const struct fake_stream *stream;
    long count;
    const struct fake_object *memory;
};

/* With the lock held, which a simulation gets while it waits. */
void fake_gpu_await(struct fake_gpu *fake, struct fake_pending *pending);
/* With the lock held: puts an operation into a stream; a CUDA code. */
int fake_gpu_push(struct fake_gpu *fake, struct fake_object *stream,
                  const struct fake_op *op);

/* What every call is made of; all but enter with the lock held.  enter locks,
 * counts the call and returns the code that it has to fail with. */
int fake_enter(struct fake_gpu *fake, const char *name);
int fake_leave(struct fake_gpu *fake, int code);
/* Notes the rule that was broken; returns the code. */
int fake_broken(struct fake_gpu *fake, int code, const char *rule);
/* A stream, event or library that the calling thread's device has. */
struct fake_object *fake_find_here(struct fake_gpu *fake, enum fake_kind kind,
                                   const void *handle);
/* The live memory of a kind that holds these bytes, or NULL. */
const struct fake_object *fake_holder(const struct fake_gpu *fake,
                                      enum fake_kind kind, const void *ptr,
                                      size_t size);
/* A new object, first of the list; a CUDA code. */
int fake_add(struct fake_gpu *fake, enum fake_kind kind, void *ptr, size_t size,
             void **handle);
/* A whole call that gives something back. */
int fake_give_back(struct fake_gpu *fake, const char *name, enum fake_kind kind,
                   const void *handle);

/* fakekernel.c */
int fake_library_load(void *cookie, const char *text, void **library);
int fake_library_unload(void *cookie, void *library);
int fake_library_kernel(void *cookie, void *library, const char *name,
                        void **kernel);
int fake_launch(void *cookie, void *kernel, const struct pfi_gpu_grid *grid,
                void **arguments, void *stream);
void fake_launches_end(struct fake_gpu *fake);

/* With the lock held: the bytes of a kind that are alive. */
size_t fake_gpu_bytes(const struct fake_gpu *fake, enum fake_kind kind);
/* The functions, without a cookie. */
extern const struct pfi_gpu fake_gpu_calls_table;

#endif
