/* SPDX-License-Identifier: Apache-2.0
 * XXH64 after Yann Collet's specification (xxHash doc/xxhash_spec.md). */
#include "src/base/hash.h"

#include "src/base/bytes.h"

#define P1 UINT64_C(0x9E3779B185EBCA87)
#define P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define P3 UINT64_C(0x165667B19E3779F9)
#define P4 UINT64_C(0x85EBCA77C2B2AE63)
#define P5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t turn(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t lane_round(uint64_t lane, uint64_t word)
{
    return turn(lane + word * P2, 31) * P1;
}

/* Takes whole stripes of four words from *at. */
static uint64_t take_stripes(const unsigned char **at, size_t *left,
                             uint64_t seed)
{
    uint64_t lanes[4] = {seed + P1 + P2, seed + P2, seed, seed - P1}, hash;

    for (; *left >= 32; *at += 32, *left -= 32)
        for (int i = 0; i < 4; i++)
            lanes[i] = lane_round(lanes[i], pfi_get64(*at + 8 * i));
    hash = turn(lanes[0], 1) + turn(lanes[1], 7) + turn(lanes[2], 12) +
           turn(lanes[3], 18);
    for (int i = 0; i < 4; i++)
        hash = (hash ^ lane_round(0, lanes[i])) * P1 + P4;
    return hash;
}

uint64_t pfi_hash(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *at = data;
    size_t left = size;
    uint64_t hash =
        size >= 32 ? take_stripes(&at, &left, seed) : seed + P5;

    hash += size;
    for (; left >= 8; at += 8, left -= 8)
        hash = turn(hash ^ lane_round(0, pfi_get64(at)), 27) * P1 + P4;
    for (; left >= 4; at += 4, left -= 4)
        hash = turn(hash ^ pfi_get32(at) * P1, 23) * P2 + P3;
    for (; left; at++, left--)
        hash = turn(hash ^ *at * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
