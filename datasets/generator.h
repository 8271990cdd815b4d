/* SPDX-License-Identifier: Apache-2.0
 * A generator with the bytes of torch.Generator's state (ATen
 * CPUGeneratorImpl.cpp). */
#ifndef PFI_DATASETS_GENERATOR_H
#define PFI_DATASETS_GENERATOR_H

#include "src/base/error.h"
#include "src/base/mt19937.h"

struct pfi_generator {
    struct pfi_mt19937 rng;
    uint64_t seed; /* as it was given */
};

void pfi_generator_seed(struct pfi_generator *generator, uint64_t seed);

/* Generator.get_state(); no normal variate is ever kept in it. */
void pfi_generator_get(const struct pfi_generator *generator,
                       unsigned char bytes[PINFOLD_GENERATOR_SIZE]);

/* Generator.set_state(); refuses what is no such state. */
pinfold_status pfi_generator_set(struct pfi_generator *generator,
                                 const void *bytes, size_t size,
                                 pinfold_error *err);

#endif
