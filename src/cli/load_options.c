/* SPDX-License-Identifier: Apache-2.0
 * Options of a loader: threads, batches, order, memory, device. */
#include "src/cli/load_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/values.h"

const char *pfi_cli_take_workers(struct pfi_cli_options *o, const char *text)
{
    long long n = 0;

    if (strcmp(text, "auto") &&
        !pfi_cli_to_number(text, 0, PINFOLD_WORKERS_MAX, &n))
        return "not auto or a number from 0 to 1024";
    o->loader.workers = !strcmp(text, "auto") ? 0
                        : n == 0              ? PINFOLD_OFF
                                              : (int32_t)n;
    return NULL;
}

const char *pfi_cli_take_batch(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_int32(text, 1, &o->loader.batch_size);
}

const char *pfi_cli_take_slots(struct pfi_cli_options *o, const char *text)
{
    long long n;

    if (!pfi_cli_to_number(text, 1, PINFOLD_SLOTS_MAX, &n))
        return "not a number from 1 to 1024";
    o->loader.slots = (int32_t)n;
    return NULL;
}

const char *pfi_cli_take_shuffle(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->loader.shuffle = 1;
    return NULL;
}

const char *pfi_cli_take_seed(struct pfi_cli_options *o, const char *text)
{
    char *end;

    errno = 0;
    o->seed_given = true;
    o->loader.seed = strtoull(text, &end, 10);
    return end == text || *end || errno ? "not a whole number" : NULL;
}

const char *pfi_cli_take_drop_last(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->loader.drop_last = 1;
    return NULL;
}

const char *pfi_cli_take_on_error(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"keep", "fail", NULL};
    int i = 0;
    const char *const wrong = pfi_cli_to_choice(text, names, "not keep or fail", &i);

    o->loader.bad_sample = (pinfold_bad_sample)i;
    return wrong;
}

const char *pfi_cli_take_upload(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"off", "auto", "require", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not off, auto or require", &i);

    o->loader.upload = (pinfold_upload)i;
    return wrong;
}

const char *pfi_cli_take_device_normalize(struct pfi_cli_options *o,
                                          const char *text)
{
    (void)text;
    o->loader.device_normalize = 1;
    return NULL;
}

const char *pfi_cli_take_device(struct pfi_cli_options *o, const char *text)
{
    o->device_given = true;
    o->all_devices = o->command == PFI_CLI_BENCH && !strcmp(text, "all");
    if (o->all_devices)
        return NULL;
    /* "cuda:N" and "cuda" as torch has them. */
    if (!strcmp(text, "cuda"))
        text = "0";
    else if (!strncmp(text, "cuda:", 5))
        text += 5;
    if (!pfi_cli_to_int32(text, 0, &o->loader.device))
        return NULL;
    return o->command == PFI_CLI_BENCH ? "not N, cuda:N or all"
                                       : "not N or cuda:N; all is bench's";
}

const char *pfi_cli_take_memory(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"auto", "pinned", "pageable", "locked",
                                        NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not auto, pinned, pageable or locked", &i);

    o->locked = i == 3;
    o->loader.memory = o->locked ? PINFOLD_MEMORY_PAGEABLE : (pinfold_memory)i;
    return wrong;
}

const char *pfi_cli_take_max_memory(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_bytes(text, &o->loader.max_memory);
}

const char *pfi_cli_take_numa(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"auto", "off", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not auto or off", &i);

    o->loader.numa = i ? PINFOLD_OFF : 0;
    return wrong;
}
