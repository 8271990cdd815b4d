/* SPDX-License-Identifier: Apache-2.0
 * The kernels for CPUs that have AVX2.  Built with -mavx2. */
#include "src/codec/fastjpeg/lanes_avx2.h"
/* Their vectors are that file's. */
#include "src/codec/fastjpeg/idct_lanes.h"
#include "src/codec/fastjpeg/pixels_lanes.h"

const struct pfi_fast_kernels pfi_fast_kernels_avx2 = {
    "avx2",
    pfi_fast_decode_avx2,
    pfi_fast_ac_first_avx2,
    pfi_fast_ac_refine_avx2,
    idct,
    blend_rows,
    double_blended,
    double_row,
    ycc_to_rgb,
};
