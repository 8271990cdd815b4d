/* SPDX-License-Identifier: Apache-2.0
 * The loader's parts, shared by the files of this folder. */
#ifndef PFI_LOAD_INTERNAL_H
#define PFI_LOAD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "datasets/order.h"
#include "src/base/numa.h"
#include "src/base/wait.h"
#include "src/load/ahead.h"
#include "src/load/loader.h"
#include "src/load/ring.h"
#include "src/load/sample.h"

/* Scratch that a worker keeps: photographs of ImageNet's size fit.  A larger
 * picture takes what it needs on top for as long as it is decoded, at most its
 * file and the scratch_bytes of its plan. */
#define PFI_WORKER_ARENA ((size_t)2 << 20)

/* Bytes after a batch that may be read (vector loads past the end). */
#define PFI_SLOT_TAIL 128

struct pfi_worker {
    pinfold_loader *loader;
    pthread_t thread;
    struct pfi_arena arena;
    int64_t sample;    /* lock; dataset index of what is in work, or -1 */
    uint64_t since_ns; /* lock; of it */
    bool reads;        /* lock; its file, which may take for ever */
    bool gone;         /* lock; all that the thread has to do is drop() */
    bool left;         /* at the close it was not */
};

/* Sample `place` of the batch in `slot`, which is another's once `round` is
 * over. */
struct pfi_job {
    struct pfi_slot *slot;
    int32_t place;
    int64_t index;
    int64_t position; /* in what is read ahead */
    int64_t round;
    const void *data; /* of the file */
    size_t size;
    pinfold_status status;
    bool read; /* the file was; else `status` is of the reading */
    pinfold_error error;
    struct pfi_times times;
    uint64_t idle_ns; /* since when the worker had waited for it, or 0 */
    uint64_t start_ns, end_ns;
};

/* How bytes that the device normalises are uploaded.  A host slot, and the
 * device's memory that it is copied to, holds the tables of three channels; at
 * `good` a byte a sample, 0 for a bad one; at `pixels` the samples.  So the
 * tables come with the batch, where one copy at open would have to wait for
 * what the caller's stream has queued. */
struct pfi_staged {
    bool used;
    size_t good, pixels; /* 0 where it is not used */
    unsigned char tables[3 * 1024];
    void *memory;           /* the device's, one for all batches: the stream */
    void *library, *kernel; /* keeps each copy behind the kernel before it */
};

/* Where an epoch goes on. */
struct pfi_resume {
    int64_t epoch, batch;
    bool deal;            /* exact shards: */
    struct pfi_rest rest; /* what is left is dealt anew */
};

/* Fields without a remark never change after the open. */
struct pinfold_loader {
    pinfold_loader_options options; /* defaults filled in; recipe NULL */
    pinfold_allocator allocator;    /* used where alloc is not NULL */
    struct pfi_task task;     /* of what the workers write */
    struct pfi_recipe output; /* of what batches hold */
    struct pfi_staged staged;
    pinfold_dataset *dataset;
    pinfold_memory_plan plan;
    struct pfi_numa numa; /* near the device */
    struct pfi_patient patient; /* stopped and resumed with `lock` held */
    struct pfi_reader reader;   /* by way of it */
    struct pfi_ahead *ahead; /* NULL: the workers read */
    pinfold_trace trace;       /* event may be NULL */
    const struct pfi_gpu *gpu; /* NULL when no device is used */
    const char *why_no_gpu;
    pid_t pid;
    atomic_int users; /* threads that may read files, and the holders */
    atomic_int holders; /* of slots: the handle, tensors that were handed over */
    size_t slot_bytes, device_bytes; /* of a slot, on the host and device */
    bool pinned, own_stream;
    void *stream; /* the copies' */

    bool lock_made, conds_made, patient_made;
    pthread_mutex_t lock;
    pthread_cond_t work;   /* workers: there may be a sample to make */
    pthread_cond_t ready;  /* the caller: a batch may be ready */
    pthread_cond_t device; /* the device thread: something to copy or await */
    pthread_cond_t idle;   /* start and close: a thread became idle or is gone */

    struct pfi_order order; /* only in start */
    struct pfi_epoch now;   /* changes while all are idle */
    struct pfi_rest rest;   /* as now; how `now` was dealt */
    int64_t first_batch, first_position; /* as now; what it was begun with */
    uint64_t fingerprint;   /* of the data set; 0 = not made; the caller's */

    int64_t epoch;         /* lock */
    int64_t round;         /* lock; counts the starts: what was taken before one
                            * is not made behind it */
    bool started;          /* lock; an epoch is being made */
    bool cancelled;        /* lock; until the next start */
    bool closing;          /* lock */
    int32_t n_busy;        /* lock; workers that write to a slot */
    int32_t n_gone;        /* lock; workers whose threads end */
    bool copying;          /* lock; the device thread is at a batch */
    struct pfi_slot *filling; /* lock; batch that samples are handed out of */
    uint64_t full_since_ns;   /* lock; no slot is free or filled; 0 = not so */
    struct pfi_ring host, dev; /* lock; dev has no slots without upload */
    pinfold_error failure; /* lock; of the device thread, until the next start */
    pinfold_stats stats;   /* lock */

    struct pfi_worker *workers; /* n_threads, or one for the calling thread */
    int32_t n_wanted;             /* threads to start; 0 = none */
    int32_t n_workers, n_threads; /* n_threads counts those that run */
    bool device_thread_runs;
    pthread_t device_thread;
};

/* PINFOLD_E_FORK in a child of the process that opened the loader. */
pinfold_status pfi_loader_check(const pinfold_loader *loader,
                                pinfold_error *err);

/* epoch.c: what an order is made from by checked options. */
struct pfi_order_source pfi_order_source_of(const pinfold_loader_options *options,
                                            int64_t n);
/* With no thread at work: makes the epoch that start begins. */
void pfi_epoch_begin(pinfold_loader *loader, int64_t epoch,
                     const struct pfi_resume *resume);
/* batch.c: pinfold_loader_start(), or going on where a state was taken. */
pinfold_status pfi_loader_begin(pinfold_loader *loader, int64_t epoch,
                                const struct pfi_resume *resume,
                                pinfold_error *err);
/* state.c: refuses a state that is not of this loader's data set, recipe and
 * order. */
pinfold_status pfi_state_take(pinfold_loader *loader, const void *state,
                              size_t size, struct pfi_resume *out,
                              pinfold_error *err);
/* options.c: checks them all; fills in what an order depends on. */
pinfold_status pfi_options_take(pinfold_loader_options *out,
                                const pinfold_loader_options *options,
                                pinfold_error *err);

/* draft.c: all of a loader that follows from the arguments, which is what an
 * open then allocates; takes nothing, so that there is nothing to undo. */
pinfold_status pfi_loader_draft(pinfold_loader *draft, pinfold_dataset *dataset,
                                const pinfold_loader_options *options,
                                const struct pfi_gpu *gpu, pinfold_error *err);

/* slots.c: what one slot has beside its tensor, and memory, arrays and
 * events of both rings. */
size_t pfi_slot_labels(size_t count);
pinfold_status pfi_slots_open(pinfold_loader *loader, pinfold_error *err);
/* The device has no room for the `bytes` of `what`, or cudaMalloc failed
 * otherwise. */
pinfold_status pfi_fail_alloc(const pinfold_loader *loader, size_t bytes,
                              const char *what, int code, pinfold_error *err);
void pfi_slots_close(pinfold_loader *loader, bool forked);

/* staged.c: what the device needs to make elements of bytes.  plan says how
 * slots are laid out, before they are sized; open comes behind the stream. */
pinfold_status pfi_staged_plan(pinfold_loader *loader, pinfold_error *err);
pinfold_status pfi_staged_open(pinfold_loader *loader, pinfold_error *err);
void pfi_staged_close(pinfold_loader *loader);
/* Makes a host slot ready to be written. */
void pfi_staged_fill(const pinfold_loader *loader, struct pfi_slot *slot);
/* Queues the kernel that makes the elements of `to`. */
pinfold_status pfi_staged_launch(pinfold_loader *loader,
                                 const struct pfi_slot *to, pinfold_error *err);

/* worker.c: a sample's way.  take, hold and finish are called with the lock
 * held, read, make and end without.  A read may never end, so that nothing waits
 * for one; only between hold, which says whether the sample is wanted still, and
 * finish is the slot this job's. */
bool pfi_job_take(pinfold_loader *loader, struct pfi_job *job);
void pfi_job_read(pinfold_loader *loader, struct pfi_arena *arena,
                  struct pfi_job *job);
bool pfi_job_hold(pinfold_loader *loader, const struct pfi_job *job);
void pfi_job_make(pinfold_loader *loader, struct pfi_arena *arena,
                  struct pfi_job *job);
void pfi_job_end(pinfold_loader *loader, struct pfi_arena *arena,
                 const struct pfi_job *job);
void pfi_job_finish(pinfold_loader *loader, const struct pfi_job *job);
void *pfi_worker_main(void *worker);

/* Puts the sample's file and index into its error. */
void pfi_error_name_sample(const pinfold_dataset *dataset, int64_t index,
                           pinfold_error *err);

/* close.c: one holder more, and one less; the last one frees the slots. */
void pfi_loader_hold(pinfold_loader *loader);
void pfi_loader_let_go(pinfold_loader *loader);

/* close.c: the last of the loader's users frees it. */
void pfi_loader_drop(pinfold_loader *loader);
/* With the lock held: puts what takes longest into the error of a timeout, and
 * `then` behind it; returns PINFOLD_TIMEOUT. */
pinfold_status pfi_time_out(const pinfold_loader *loader, const char *then,
                            pinfold_error *err);

/* device.c: queues copies and waits for events, in a thread of its own. */
void *pfi_device_main(void *loader);
/* Make the loader's device the calling thread's, and give it the one that it
 * had `before` again.  leave returns `status`, or its own failure. */
pinfold_status pfi_device_enter(const pinfold_loader *loader, int *before,
                                pinfold_error *err);
pinfold_status pfi_device_leave(const pinfold_loader *loader, int before,
                                pinfold_status status, pinfold_error *err);
/* Records a failed CUDA call: "cudaMemcpyAsync: cudaErrorInvalidValue". */
pinfold_status pfi_fail_cuda(const struct pfi_gpu *gpu, pinfold_error *err,
                             int code, const char *call);

/* trace.c: tell the caller of what is over.  No lock is held, so that what the
 * event is about comes as values.  pfi_trace_job() tells of both its stages;
 * `worker` is -1 in the calling thread. */
void pfi_trace_span(const pinfold_loader *loader, const char *name,
                    pinfold_lane lane, int32_t lane_index, uint64_t start_ns,
                    const struct pfi_meta *meta, pinfold_status status);
void pfi_trace_job(const pinfold_loader *loader, const struct pfi_job *job,
                   int32_t worker);

/* The ring that batches are lent from. */
static inline struct pfi_ring *pfi_lending_ring(pinfold_loader *loader)
{
    return loader->dev.n_slots ? &loader->dev : &loader->host;
}

/* Files that are kept read: two a reading thread, and one a worker that holds
 * it. */
static inline int32_t pfi_ahead_depth(const pinfold_loader *loader)
{
    return 2 * loader->options.io_threads +
           (loader->n_wanted ? loader->n_wanted : 1);
}

#endif
