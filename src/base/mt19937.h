/* SPDX-License-Identifier: Apache-2.0
 * torch's CPU generator (ATen MT19937RNGEngine.h). */
#ifndef PFI_BASE_MT19937_H
#define PFI_BASE_MT19937_H

#include <stdint.h>

struct pfi_mt19937 {
    uint32_t state[624];
    int32_t next; /* state words used up, 624 = all */
};

/* Only the low 32 bits of the seed count, as in torch. */
void pfi_mt19937_seed(struct pfi_mt19937 *rng, uint64_t seed);
uint32_t pfi_mt19937_next(struct pfi_mt19937 *rng);
/* The first word drawn is the high half. */
uint64_t pfi_mt19937_next64(struct pfi_mt19937 *rng);
void pfi_mt19937_skip(struct pfi_mt19937 *rng, uint64_t words);

#endif
