/* SPDX-License-Identifier: Apache-2.0
 * A program outside the tree; compiled as C and as C++. */
#include <pinfold/pinfold.h>

#include <stdio.h>

int main(void)
{
    pinfold_info info = {sizeof(pinfold_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    pinfold_error err;
    int64_t shape[4];
    size_t bytes = 0;

    pinfold_info_get(&info);
    if (pinfold_recipe_size(NULL, 2, &bytes, shape, &err) != PINFOLD_OK)
        return 1;
    printf("pinfold %s: 2 samples are %lu bytes; CUDA: %s\n", info.version,
           (unsigned long)bytes, info.cuda_status);
    return bytes == 2u * 3 * 224 * 224 * 4 ? 0 : 1;
}
