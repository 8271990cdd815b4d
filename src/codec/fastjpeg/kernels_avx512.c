/* SPDX-License-Identifier: Apache-2.0
 * The kernels for CPUs that have AVX-512 (BW, VL).  Built with -mavx512f -mavx512bw -mavx512vl. */
#include "src/codec/fastjpeg/lanes_avx512.h"
/* Their vectors are that file's. */
#include "src/codec/fastjpeg/idct_lanes.h"
#include "src/codec/fastjpeg/pixels_lanes.h"

const struct pfi_fast_kernels pfi_fast_kernels_avx512 = {
    "avx512",
    pfi_fast_decode_avx2,
    pfi_fast_ac_first_avx2,
    pfi_fast_ac_refine_avx2,
    idct,
    blend_rows,
    double_blended,
    double_row,
    ycc_to_rgb,
};
