/* SPDX-License-Identifier: Apache-2.0
 * Little-endian numbers in byte strings. */
#ifndef PFI_BASE_BYTES_H
#define PFI_BASE_BYTES_H

#include <stdint.h>

static inline void pfi_put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static inline void pfi_put64(unsigned char *at, uint64_t value)
{
    pfi_put32(at, (uint32_t)value);
    pfi_put32(at + 4, (uint32_t)(value >> 32));
}

static inline uint32_t pfi_get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static inline uint64_t pfi_get64(const unsigned char *at)
{
    return pfi_get32(at) | (uint64_t)pfi_get32(at + 4) << 32;
}

#endif
