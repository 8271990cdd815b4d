/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes pinfold diff on two tensors.  The first 2 bytes say where the first
 * one ends; where that is at the end, it is compared with itself. */
#include "src/cli/run.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    const size_t cut = fuzz_below(&input, 1 << 16) % (input.left + 1);
    struct pfi_cli_options o;

    fuzz_mute();
    pfi_cli_options_init(&o, PFI_CLI_DIFF);
    o.json = cut & 1;
    o.arguments[o.n_arguments++] = fuzz_file(0, input.at, cut);
    o.arguments[o.n_arguments++] =
        fuzz_file(1, input.at + cut, input.left - cut);
    if (cut == input.left)
        o.arguments[1] = o.arguments[0];
    (void)pfi_cli_diff(&o);
    return 0;
}
