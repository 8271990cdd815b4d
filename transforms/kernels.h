/* SPDX-License-Identifier: Apache-2.0
 * The inner loops of the transforms, one function pointer each: C, or what the
 * CPU can do.  Every level gives the C one's bytes. */
#ifndef PFI_TRANSFORMS_KERNELS_H
#define PFI_TRANSFORMS_KERNELS_H

#include "transforms/pack.h"
#include "src/base/cpu.h"
#include "transforms/stream.h"

/* None of them reads beyond its input or writes beyond its output, and no two
 * buffers may overlap.  Alignment does not matter but for packed tables. */
struct pfi_kernels {
    enum pfi_cpu_level level;   /* the best that was allowed */
    enum pfi_pack_format format; /* of horizontal's tables */

    /* One row: pack->out_bytes bytes from the pack->in_bytes at `in`.  NULL in
     * C, which has pfi_resample_row(). */
    void (*horizontal)(unsigned char *out, const unsigned char *in,
                       const struct pfi_pack *pack);

    /* `bytes` bytes, each the sum of those at its place in `count` rows. */
    void (*vertical)(unsigned char *out, const unsigned char *const *rows,
                     const int32_t *weights, int32_t count, size_t bytes);

    /* [dtype][layout]: n pixels of `rgb` to elements.  Channel c of pixel i
     * goes to element i + c * plane of `dst` in planes, else to 3 * i + c. */
    pfi_store_function *store[4][2];

    /* n pixels in reverse order. */
    void (*flip)(unsigned char *out, const unsigned char *in, size_t n);
};

/* Fills the table from those levels of `level_mask` (bits 1 << level) that the
 * CPU has; C is always there. */
void pfi_kernels_init(struct pfi_kernels *kernels, unsigned level_mask);

/* Stores that compute what `norm` tabulates are kept only where they agree with
 * it in all 256 codes of each channel, else replaced by C's. */
void pfi_kernels_settle(struct pfi_kernels *kernels,
                        const struct pfi_norm *norm);

/* x86/, arm/ or none.c: puts the kernels of the levels in `levels` (which the
 * CPU has) over those that are there. */
void pfi_kernels_init_arch(struct pfi_kernels *kernels, unsigned levels);

/* The C kernels. */
void pfi_vertical_c(unsigned char *out, const unsigned char *const *rows,
                    const int32_t *weights, int32_t count, size_t bytes);
void pfi_flip_c(unsigned char *out, const unsigned char *in, size_t n);

#endif
