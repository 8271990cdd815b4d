/* SPDX-License-Identifier: Apache-2.0
 * pinfold ls: the samples, or the classes, in their order. */
#include "src/cli/lists.h"
#include "src/cli/run.h"
#include "src/cli/text.h"

static void list_classes(const pinfold_dataset *dataset, bool json)
{
    for (int64_t i = 0; i < pinfold_dataset_class_count(dataset); i++) {
        const char *const name = pinfold_dataset_class_name(dataset, i);

        (void)printf(json ? "{\"label\":%lld,\"name\":" : "%lld\t",
                     (long long)i);
        json ? pfi_cli_print_json(stdout, name)
             : pfi_cli_print_name(stdout, name);
        (void)puts(json ? "}" : "");
    }
}

static void list_samples(const pinfold_dataset *dataset, bool json)
{
    for (int64_t i = 0; i < pinfold_dataset_size(dataset); i++) {
        const char *const path = pinfold_dataset_path(dataset, i);

        (void)printf(json ? "{\"index\":%lld,\"label\":%lld,\"path\":"
                          : "%lld\t%lld\t",
                     (long long)i,
                     (long long)pinfold_dataset_label(dataset, i));
        json ? pfi_cli_print_json(stdout, path)
             : pfi_cli_print_name(stdout, path);
        (void)puts(json ? "}" : "");
    }
}

int pfi_cli_ls(const struct pfi_cli_options *o)
{
    pinfold_dataset *dataset;
    pinfold_error err;
    int code = PFI_CLI_OK;

    if (pfi_cli_dataset_open(&dataset, o, &err))
        return pfi_cli_fail(&err);
    if (o->save)
        code = pinfold_dataset_save(dataset, o->save, &err) ? pfi_cli_fail(&err)
                                                            : PFI_CLI_OK;
    else if (o->classes)
        list_classes(dataset, o->json);
    else
        list_samples(dataset, o->json);
    pinfold_dataset_close(dataset);
    return code;
}
