/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the lists of numbers of --subset, --weights and --order, and the
 * orders that they make.  The first bytes choose the list, the samples and the
 * shard. */
#include "src/cli/order.h"
#include "tests/fuzz/fuzz.h"

#define ROOM 4096

static void make(const struct pfi_cli_order *order,
                 const struct pfi_cli_options *o, int64_t n)
{
    static int64_t indices[ROOM];
    pinfold_loader_options options = o->loader;
    pinfold_error err;
    int64_t count = 0;

    options.order = &order->order;
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        if (pinfold_order_indices(&options, n, epoch, indices, ROOM, &count,
                                  &err))
            return;
        for (int64_t i = 0; i < count && i < ROOM; i++)
            fuzz_require(indices[i] >= 0 && indices[i] < n, "an index");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct pfi_cli_order order;
    struct pfi_cli_options o;
    uint32_t list, n;

    fuzz_mute();
    pfi_cli_options_init(&o, PFI_CLI_EXPORT);
    list = fuzz_below(&input, 4);
    n = fuzz_below(&input, 256);
    o.order.shard = (pinfold_shard)fuzz_below(&input, 3);
    o.order.world = (int32_t)fuzz_below(&input, 8);
    o.order.rank = (int32_t)fuzz_below(&input, 8);
    o.loader.batch_size = (int32_t)fuzz_below(&input, 8);
    o.loader.shuffle = (int32_t)fuzz_below(&input, 2);
    o.loader.drop_last = (int32_t)fuzz_below(&input, 2);
    o.order.num_samples = fuzz_below(&input, 256);
    o.order.replacement = (int32_t)fuzz_below(&input, 2);
    const char *const file = fuzz_file(0, input.at, input.left);

    o.subset = list == 0 ? file : NULL;
    o.weights = list == 1 ? file : NULL;
    o.list_order = list == 2 ? file : NULL;
    if (!pfi_cli_order_open(&order, &o)) {
        make(&order, &o, n);
        pfi_cli_order_close(&order);
    }
    return 0;
}
