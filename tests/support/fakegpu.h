/* SPDX-License-Identifier: Apache-2.0
 * A CUDA runtime without a device.  Device memory is host memory, and a stream
 * is a queue whose work is done as late as the calls allow: in fake_gpu_run()
 * and fake_gpu_run_all(), in event_wait() up to what was recorded, and in
 * stream_destroy().  So a batch that is used without waiting holds poison. */
#ifndef PFI_TESTS_FAKEGPU_H
#define PFI_TESTS_FAKEGPU_H

#include <stdbool.h>

#include "src/gpu/gpu.h"

struct fake_gpu;

/* What is alive, and the operations that wait in all streams. */
struct fake_live {
    int pins, allocs, streams, events, pending;
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

/* The call after `calls` more calls fails with `code`, and all later ones too
 * where `for_ever`.  A failing call does nothing, save that one which gives
 * something back does so.  The versions and error_name are no calls. */
void fake_gpu_fail(struct fake_gpu *fake, long calls, int code, bool for_ever);
/* Calls since the start. */
long fake_gpu_calls(struct fake_gpu *fake);

/* Does what waits in one stream, or in all. */
void fake_gpu_run(struct fake_gpu *fake, void *stream);
void fake_gpu_run_all(struct fake_gpu *fake);

struct fake_live fake_gpu_live(struct fake_gpu *fake);
/* The first rule that a call broke, or NULL. */
const char *fake_gpu_misuse(struct fake_gpu *fake);

#endif
