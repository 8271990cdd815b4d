/* SPDX-License-Identifier: Apache-2.0
 * For machines that have kernels in C only. */
#include "transforms/kernels.h"

void pfi_kernels_init_arch(struct pfi_kernels *kernels, unsigned levels)
{
    (void)kernels;
    (void)levels;
}
