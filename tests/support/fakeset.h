/* SPDX-License-Identifier: Apache-2.0
 * A data set whose pictures come from memory: the colour of sample i is i, so
 * that a lost, repeated or overwritten sample shows. */
#ifndef PFI_TESTS_FAKESET_H
#define PFI_TESTS_FAKESET_H

#include <stdatomic.h>

#include "src/load/loader.h"
#include "tests/support/world.h"

struct fake_set {
    char root[64];
    pinfold_dataset *dataset;
    struct pfi_reader reader; /* cookie is this struct */
    int n;
    int bad;                        /* this sample is damaged; -1 = none */
    const struct fake_world *world; /* NULL, or a sample takes read_ns there */
    uint64_t read_ns;
    atomic_long reads;
    atomic_bool forbidden; /* a read from now on ends the program */
};

/* Makes a tree of n (at most 1000) empty files in two classes and opens it;
 * ends the program where that fails. */
void fake_set_open(struct fake_set *set, int n);
/* Closes the data set and removes the tree. */
void fake_set_close(struct fake_set *set);
/* Removes one of its (empty) files. */
void fake_set_remove(const struct fake_set *set, int i);
/* Whether an u8 NHWC batch holds what it says; prints what it does not. */
int fake_batch_right(const struct fake_set *set, const pinfold_batch *batch,
                     const unsigned char *data);
/* The same for a batch of fake_float_recipe(). */
int fake_float_batch_right(const struct fake_set *set,
                           const pinfold_batch *batch, const void *data);
/* A recipe of 4 x 4 u8 NHWC outputs for the set's pictures. */
pinfold_recipe fake_recipe(void);
/* The same in f32, where code x is 1 + x / 255, so that a black pixel differs
 * from one that was zeroed. */
pinfold_recipe fake_float_recipe(void);

#endif
