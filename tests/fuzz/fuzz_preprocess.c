/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the way of a picture to its sample with any recipe: the first bytes
 * choose it.  What can be preprocessed can be planned. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    pinfold_recipe recipe;
    pinfold_status status;
    pinfold_error err;
    unsigned char *dst;
    size_t bytes;

    fuzz_recipe(&recipe, &input);
    if (pinfold_recipe_size(&recipe, 1, &bytes, NULL, NULL))
        return 0;
    dst = malloc(bytes);
    fuzz_require(dst, "no memory");
    status = fuzz_make(&recipe, input.at, input.left, dst, bytes, 0, &err);
    fuzz_require(status <= 0 && status == err.status, "a status of an error");
    if (!status)
        fuzz_require(
            !pinfold_plan_picture(&recipe, input.at, input.left, &plan, &err),
            "a plan of what can be made");
    free(dst);
    return 0;
}
