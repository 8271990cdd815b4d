/* SPDX-License-Identifier: Apache-2.0
 * The monotonic clock. */
#ifndef PFI_BASE_CLOCK_H
#define PFI_BASE_CLOCK_H

#include <stdint.h>

uint64_t pfi_now_ns(void);

#endif
