/* SPDX-License-Identifier: Apache-2.0
 * Memory on a device: as much as the loader says, of the kinds it says, at
 * addresses that stay, and all of it given back. */
#include "tests/gpu/device.h"

/* cudaMalloc hands out whole pages of the device, and the first use of a kernel
 * or stream takes some that stay. */
#define PAGE ((size_t)2 << 20)
#define MOST_SLOTS 4

static size_t free_bytes(void)
{
    size_t bytes = 0, total = 0;

    device_must(cudaMemGetInfo(&bytes, &total), "cudaMemGetInfo");
    return bytes;
}

static enum cudaMemoryType type_of(const void *ptr)
{
    struct cudaPointerAttributes attributes;

    device_must(cudaPointerGetAttributes(&attributes, ptr),
                "cudaPointerGetAttributes");
    return attributes.type;
}

/* Bytes of `count` samples of the recipe. */
static size_t sized(const pinfold_recipe *recipe, int64_t count)
{
    pinfold_error err;
    size_t bytes;

    device_ok(pinfold_recipe_size(recipe, count, &bytes, NULL, &err), &err);
    return bytes;
}

/* What the options come to, by the rule that pinfold.h gives. */
static void check_stats(pinfold_loader *loader, const struct device_set *set,
                        const struct device_way *way)
{
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    pinfold_recipe bytes = set->recipe;
    const size_t slots = (size_t)way->slots, tail = 128;
    size_t device = slots * (sized(&set->recipe, BATCH) + tail);
    size_t pinned = device;

    bytes.dtype = PINFOLD_U8;
    bytes.plane_alignment = 0;
    if (device_normalizes(way)) {
        const size_t slot = 3072 + 256 + sized(&bytes, BATCH) + tail;

        pinned = slots * slot;
        device += slot;
    }
    if (way->upload == PINFOLD_UPLOAD_OFF)
        device = 0;
    if (way->memory == PINFOLD_MEMORY_PAGEABLE)
        pinned = 0;
    pinfold_loader_stats(loader, &stats);
    if (stats.device_bytes != device)
        device_fail("other device_bytes than", (long)device);
    if (stats.pinned_bytes != pinned)
        device_fail("other pinned_bytes than", (long)pinned);
}

/* Every batch lies in one of the slots' places, and of its kind. */
static void check_places(pinfold_loader *loader, const struct device_way *way)
{
    const bool upload = way->upload != PINFOLD_UPLOAD_OFF;
    const void *places[MOST_SLOTS];
    const pinfold_batch *batch;
    pinfold_error err;
    int n = 0, i;

    device_ok(pinfold_loader_start(loader, 0, &err), &err);
    for (; device_next(loader, &batch) == PINFOLD_OK;
         pinfold_batch_release(batch)) {
        const void *const place = upload ? batch->device_data : batch->data;

        for (i = 0; i < n && places[i] != place; i++)
            continue;
        if (i == way->slots)
            device_fail("batches at more places than slots:", n);
        if (i == n)
            places[n++] = place;
        if (type_of(place) !=
            (upload ? cudaMemoryTypeDevice : cudaMemoryTypeHost))
            device_fail("a batch in memory of another kind", (long)i);
        if (upload)
            device_must(cudaEventSynchronize(batch->ready_event),
                        "cudaEventSynchronize");
    }
}

/* One loader's life. */
static void live(const struct device_set *set, const struct device_way *way)
{
    const size_t before = free_bytes();
    pinfold_loader *const loader = device_open(set, way);
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    const size_t open = free_bytes();
    const size_t slots = (size_t)way->slots + 1;

    pinfold_loader_stats(loader, &stats);
    if (before < open ||
        before - open > stats.device_bytes + slots * PAGE + 16 * PAGE)
        device_fail("the device lost more bytes than it should",
                    (long)before - (long)open);
    check_stats(loader, set, way);
    check_places(loader, way);
    pinfold_loader_close(loader);
}

long device_check_memory(const struct device_set *set)
{
    static const struct device_way ways[] = {
        {PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_PINNED, 2, 1, 0},
        {PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_PINNED, 0, 3, 1},
        {PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_PAGEABLE, 0, 4, 1},
        {PINFOLD_UPLOAD_OFF, PINFOLD_MEMORY_PINNED, 0, 2, 0},
    };
    const int n = (int)(sizeof(ways) / sizeof(ways[0]));
    size_t settled = 0;
    long lives = 0;

    /* What stays behind the first lives of each kind stays once. */
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < n; i++, lives++)
            live(set, &ways[i]);
        if (round == 1)
            settled = free_bytes();
    }
    if (free_bytes() + PAGE < settled)
        device_fail("bytes were not given back:",
                    (long)settled - (long)free_bytes());
    return lives;
}
