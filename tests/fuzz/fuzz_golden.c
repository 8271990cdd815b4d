/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the golden file of pinfold verify. */
#include <string.h>

#include "src/cli/golden.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pfi_cli_golden golden;
    struct pfi_cli_options o;

    fuzz_mute();
    pfi_cli_options_init(&o, PFI_CLI_VERIFY);
    o.arguments[o.n_arguments++] = "/";
    o.arguments[o.n_arguments++] = fuzz_file(0, data, size);
    if (!pfi_cli_golden_read(&golden, &o))
        for (size_t i = 0; i < golden.n_rows; i++) {
            const struct pfi_cli_golden_row *const row = &golden.rows[i];

            fuzz_require(strlen(row->path) + strlen(row->pipeline) +
                                 strlen(row->u8) + strlen(row->f32) <
                             size,
                         "fields inside the text");
            fuzz_require(row->label >= 0 && row->width >= 0 && row->height >= 0,
                         "numbers");
        }
    pfi_cli_golden_end(&golden);
    return 0;
}
