/* SPDX-License-Identifier: Apache-2.0
 * Finds the progressive JPEGs that libjpeg-turbo 2.1 smooths otherwise than
 * 3.0.1 and later.
 *
 * jdcoefct.c guesses the first nine AC coefficients of a block from the DC of
 * the blocks around it where the scans left them unknown.  3.0.1 changed which
 * blocks those are in two places: where a component is exactly two blocks wide,
 * and where its sampling factor lets several rows of blocks make one row of
 * MCUs.  All other pictures come out the same from 2.1.5 on; before 2.1 the
 * guess was made from fewer blocks. */
#include "src/codec/jpeg_smooth.h"

#if LIBJPEG_TURBO_VERSION_NUMBER >= 3000001

bool pfi_jpeg_smooths_otherwise(const struct jpeg_decompress_struct *cinfo)
{
    (void)cinfo;
    return false;
}

#else

/* In zigzag order, DC first. */
#define PFI_JPEG_GUESSED 10

/* Positions of those, in natural order. */
static const int natural[PFI_JPEG_GUESSED] = {0, 1,  8,  16, 9,
                                              2, 3, 10, 17, 24};

/* Whether bits[] tells of AC coefficients that are not fully known. */
static bool unfinished(const int *bits)
{
    for (int i = 1; i < PFI_JPEG_GUESSED; i++)
        if (bits[i])
            return true;
    return false;
}

/* jdcoefct.c's smoothing_ok(). */
static bool is_smoothed(const struct jpeg_decompress_struct *cinfo)
{
    bool useful = false;

    if (!cinfo->progressive_mode || !cinfo->coef_bits ||
        !cinfo->do_block_smoothing)
        return false;
    for (int i = 0; i < cinfo->num_components; i++) {
        const JQUANT_TBL *const table = cinfo->comp_info[i].quant_table;

        if (!table || cinfo->coef_bits[i][0] < 0)
            return false;
        for (int k = 0; k < PFI_JPEG_GUESSED; k++)
            if (!table->quantval[natural[k]])
                return false;
        useful = useful || unfinished(cinfo->coef_bits[i]);
    }
    return useful;
}

/* Whether any of a component's blocks has other neighbours. */
static bool differs(const struct jpeg_decompress_struct *cinfo, int i)
{
    const jpeg_component_info *const c = cinfo->comp_info + i;

    return c->width_in_blocks == 2 ||
           (c->v_samp_factor > 1 && cinfo->total_iMCU_rows > 1);
}

bool pfi_jpeg_smooths_otherwise(const struct jpeg_decompress_struct *cinfo)
{
    const int n = cinfo->num_components;

    if (!is_smoothed(cinfo))
        return false;
#if LIBJPEG_TURBO_VERSION_NUMBER < 2001005
    (void)n;
    (void)differs;
    return true;
#else
    /* Rows that the last scan lacks, which gives a warning, take the bits of the
     * scan before; those lie behind the others. */
    for (int i = 0; i < n; i++)
        if (differs(cinfo, i) &&
            (unfinished(cinfo->coef_bits[i]) ||
             (cinfo->err->num_warnings && unfinished(cinfo->coef_bits[n + i]))))
            return true;
    return false;
#endif
}

#endif
