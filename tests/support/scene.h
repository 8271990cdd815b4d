/* SPDX-License-Identifier: Apache-2.0
 * A simulated machine with a data set, a fake device, three streams and a
 * consumer that looks at its batches when its work on the device would. */
#ifndef PFI_TESTS_SCENE_H
#define PFI_TESTS_SCENE_H

#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"
#include "tests/support/sim.h"

#define SCENE_BATCH 4
#define SCENE_STREAMS 3
#define SCENE_DEVICE 1 /* of two; the caller's own is 0 */
#define SCENE_USES 64

/* A batch as it was when it was lent: its arrays may belong to another batch
 * once it is given back. */
struct scene_use {
    const struct fake_set *set;
    pinfold_batch batch;
    int64_t labels[SCENE_BATCH], indices[SCENE_BATCH];
    pinfold_status statuses[SCENE_BATCH];
    const unsigned char *data;
    bool floats; /* of fake_float_recipe() */
    int *wrong;
};

struct scene {
    struct fake_set *set;
    struct fake_gpu *fake;
    const struct pfi_gpu *gpu;
    pinfold_recipe recipe;
    pinfold_loader_options options;
    pinfold_loader *loader;
    void *streams[SCENE_STREAMS];
    struct scene_use uses[SCENE_USES];
    long n_uses;
    int wrong;            /* batches that did not hold their samples */
    int before;           /* the caller's device during the scene's own calls */
    uint64_t most_copy_ns, call_ns; /* for whoever asks how long it may take */
    bool may_lose_device; /* since the calls that set it fail */
};

/* Begins the simulation; the fake device fails nothing yet. */
void scene_begin(struct scene *scene, struct fake_set *set, uint64_t seed);
/* Ends all that is left; returns 0, or 1 after saying which rule was broken:
 * the fake's, wrong bytes, a leak, the caller's device changed. */
int scene_end(struct scene *scene, const char *what);

/* pfi_loader_open() with the scene's options into its loader. */
pinfold_status scene_open(struct scene *scene, pinfold_error *err);

/* Has the device normalise from the next open on, where the runtime can. */
void scene_normalize(struct scene *scene);

/* Queues work of `ns` on a stream that waits for the batch and checks it. */
void scene_work(struct scene *scene, const pinfold_batch *batch, int stream,
                uint64_t ns);
/* Waits for the batch here and checks it. */
void scene_look(struct scene *scene, const pinfold_batch *batch);

#endif
