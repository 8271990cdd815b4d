/* SPDX-License-Identifier: Apache-2.0
 * A loader's options: ranges, defaults, what excludes what. */
#include "src/load/internal.h"

static pinfold_status check_range(const char *name, int32_t value, int32_t low,
                                  int32_t high, pinfold_error *err)
{
    if (value < low || value > high)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "%s is %d, not %d to %d",
                        name, value, low, high);
    return PINFOLD_OK;
}

static pinfold_status check_options(const pinfold_loader_options *o,
                                    pinfold_error *err)
{
    const struct {
        const char *name;
        int32_t value, low, high;
    } rows[] = {
        {"batch_size", o->batch_size, 0, INT32_MAX},
        {"workers", o->workers, PINFOLD_OFF, PINFOLD_WORKERS_MAX},
        {"slots", o->slots, 0, PINFOLD_SLOTS_MAX},
        {"shuffle", o->shuffle, 0, 1},
        {"drop_last", o->drop_last, 0, 1},
        {"device", o->device, 0, INT32_MAX},
        {"upload", (int32_t)o->upload, 0, PINFOLD_UPLOAD_REQUIRE},
        {"memory", (int32_t)o->memory, 0, PINFOLD_MEMORY_PAGEABLE},
        {"bad_sample", (int32_t)o->bad_sample, 0, PINFOLD_BAD_FAIL},
        {"io_threads", o->io_threads, 0, PINFOLD_WORKERS_MAX},
        {"device_normalize", o->device_normalize, 0, 1},
        {"numa", o->numa, PINFOLD_OFF, 0},
        {"reserved", o->reserved, 0, 0},
        {"io_retries", o->io_retries, PINFOLD_OFF, PINFOLD_RETRIES_MAX},
    };
    pinfold_status status = PINFOLD_OK;

    for (size_t i = 0; !status && i < sizeof(rows) / sizeof(rows[0]); i++)
        status = check_range(rows[i].name, rows[i].value, rows[i].low,
                             rows[i].high, err);
    if (!status && o->allocator && o->memory == PINFOLD_MEMORY_PINNED)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "pinned memory and an allocator exclude each other");
    if (!status && !o->state && o->state_size)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "the state is NULL");
    if (!status && o->device_normalize && o->upload == PINFOLD_UPLOAD_OFF)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "device_normalize without an upload: it may be auto or "
                        "required");
    return status;
}

pinfold_status pfi_options_take(pinfold_loader_options *o,
                                const pinfold_loader_options *options,
                                pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;

    *o = pinfold_loader_options_default();
    if (options)
        status = pfi_struct_in(
            o, sizeof(*o), PFI_SIZE_WITH(pinfold_loader_options, io_retries),
            options, err);
    if (!status)
        status = check_options(o, err);
    o->batch_size = o->batch_size ? o->batch_size : 256;
    return status;
}
