/* SPDX-License-Identifier: Apache-2.0
 * A fast checksum against accidents, not against forgers: XXH64. */
#ifndef PFI_BASE_HASH_H
#define PFI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH64 of the bytes; the hash of what came before may be the seed. */
uint64_t pfi_hash(const void *data, size_t size, uint64_t seed);

#endif
