/* SPDX-License-Identifier: Apache-2.0
 * Fills the table of kernels, and compares what is computed with what is
 * tabulated. */
#include "transforms/kernels.h"

#include <string.h>

#include "transforms/normalize.h"

void pfi_kernels_init(struct pfi_kernels *kernels, unsigned level_mask)
{
    *kernels = (struct pfi_kernels){
        .level = PFI_CPU_C,
        .format = PFI_PACK_NONE,
        .vertical = pfi_vertical_c,
        .flip = pfi_flip_c,
    };
    for (int dtype = 0; dtype < 4; dtype++)
        for (int layout = 0; layout < 2; layout++)
            kernels->store[dtype][layout] =
                pfi_store_c((pinfold_dtype)dtype, (pinfold_layout)layout);
    pfi_kernels_init_arch(kernels, pfi_cpu_levels() & level_mask);
}

/* Kernels may leave the last pixels, fewer than this, to C. */
#define PFI_TAIL 64
#define PFI_CODES (256 + PFI_TAIL)

/* Whether both functions agree on all codes of all three channels. */
static bool agree(pfi_store_function *a, pfi_store_function *b,
                  const struct pfi_norm *norm)
{
    unsigned char codes[3 * PFI_CODES];
    float one[3 * PFI_CODES], other[3 * PFI_CODES];

    for (size_t i = 0; i < sizeof(codes); i++)
        codes[i] = (unsigned char)(i / 3 % 256);
    memset(one, 0, sizeof(one));
    memset(other, 0, sizeof(other));
    a(one, PFI_CODES, codes, PFI_CODES, norm);
    b(other, PFI_CODES, codes, PFI_CODES, norm);
    return !memcmp(one, other, sizeof(one));
}

void pfi_kernels_settle(struct pfi_kernels *kernels,
                        const struct pfi_norm *norm)
{
    for (int layout = 0; layout < 2; layout++) {
        pfi_store_function **const at = &kernels->store[norm->dtype][layout];
        pfi_store_function *const c =
            pfi_store_c(norm->dtype, (pinfold_layout)layout);

        if (*at != c && !agree(*at, c, norm))
            *at = c;
    }
}
