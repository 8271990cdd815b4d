/* SPDX-License-Identifier: Apache-2.0
 * Runs PTX on the host, one thread after the other, so that what is embedded
 * for the device is tested itself.  Knows only what src/gpu/normalize.cu
 * compiles to: whole numbers, global memory, branches. */
#ifndef PFI_TESTS_FAKEPTX_H
#define PFI_TESTS_FAKEPTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/gpu/gpu.h"

#define FAKE_PTX_PARAMETERS 16

struct fake_ptx;

/* Whether a thread may read, or write, `size` bytes at `address`. */
typedef bool fake_ptx_guard(void *cookie, uintptr_t address, size_t size,
                            bool write);

/* NULL, with the line printed, where it holds what is not known here. */
struct fake_ptx *fake_ptx_load(const char *text);
void fake_ptx_free(struct fake_ptx *ptx);
/* Whether its kernel has this name. */
bool fake_ptx_is(const struct fake_ptx *ptx, const char *name);
/* Takes the values that a launch's arguments point at; returns their number. */
int fake_ptx_take(const struct fake_ptx *ptx, void **arguments,
                  uint64_t values[FAKE_PTX_PARAMETERS]);
/* Runs every thread of the grid; returns what one did wrong, a literal, or
 * NULL. */
const char *fake_ptx_run(const struct fake_ptx *ptx,
                         const struct pfi_gpu_grid *grid,
                         const uint64_t values[FAKE_PTX_PARAMETERS],
                         fake_ptx_guard *guard, void *cookie);

#endif
