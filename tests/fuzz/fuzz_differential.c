/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the equality of all ways to one sample: with windows and without, at
 * every CPU level, by our own JPEG decoder and by libjpeg-turbo: the same
 * bytes, the same verdict.  The first bytes choose the recipe. */
#include <stdlib.h>
#include <string.h>

#include "src/base/cpu.h"
#include "tests/fuzz/fuzz.h"

struct made {
    unsigned char *dst;
    size_t bytes;
    pinfold_status status;
    pinfold_error err;
};

static void compare(const struct made *first, const pinfold_recipe *recipe,
                    const struct fuzz_input *picture, int fill)
{
    struct made other = {malloc(first->bytes), first->bytes, PINFOLD_OK, {0}};

    fuzz_require(other.dst, "no memory");
    /* Filled with another byte, so that one that is not written shows. */
    other.status = fuzz_make(recipe, picture->at, picture->left, other.dst,
                             other.bytes, fill, &other.err);
    fuzz_require(other.status == first->status, "the same verdict");
    if (first->status)
        fuzz_require(!strcmp(other.err.message, first->err.message),
                     "the same words");
    else
        fuzz_require(!memcmp(other.dst, first->dst, first->bytes),
                     "the same bytes");
    free(other.dst);
}

static void compare_all(const struct made *first, pinfold_recipe recipe,
                        const struct fuzz_input *picture)
{
    int fill = 1;

    recipe.full_decode = 1;
    compare(first, &recipe, picture, fill++);
    recipe.full_decode = 0;
    recipe.jpeg = PINFOLD_JPEG_LIBJPEG;
    compare(first, &recipe, picture, fill++);
    recipe.jpeg = PINFOLD_JPEG_AUTO;
    for (int32_t level = PFI_CPU_C; level <= PFI_CPU_NEON; level++) {
        if (!(pfi_cpu_levels() & 1u << level))
            continue;
        recipe.cpu_level = (pinfold_cpu_level)level;
        compare(first, &recipe, picture, fill++);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct made first = {0};
    pinfold_recipe recipe;

    fuzz_recipe(&recipe, &input);
    recipe.full_decode = 0;
    recipe.jpeg = PINFOLD_JPEG_AUTO;
    recipe.cpu_level = 0;
    if (pinfold_recipe_size(&recipe, 1, &first.bytes, NULL, NULL))
        return 0;
    first.dst = malloc(first.bytes);
    fuzz_require(first.dst, "no memory");
    first.status = fuzz_make(&recipe, input.at, input.left, first.dst,
                             first.bytes, 0, &first.err);
    /* No picture at all: there is but one way. */
    if (first.status != PINFOLD_E_FORMAT)
        compare_all(&first, recipe, &input);
    free(first.dst);
    return 0;
}
