/* SPDX-License-Identifier: Apache-2.0
 * Rows of the source window in, a finished sample out. */
#ifndef PFI_TRANSFORMS_STREAM_H
#define PFI_TRANSFORMS_STREAM_H

#include "src/base/memory.h"
#include "transforms/plan.h"

/* Elements of the longest vector, and two more to start at any channel. */
#define PFI_NORM_LANES 18

/* What a channel's 256 codes become: f32 or the 16 bits of f16 and bf16.
 * Beside it what they are computed from, element i for channel i % 3: a number
 * divided by stddev is it times inverse, plus it times inverse_low, nearly
 * always. */
struct pfi_norm {
    pinfold_dtype dtype;
    union {
        float f32[256];
        uint16_t u16[256];
    } channel[3];
    float mean[PFI_NORM_LANES];
    float inverse[PFI_NORM_LANES], inverse_low[PFI_NORM_LANES];
};

/* n pixels of `rgb` to elements of `dst`; see struct pfi_kernels. */
typedef void pfi_store_function(void *dst, size_t plane,
                                const unsigned char *rgb, int32_t n,
                                const struct pfi_norm *norm);

/* Made once for a recipe; read by any number of threads. */
void pfi_norm_make(struct pfi_norm *norm, const struct pfi_recipe *recipe);

struct pfi_kernels;

/* Time spent in the passes. */
struct pfi_stages {
    uint64_t horizontal_ns, vertical_ns, store_ns;
};

struct pfi_stream {
    const struct pfi_recipe *recipe;
    const struct pfi_norm *norm;
    const struct pfi_kernels *kernels;
    const struct pfi_plan *plan;
    void *dst;
    struct pfi_stream_state *state; /* from the arena */
    struct pfi_stages *stages; /* set after the init: to be added to; NULL = the
                                * clock is left alone */
};

/* Takes tables and rows from the arena and writes the padding to `dst`
 * (recipe->sample_bytes).  What is passed must outlive the stream; nothing has
 * to be freed. */
pinfold_status pfi_stream_init(struct pfi_stream *stream,
                               struct pfi_arena *arena,
                               const struct pfi_recipe *recipe,
                               const struct pfi_norm *norm,
                               const struct pfi_kernels *kernels,
                               const struct pfi_plan *plan, void *dst,
                               pinfold_error *err);

/* Takes the window's next row: 3 bytes a pixel from window_first to
 * window_end of the x axis.  After the last one dst is complete. */
void pfi_stream_row(struct pfi_stream *stream, const unsigned char *rgb);

#endif
