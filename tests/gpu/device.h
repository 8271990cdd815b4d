/* SPDX-License-Identifier: Apache-2.0
 * What the parts of the test on a device share: one device, three consumers'
 * streams, pinned memory that batches come back to. */
#ifndef PFI_TESTS_GPU_DEVICE_H
#define PFI_TESTS_GPU_DEVICE_H

#include <stdio.h>

#include <cuda_runtime_api.h>

#include "src/load/loader.h"

#define BATCH 64
#define CONSUMERS 3

/* Pictures, and the recipe that loaders are opened with. */
struct device_set {
    pinfold_dataset *dataset;
    const struct pfi_reader *reader; /* NULL = the files */
    pinfold_recipe recipe;
};

/* What was measured, for the JSON; times in seconds. */
struct device_times {
    double decode, copy, both; /* an epoch, one batch, an epoch with uploads */
    double batches, batch_bytes, copied_bytes;
};

extern cudaStream_t device_streams[CONSUMERS];

/* End the program, after saying what failed. */
void device_must(int code, const char *what);
void device_ok(pinfold_status status, const pinfold_error *err);
void device_fail(const char *what, long number);

/* A loader of 0 workers decodes with all CPUs. */
struct device_way {
    pinfold_upload upload;
    pinfold_memory memory;
    int32_t workers, slots, normalize;
};

/* Whether the way asks for it, and the runtime is new enough. */
bool device_normalizes(const struct device_way *way);
pinfold_loader *device_open(const struct device_set *set,
                            const struct device_way *way);
/* PINFOLD_OK, or PINFOLD_END. */
pinfold_status device_next(pinfold_loader *loader, const pinfold_batch **batch);

/* compare.c: every batch that comes back from the device equals the host's.
 * Returns the batches. */
long device_compare(const struct device_set *set, const struct device_way *way,
                    long epochs);
/* memory.c: what a loader holds is what it says, where it says, and is given
 * back.  Returns the loaders. */
long device_check_memory(const struct device_set *set);
/* measure.c */
struct device_times device_measure(const struct device_set *set, bool pinned,
                                   bool normalize);

#endif
