/* SPDX-License-Identifier: Apache-2.0
 * Uploads on a real device: what comes back from it equals the host's batches,
 * byte for byte, memory is as planned, and how well decoding and copying
 * overlap.  Skips (77) where no device can be used, and says why.
 * usage: test_device [EPOCHS [SAMPLES [CROP [ROOT [JSON]]]]]
 * ROOT is a tree of real pictures; figures are written to JSON. */
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/device.h"
#include "tests/support/fakeset.h"

cudaStream_t device_streams[CONSUMERS];

void device_must(int code, const char *what)
{
    if (!code)
        return;
    (void)fprintf(stderr, "%s: %d (%s)\n", what, code,
                  cudaGetErrorName((cudaError_t)code));
    exit(1);
}

void device_ok(pinfold_status status, const pinfold_error *err)
{
    if (status >= 0)
        return;
    (void)fprintf(stderr, "%s: %s\n", pinfold_status_name(status),
                  err->message);
    exit(1);
}

void device_fail(const char *what, long number)
{
    (void)fprintf(stderr, "%s %ld\n", what, number);
    exit(1);
}

bool device_normalizes(const struct device_way *way)
{
    return way->normalize && pfi_gpu_default()->launch;
}

/* What was taken is what was planned, save where the system does not pin. */
static void meet_plan(pinfold_dataset *dataset, const pinfold_loader *loader,
                      const pinfold_loader_options *options)
{
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    pinfold_stats stats = {.struct_size = sizeof(stats)};
    pinfold_error err;

    device_ok(pinfold_loader_plan(dataset, options, &plan, &err), &err);
    pinfold_loader_stats(loader, &stats);
    if (stats.device_bytes == plan.device_bytes &&
        stats.pinned_bytes + stats.host_bytes ==
            plan.pinned_bytes + plan.host_bytes &&
        (stats.pinned_bytes == plan.pinned_bytes ||
         strcmp(stats.memory, "pinned") != 0))
        return;
    (void)fprintf(stderr, "%zu pinned, %zu ordinary, %zu device bytes; planned "
                          "%zu, %zu, %zu\n",
                  stats.pinned_bytes, stats.host_bytes, stats.device_bytes,
                  plan.pinned_bytes, plan.host_bytes, plan.device_bytes);
    exit(1);
}

pinfold_loader *device_open(const struct device_set *set,
                            const struct device_way *way)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_loader *loader;
    pinfold_error err;

    options.recipe = &set->recipe;
    options.batch_size = BATCH;
    options.workers = way->workers;
    options.slots = way->slots;
    options.shuffle = 1;
    options.upload = way->upload;
    options.memory = way->memory;
    options.device_normalize = device_normalizes(way);
    device_ok(pfi_loader_open(&loader, set->dataset, &options, NULL,
                              set->reader, &err),
              &err);
    meet_plan(set->dataset, loader, &options);
    return loader;
}

pinfold_status device_next(pinfold_loader *loader, const pinfold_batch **batch)
{
    pinfold_error err;
    const pinfold_status status = pinfold_loader_next(loader, -1, batch, &err);

    device_ok(status, &err);
    return status;
}

/* Every recipe that is stored in another way, uploaded as it is and in bytes,
 * pinned and not, with 1 to 3 slots. */
static long compare_all(struct device_set *set, long epochs)
{
    static const struct {
        pinfold_dtype dtype;
        pinfold_layout layout;
        int32_t alignment;
    } stores[] = {
        {PINFOLD_F32, PINFOLD_NCHW, 0},    {PINFOLD_F16, PINFOLD_NHWC, 0},
        {PINFOLD_BF16, PINFOLD_NCHW, 256}, {PINFOLD_F32, PINFOLD_NHWC, 0},
        {PINFOLD_F16, PINFOLD_NCHW, 0},
    };
    const pinfold_recipe recipe = set->recipe;
    long n = 0;

    for (int i = 0; i < 20; i++) {
        const struct device_way way = {
            PINFOLD_UPLOAD_REQUIRE,
            i % 4 < 2 ? PINFOLD_MEMORY_PINNED : PINFOLD_MEMORY_PAGEABLE,
            i % 7 == 3 ? PINFOLD_OFF : 0, 1 + i % 3, i % 2};

        set->recipe.dtype = stores[i % 5].dtype;
        set->recipe.layout = stores[i % 5].layout;
        set->recipe.plane_alignment = stores[i % 5].alignment;
        n += device_compare(set, &way, epochs);
    }
    set->recipe = recipe;
    return n;
}

/* Prints one way's figures, for people and as a member of a JSON object. */
static void report(FILE *json, const char *name, const struct device_times *t)
{
    const double copies = t->batches * t->copy;
    const double seen = t->both > t->decode ? t->both - t->decode : 0;
    const double hidden = seen < copies ? 1 - seen / copies : 0;
    const double bound = (t->decode > copies ? t->decode : copies) +
                         t->decode / t->batches + t->copy;

    (void)printf("%s: a batch of %.1f MB is decoded in %.3f ms and %.1f MB of "
                 "it are copied in %.3f ms (%.1f GB/s); an epoch takes %.3f "
                 "ms, with uploads %.3f ms: %.0f %% of the copies' time is "
                 "hidden behind decoding; %.3f of n max(d, c) + d + c\n",
                 name, t->batch_bytes * 1e-6, t->decode / t->batches * 1e3,
                 t->copied_bytes * 1e-6, t->copy * 1e3,
                 t->copied_bytes / t->copy * 1e-9, t->decode * 1e3,
                 t->both * 1e3, hidden * 100, t->both / bound);
    if (json)
        (void)fprintf(json,
                      ",\n  \"%s\": {\"batches\": %.0f, \"batch_bytes\": %.0f, "
                      "\"copied_bytes\": %.0f, \"decode_seconds\": %.9f, "
                      "\"copy_seconds\": %.9f, \"upload_seconds\": %.9f, "
                      "\"hidden_share\": %.4f, \"bound_share\": %.4f}",
                      name, t->batches, t->batch_bytes, t->copied_bytes,
                      t->decode, t->copy, t->both, hidden, t->both / bound);
}

static void measure_all(const struct device_set *set, FILE *json)
{
    static const char *const names[] = {"pageable", "pinned", "pageable_bytes",
                                        "pinned_bytes"};

    for (int i = 0; i < 4; i++) {
        const struct device_times t = device_measure(set, i % 2, i / 2);

        report(json, names[i], &t);
    }
}

static void make_streams(void)
{
    device_must(cudaSetDevice(0), "cudaSetDevice");
    for (int i = 0; i < CONSUMERS; i++)
        device_must(cudaStreamCreateWithFlags(&device_streams[i],
                                              cudaStreamNonBlocking),
                    "cudaStreamCreateWithFlags");
}

static void end_streams(void)
{
    for (int i = 0; i < CONSUMERS; i++)
        device_must(cudaStreamDestroy(device_streams[i]), "cudaStreamDestroy");
    device_must(cudaGetLastError(), "cudaGetLastError");
}

/* Real pictures, some of them damaged. */
static long compare_tree(const char *root, const pinfold_recipe *recipe,
                         long epochs)
{
    struct device_set tree = {.recipe = *recipe};
    pinfold_error err;
    long n;

    device_ok(pinfold_dataset_open(&tree.dataset, root, NULL, &err), &err);
    n = compare_all(&tree, epochs);
    pinfold_dataset_close(tree.dataset);
    return n;
}

int main(int argc, char **argv)
{
    const long epochs = argc > 1 ? atol(argv[1]) : 2;
    pinfold_info info = {.struct_size = sizeof(info)};
    FILE *const json = argc > 5 ? fopen(argv[5], "w") : NULL;
    struct device_set made = {.recipe = pinfold_recipe_default()};
    struct fake_set set;

    pinfold_info_get(&info);
    if (!info.cuda_devices) {
        (void)printf("skipped: %s\n", info.cuda_status);
        return 77;
    }
    if (argc > 5 && !json)
        device_fail("the JSON cannot be written, argument", 5);
    if (json)
        (void)fprintf(json, "{\n  \"cuda_runtime\": %d, \"cuda_driver\": %d",
                      info.cuda_runtime, info.cuda_driver);
    made.recipe.crop_height = argc > 3 ? atoi(argv[3]) : 224;
    fake_set_open(&set, argc > 2 ? atoi(argv[2]) : 1000);
    made.dataset = set.dataset;
    made.reader = &set.reader;
    make_streams();
    (void)printf("%ld batches came back as they were made\n",
                 compare_all(&made, epochs));
    if (argc > 4)
        (void)printf("%ld batches of %s came back as they were made\n",
                     compare_tree(argv[4], &made.recipe, epochs), argv[4]);
    (void)printf("%ld loaders held what they say, and gave it back\n",
                 device_check_memory(&made));
    measure_all(&made, json);
    end_streams();
    fake_set_close(&set);
    if (json && (fputs("\n}\n", json) < 0 || fclose(json)))
        device_fail("the JSON cannot be written, argument", 5);
    return 0;
}
