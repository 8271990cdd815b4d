/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the readers of .npy and safetensors: what they find must lie inside
 * the file. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/npy.h"
#include "src/cli/safetensors.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct pfi_cli_tensor *t, const unsigned char *file,
                  size_t size)
{
    size_t bytes;

    fuzz_require(t->rank >= 0 && t->rank <= PFI_CLI_MAX_RANK, "a rank");
    for (int i = 0; i < t->rank; i++)
        fuzz_require(t->shape[i] >= 0, "a side");
    fuzz_require(t->data >= file && t->data <= file + size &&
                     t->bytes <= (size_t)(file + size - t->data),
                 "data inside the file");
    fuzz_require(pfi_cli_tensor_bytes(t->shape, t->rank, 1, &bytes) &&
                     bytes <= t->bytes,
                 "a shape of no more values than bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {NULL, "images", "paths", ""};
    /* No NUL behind it: its end is the heap's. */
    unsigned char *const file = malloc(size ? size : 1);

    fuzz_require(file, "no memory");
    if (size)
        memcpy(file, data, size);
    if (pfi_cli_npy_is(file, size)) {
        struct pfi_cli_tensor t = {.rank = 0};

        if (!pfi_cli_npy_read(file, size, &t))
            check(&t, file, size);
    }
    for (int i = 0; pfi_cli_safetensors_is(file, size) && i < 4; i++) {
        struct pfi_cli_tensor t = {.rank = 0};

        if (!pfi_cli_safetensors_read(file, size, names[i], &t))
            check(&t, file, size);
    }
    free(file);
    return 0;
}
