/* SPDX-License-Identifier: Apache-2.0
 * torch.Generator's state: seed, words left and used, 624 words, and what
 * normal variates would keep. */
#include "datasets/generator.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/bytes.h"

#define N 624

/* Where the fields lie; the rest is of normal variates. */
enum { SEED = 0, LEFT = 8, SEEDED = 12, NEXT = 16, STATE = 24 };

void pfi_generator_seed(struct pfi_generator *generator, uint64_t seed)
{
    generator->seed = seed;
    pfi_mt19937_seed(&generator->rng, seed);
}

/* A seeded state of which no word was made counts no word as used. */
static bool is_fresh(const struct pfi_generator *generator)
{
    struct pfi_mt19937 fresh;

    if (generator->rng.next != N)
        return false;
    pfi_mt19937_seed(&fresh, generator->seed);
    return !memcmp(fresh.state, generator->rng.state, sizeof(fresh.state));
}

void pfi_generator_get(const struct pfi_generator *generator,
                       unsigned char bytes[PINFOLD_GENERATOR_SIZE])
{
    const bool fresh = is_fresh(generator);
    const uint32_t next = fresh ? 0 : (uint32_t)generator->rng.next;

    memset(bytes, 0, PINFOLD_GENERATOR_SIZE);
    pfi_put64(bytes + SEED, generator->seed);
    pfi_put32(bytes + LEFT, fresh ? 1 : N + 1 - next);
    pfi_put32(bytes + SEEDED, 1);
    pfi_put64(bytes + NEXT, next);
    for (int i = 0; i < N; i++)
        pfi_put64(bytes + STATE + 8 * i, generator->rng.state[i]);
}

pinfold_status pfi_generator_set(struct pfi_generator *generator,
                                 const void *data, size_t size,
                                 pinfold_error *err)
{
    const unsigned char *const bytes = data;
    uint64_t next;
    uint32_t left;

    if (!data || size != PINFOLD_GENERATOR_SIZE)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the generator's state has %zu bytes, not %d",
                        data ? size : 0, PINFOLD_GENERATOR_SIZE);
    next = pfi_get64(bytes + NEXT);
    left = pfi_get32(bytes + LEFT);
    /* torch: one word is left of a fresh state, and of one used up. */
    if (next > N || left != (next ? N + 1 - next : 1) ||
        pfi_get32(bytes + SEEDED) != 1)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "the generator's state is none of torch's CPU");
    generator->seed = pfi_get64(bytes + SEED);
    generator->rng.next = next ? (int32_t)next : N;
    for (int i = 0; i < N; i++)
        generator->rng.state[i] = (uint32_t)pfi_get64(bytes + STATE + 8 * i);
    return PINFOLD_OK;
}
