/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the command line: the first byte chooses the command, each line is a
 * word. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/order.h"
#include "tests/fuzz/fuzz.h"

#define MOST_WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    const uint32_t command = fuzz_below(&input, 11);
    char *const text = fuzz_text(input.at, input.left);
    char *words[MOST_WORDS], *rest = NULL;
    struct pfi_cli_options o;
    pinfold_error err;
    size_t bytes;
    int n = 0;

    fuzz_mute();
    for (char *word = strtok_r(text, "\n", &rest); word && n < MOST_WORDS;
         word = strtok_r(NULL, "\n", &rest)) {
        char *const own = fuzz_text((uint8_t *)word, strlen(word));

        words[n++] = own;
    }
    pfi_cli_options_init(&o, (enum pfi_cli_command)(1 << command));
    if (pfi_cli_options_parse(&o, n, words)) {
        (void)pfi_cli_order_wrong(&o);
        if (!pinfold_recipe_size(&o.recipe, 1, &bytes, NULL, &err))
            fuzz_require(bytes > 0, "bytes of a sample");
        fuzz_require(o.n_arguments >= 0 && o.n_arguments <= 2, "arguments");
    }
    while (n)
        free(words[--n]);
    free(text);
    return 0;
}
