/* SPDX-License-Identifier: Apache-2.0
 * The fake device through its own table. */
#include <stddef.h>

#include "tests/support/door.h"

struct fake_gpu *fake_door_open(int devices, const struct pfi_gpu **gpu)
{
    struct fake_gpu *const fake = fake_gpu_start(devices);

    *gpu = fake ? fake_gpu_table(fake) : NULL;
    return fake;
}

const char *fake_door_close(struct fake_gpu *fake)
{
    fake_gpu_end(fake);
    return NULL;
}
