/* SPDX-License-Identifier: Apache-2.0
 * A CUDA runtime without a device.  Device memory is host memory; a copy reads
 * its source at its start and end, and its target is poison until it is done.
 *
 * By itself the fake does everything as late as the calls allow: its clock
 * moves only where a call has to wait, and in fake_gpu_run().  With
 * fake_gpu_join() it lives on the clock of a simulation.
 *
 * Rules that every call checks: objects are alive and of the current device, a
 * device was set in the thread, no lock is held, an event was recorded before
 * it is waited for, a copy lies inside its allocation, memory that is given
 * back is not in use, no call comes from a forked child. */
#ifndef PFI_TESTS_FAKEGPU_H
#define PFI_TESTS_FAKEGPU_H

#include <stdbool.h>

#include "src/gpu/gpu.h"
#include "tests/support/world.h"

struct fake_gpu;

/* What is alive, and the operations that are not done in all streams. */
struct fake_live {
    int pins, allocs, streams, events, libraries, pending;
    size_t pinned_bytes, device_bytes;
};

/* NULL when out of memory.  Versions are 13000 at first. */
struct fake_gpu *fake_gpu_start(int devices);
/* Frees everything, also what was leaked. */
void fake_gpu_end(struct fake_gpu *fake);
const struct pfi_gpu *fake_gpu_table(struct fake_gpu *fake);

/* What the probe sees: the code of device_count, which stores a count only
 * where it is 0, and the versions. */
void fake_gpu_script(struct fake_gpu *fake, int count_code, int runtime,
                     int driver);

/* The PCI bus id of every device; NULL, as at first: that call fails.  Kept. */
void fake_gpu_pci(struct fake_gpu *fake, const char *pci);
/* What all devices' memory together takes; 0, as at first: 1 TiB. */
void fake_gpu_room(struct fake_gpu *fake, size_t bytes);

/* The call after `calls` more calls fails with `code`, and all later ones too
 * where `for_ever`, as after an error that CUDA calls sticky.  A failing call
 * does nothing, save that one which gives something back does so.  The versions,
 * the PCI bus id and error_name are no calls. */
void fake_gpu_fail(struct fake_gpu *fake, long calls, int code, bool for_ever);
/* Every call of this name fails with `code`; NULL ends that. */
void fake_gpu_refuse(struct fake_gpu *fake, const char *name, int code);
/* The call after `calls` more calls takes `ns`, or, below 0, every call. */
void fake_gpu_delay(struct fake_gpu *fake, long calls, uint64_t ns);
/* Calls of this thread are not counted and do not fail, until false. */
void fake_gpu_spare(bool spared);
/* The name of the first call that failed as told, "cudaMalloc", or NULL. */
const char *fake_gpu_failed(struct fake_gpu *fake);
/* Calls since the start. */
long fake_gpu_calls(struct fake_gpu *fake);

void fake_gpu_join(struct fake_gpu *fake, const struct fake_world *world);
/* A copy takes latency_ns and 1 ns for each `bytes_per_ns`; at first both are
 * 1.  From memory that is not pinned it takes four times as long, and a kernel
 * an eighth of what a copy of its output would. */
void fake_gpu_speed(struct fake_gpu *fake, uint64_t latency_ns,
                    double bytes_per_ns);

/* Queues work of `ns` that reads `size` bytes at `data`: work() is called at
 * its start and end, in whatever thread moves the clock. */
void fake_gpu_work(struct fake_gpu *fake, void *stream, const void *data,
                   size_t size, uint64_t ns,
                   void (*work)(void *argument, bool at_end), void *argument);

/* Queues a copy from the device to any memory; a CUDA code.  No call. */
int fake_gpu_copy_back(struct fake_gpu *fake, void *dst, const void *src,
                       size_t size, void *stream);

/* Moves the clock until one stream, or every one, is done. */
void fake_gpu_run(struct fake_gpu *fake, void *stream);
void fake_gpu_run_all(struct fake_gpu *fake);

/* The time that everything which is not done takes, one after the other. */
uint64_t fake_gpu_backlog(struct fake_gpu *fake);
struct fake_live fake_gpu_live(struct fake_gpu *fake);
/* Copies from pinned and from other memory since the start. */
long fake_gpu_pinned_copies(struct fake_gpu *fake);
long fake_gpu_pageable_copies(struct fake_gpu *fake);
/* Launches since the start. */
long fake_gpu_kernels(struct fake_gpu *fake);
/* 2 for memory on a device, 1 for pinned memory, 0 for other. */
int fake_gpu_kind_of(struct fake_gpu *fake, const void *ptr);
/* Says that a call broke a rule, a literal. */
void fake_gpu_report(struct fake_gpu *fake, const char *rule);
/* The first rule that a call broke, or NULL. */
const char *fake_gpu_misuse(struct fake_gpu *fake);

#endif
