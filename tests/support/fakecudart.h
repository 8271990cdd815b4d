/* SPDX-License-Identifier: Apache-2.0
 * A shared library with the names of libcudart's functions that src/gpu/cuda.c
 * calls, on a fake device. */
#ifndef PFI_TESTS_FAKECUDART_H
#define PFI_TESTS_FAKECUDART_H

#include "tests/support/fakegpu.h"

/* The device that all calls go to from now on. */
void fake_cudart_use(struct fake_gpu *fake);

#endif
