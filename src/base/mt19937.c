/* SPDX-License-Identifier: Apache-2.0
 * The Mersenne Twister of Matsumoto and Nishimura (1998), as torch seeds it. */
#include "src/base/mt19937.h"

#define N 624
#define M 397

void pfi_mt19937_seed(struct pfi_mt19937 *rng, uint64_t seed)
{
    rng->state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < N; i++) {
        const uint32_t before = rng->state[i - 1];

        rng->state[i] = 1812433253u * (before ^ before >> 30) + i;
    }
    rng->next = N;
}

static void refresh(struct pfi_mt19937 *rng)
{
    uint32_t *const s = rng->state;

    for (int i = 0; i < N; i++) {
        const uint32_t y =
            (s[i] & 0x80000000u) | (s[(i + 1) % N] & 0x7FFFFFFFu);

        s[i] = s[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908B0DFu : 0);
    }
    rng->next = 0;
}

uint32_t pfi_mt19937_next(struct pfi_mt19937 *rng)
{
    uint32_t y;

    if (rng->next == N)
        refresh(rng);
    y = rng->state[rng->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
}

uint64_t pfi_mt19937_next64(struct pfi_mt19937 *rng)
{
    const uint64_t high = pfi_mt19937_next(rng);

    return high << 32 | pfi_mt19937_next(rng);
}

void pfi_mt19937_skip(struct pfi_mt19937 *rng, uint64_t words)
{
    while (words) {
        const uint64_t left = (uint64_t)(N - rng->next);

        if (words < left) {
            rng->next += (int32_t)words;
            return;
        }
        words -= left;
        rng->next = N;
        if (words)
            refresh(rng);
    }
}
