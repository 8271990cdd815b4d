/* SPDX-License-Identifier: Apache-2.0
 * Where samples come from, by option: lists, indices, slow stores. */
#include "src/cli/lists.h"

#include "src/cli/sandbox.h"
#include "src/cli/text.h"
#include "src/cli/values.h"

const char *pfi_cli_take_list(struct pfi_cli_options *o, const char *text)
{
    o->dataset.list = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_class_list(struct pfi_cli_options *o, const char *text)
{
    o->dataset.class_list = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_index(struct pfi_cli_options *o, const char *text)
{
    o->dataset.index = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_trust_index(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->dataset.trust_index = 1;
    return NULL;
}

const char *pfi_cli_take_no_follow(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->dataset.no_follow_outside = 1;
    return NULL;
}

const char *pfi_cli_take_save(struct pfi_cli_options *o, const char *text)
{
    o->save = text;
    return *text ? NULL : "no file";
}

const char *pfi_cli_take_io_threads(struct pfi_cli_options *o, const char *text)
{
    long long n;

    if (!pfi_cli_to_number(text, 0, PINFOLD_WORKERS_MAX, &n))
        return "not a number from 0 to 1024";
    o->loader.io_threads = (int32_t)n;
    o->dataset.walk_threads = (int32_t)n;
    return NULL;
}

const char *pfi_cli_take_io_retries(struct pfi_cli_options *o, const char *text)
{
    long long n;

    if (!pfi_cli_to_number(text, 0, PINFOLD_RETRIES_MAX, &n))
        return "not a number from 0 to 100";
    o->loader.io_retries = n ? (int32_t)n : PINFOLD_OFF;
    return NULL;
}

pinfold_status pfi_cli_dataset_open(pinfold_dataset **out,
                                    const struct pfi_cli_options *o,
                                    pinfold_error *err)
{
    const pinfold_status status =
        pinfold_dataset_open(out, o->arguments[0], &o->dataset, err);

    if (!status && o->sandbox)
        pfi_cli_sandbox(o);
    if (status || o->quiet || !pinfold_dataset_remark(*out))
        return status;
    pfi_cli_say("pinfold: %s", pinfold_dataset_remark(*out));
    return status;
}
