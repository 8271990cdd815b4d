/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes lists of samples and lists of classes. */
#include <fcntl.h>
#include <stdlib.h>

#include "datasets/list.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct pfi_strings *strings)
{
    for (int64_t i = 0; i < strings->count; i++)
        fuzz_require(*pfi_strings_get(strings, i), "an empty name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int root = -1;
    const char *const file = fuzz_file(0, data, size);
    struct pfi_strings names = {0}, paths = {0};
    int32_t *labels = NULL;
    pinfold_error err;

    if (root < 0)
        root = open(PFI_GOLDEN_DIR "/tree", O_RDONLY | O_DIRECTORY);
    fuzz_require(root >= 0, "tests/golden/tree");
    pfi_error_clear(&err);
    if (!pfi_list_classes(file, &names, &err))
        check(&names);
    pfi_error_clear(&err);
    if (!pfi_list_samples(file, root, PFI_LIST_CLASSES, &paths, &labels,
                          &err)) {
        check(&paths);
        for (int64_t i = 0; i < paths.count; i++)
            fuzz_require(labels[i] >= 0 && labels[i] < PFI_LIST_CLASSES,
                         "a label");
    }
    pfi_strings_end(&names);
    pfi_strings_end(&paths);
    pfi_free(labels);
    return 0;
}
