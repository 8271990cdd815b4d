/* SPDX-License-Identifier: Apache-2.0
 * The kernels for CPUs that have SSE4.1.  Built with -msse4.1. */
#include "src/codec/fastjpeg/lanes_sse41.h"
/* Their vectors are that file's. */
#include "src/codec/fastjpeg/idct_lanes.h"
#include "src/codec/fastjpeg/pixels_lanes.h"

const struct pfi_fast_kernels pfi_fast_kernels_sse41 = {
    "sse41",
    pfi_fast_decode_c,
    pfi_fast_ac_first_c,
    pfi_fast_ac_refine_c,
    idct,
    blend_rows,
    double_blended,
    double_row,
    ycc_to_rgb,
};
