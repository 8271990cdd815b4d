/* SPDX-License-Identifier: Apache-2.0
 * How a test reaches the fake device: through the fake's own table (door.c), or
 * through src/gpu/cuda.c linked with the fake libcudart (doorcuda.c). */
#ifndef PFI_TESTS_DOOR_H
#define PFI_TESTS_DOOR_H

#include "tests/support/fakegpu.h"

/* NULL when out of memory. */
struct fake_gpu *fake_door_open(int devices, const struct pfi_gpu **gpu);
/* Ends the fake; returns what is wrong with the door, or NULL. */
const char *fake_door_close(struct fake_gpu *fake);

#endif
