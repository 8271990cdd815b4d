/* SPDX-License-Identifier: Apache-2.0
 * How long each kernel of each level takes. */
#ifndef PFI_TESTS_KERNELS_BENCH_H
#define PFI_TESTS_KERNELS_BENCH_H

/* Prints a table to stdout. */
void bench_kernels(void);

#endif
