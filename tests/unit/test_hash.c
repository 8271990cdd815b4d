/* SPDX-License-Identifier: Apache-2.0
 * XXH64's published values (xxHash's own sanity check). */
#include <criterion/criterion.h>
#include <string.h>

#include "src/base/hash.h"

Test(hash, equals_published_values)
{
    unsigned char bytes[222];
    uint64_t generator = 2654435761u;

    /* The bytes of xxHash's own sanity check. */
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(generator >> 56);
        generator *= UINT64_C(11400714785074694797);
    }
    cr_assert_eq(pfi_hash("", 0, 0), UINT64_C(0xEF46DB3751D8E999));
    cr_assert_eq(pfi_hash("abc", 3, 0), UINT64_C(0x44BC2CF5AD770999));
    cr_assert_eq(pfi_hash(bytes, 1, 0), UINT64_C(0xE934A84ADB052768));
    cr_assert_eq(pfi_hash(bytes, 14, 0), UINT64_C(0x8282DCC4994E35C8));
    cr_assert_eq(pfi_hash(bytes, 222, 0), UINT64_C(0xB641AE8CB691C174));
    cr_assert_eq(pfi_hash(bytes, 222, 2654435761u),
                 UINT64_C(0x20CB8AB7AE10C14A));
}
