/* SPDX-License-Identifier: Apache-2.0
 * A batch as a DLPack tensor: what it says of itself, and when its slot is free
 * again. */
#include <criterion/criterion.h>
#include <pinfold/dlpack.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/load/dlpack.h"
#include "tests/support/fakegpu.h"
#include "tests/support/fakeset.h"

/* Of dlpack.h 1.3 on a machine with 64 bits. */
_Static_assert(offsetof(struct DLManagedTensorVersioned, deleter) == 16 &&
                   offsetof(struct DLManagedTensorVersioned, dl_tensor) == 32 &&
                   offsetof(struct pfi_dl_tensor, ndim) == 16 &&
                   offsetof(struct pfi_dl_tensor, code) == 20 &&
                   offsetof(struct pfi_dl_tensor, shape) == 24 &&
                   sizeof(struct DLManagedTensorVersioned) == 80,
               "the layout is DLPack's");

static struct fake_set set;
static struct fake_gpu *fake;
static const struct pfi_gpu *gpu;
static pinfold_recipe recipe;
static pinfold_loader_options options;
static void *consumer;

static void setup(void)
{
    fake_set_open(&set, 12);
    fake = fake_gpu_start(2);
    cr_assert_not_null(fake);
    gpu = fake_gpu_table(fake);
    cr_assert_eq(gpu->use_device(gpu->cookie, 1), 0);
    cr_assert_eq(gpu->stream_create(gpu->cookie, &consumer), 0);
    cr_assert_eq(gpu->use_device(gpu->cookie, 0), 0);
    recipe = fake_recipe();
    options = pinfold_loader_options_default();
    options.recipe = &recipe;
    options.batch_size = 4;
    options.slots = 1;
    options.workers = 2;
    options.memory = PINFOLD_MEMORY_PAGEABLE;
}

static void teardown(void)
{
    struct fake_live live;
    int device = -1;

    cr_assert_eq(gpu->current_device(gpu->cookie, &device), 0);
    cr_assert_eq(device, 0, "the caller's device was not restored");
    cr_assert_eq(gpu->stream_destroy(gpu->cookie, consumer), 0);
    live = fake_gpu_live(fake);
    cr_assert_eq(live.pins + live.allocs + live.streams + live.events, 0);
    cr_assert_null(fake_gpu_misuse(fake), "%s", fake_gpu_misuse(fake));
    fake_gpu_end(fake);
    fake_set_close(&set);
}

TestSuite(dlpack, .init = setup, .fini = teardown, .timeout = 60);

static pinfold_loader *open_loader(void)
{
    pinfold_loader *loader;
    pinfold_error err;

    cr_assert_eq(
        pfi_loader_open(&loader, set.dataset, &options, gpu, &set.reader, &err),
        PINFOLD_OK, "%s", err.message);
    cr_assert_eq(pinfold_loader_start(loader, 0, &err), PINFOLD_OK);
    return loader;
}

static const pinfold_batch *next(pinfold_loader *loader)
{
    const pinfold_batch *batch;
    pinfold_error err;

    cr_assert_eq(pinfold_loader_next(loader, -1, &batch, &err), PINFOLD_OK,
                 "%s", err.message);
    return batch;
}

static struct DLManagedTensorVersioned *hand_over(const pinfold_batch *batch,
                                                  void *stream, uint32_t flags)
{
    struct DLManagedTensorVersioned *tensor;
    pinfold_error err;

    cr_assert_eq(pinfold_batch_to_dlpack(batch, stream, flags, &tensor, &err),
                 PINFOLD_OK, "%s", err.message);
    cr_assert_eq(tensor->major, 1);
    cr_assert_eq(tensor->minor, 3);
    cr_assert_eq(tensor->flags, 0);
    cr_assert_eq(tensor->dl_tensor.ndim, 4);
    cr_assert_eq(tensor->dl_tensor.lanes, 1);
    cr_assert_eq(tensor->dl_tensor.byte_offset, 0);
    cr_assert_arr_eq(tensor->dl_tensor.shape, batch->shape, 4 * 8);
    return tensor;
}

Test(dlpack, the_deleter_frees_the_slot)
{
    pinfold_loader *const loader = open_loader();
    const pinfold_batch *batch, *other;
    pinfold_error err;

    for (int i = 0; i < 3; i++) {
        batch = next(loader);
        cr_assert_eq(batch->number, i);
        struct DLManagedTensorVersioned *const tensor =
                                                   hand_over(batch, NULL, 0),
                                               *second;

        cr_assert_eq(tensor->dl_tensor.data, batch->data);
        cr_assert(fake_batch_right(&set, batch, tensor->dl_tensor.data));
        cr_assert_eq(pinfold_batch_to_dlpack(batch, NULL, 0, &second, &err),
                     PINFOLD_E_STATE);
        cr_assert_null(second);
        cr_assert_eq(pinfold_loader_next(loader, 0, &other, &err),
                     i < 2 ? PINFOLD_E_STATE : PINFOLD_END);
        tensor->deleter(tensor);
    }
    pinfold_loader_close(loader);
}

struct view {
    pinfold_dtype dtype;
    pinfold_layout layout;
    int32_t alignment;
    int code, bits;
    int64_t strides[4];
};

Test(dlpack, types_and_strides)
{
    static const struct view views[] = {
        {PINFOLD_F32, PINFOLD_NCHW, 0, PFI_DL_FLOAT, 32, {105, 35, 7, 1}},
        {PINFOLD_F32, PINFOLD_NHWC, 0, PFI_DL_FLOAT, 32, {105, 21, 3, 1}},
        {PINFOLD_F16, PINFOLD_NCHW, 0, PFI_DL_FLOAT, 16, {105, 35, 7, 1}},
        {PINFOLD_BF16, PINFOLD_NHWC, 0, PFI_DL_BFLOAT, 16, {105, 21, 3, 1}},
        {PINFOLD_U8, PINFOLD_NCHW, 0, PFI_DL_UINT, 8, {105, 35, 7, 1}},
        {PINFOLD_U8, PINFOLD_NHWC, 0, PFI_DL_UINT, 8, {105, 21, 3, 1}},
        {PINFOLD_F32, PINFOLD_NCHW, 64, PFI_DL_FLOAT, 32, {144, 48, 7, 1}},
        {PINFOLD_U8, PINFOLD_NCHW, 256, PFI_DL_UINT, 8, {768, 256, 7, 1}},
    };

    recipe.crop_height = 5;
    recipe.crop_width = 7;
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        const struct view *const v = &views[i];

        recipe.dtype = v->dtype;
        recipe.layout = v->layout;
        recipe.plane_alignment = v->alignment;
        pinfold_loader *const loader = open_loader();
        const pinfold_batch *const batch = next(loader);
        struct DLManagedTensorVersioned *const tensor =
            hand_over(batch, NULL, 0);

        cr_assert_eq(tensor->dl_tensor.code, v->code);
        cr_assert_eq(tensor->dl_tensor.bits, v->bits);
        cr_assert_eq(tensor->dl_tensor.device_type, PFI_DL_CPU);
        cr_assert_eq(tensor->dl_tensor.device_id, 0);
        cr_assert_arr_eq(tensor->dl_tensor.strides, v->strides, 4 * 8, "%zu",
                         i);
        cr_assert_eq((size_t)(4 * v->strides[0] * v->bits / 8), batch->size);
        tensor->deleter(tensor);
        pinfold_loader_close(loader);
    }
}

/* As garbage collectors like it. */
Test(dlpack, a_tensor_outlives_the_loader)
{
    options.slots = 2;
    pinfold_loader *const loader = open_loader();
    const pinfold_batch *const batch = next(loader), *const other =
                                                         next(loader);
    struct DLManagedTensorVersioned *const first = hand_over(batch, NULL, 0),
                                           *const second =
                                               hand_over(other, NULL, 0);

    pinfold_loader_close(loader);
    cr_assert(fake_batch_right(&set, other, second->dl_tensor.data));
    first->deleter(first);
    cr_assert(fake_batch_right(&set, other, second->dl_tensor.data));
    second->deleter(second);
}

Test(dlpack, wrong_arguments)
{
    struct DLManagedTensorVersioned *tensor;
    pinfold_loader *const loader = open_loader();
    const pinfold_batch *const batch = next(loader);
    pinfold_error err;

    cr_assert_eq(pinfold_batch_to_dlpack(batch, NULL, 2, &tensor, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "flags are 0x2");
    cr_assert_eq(pinfold_batch_to_dlpack(batch, consumer, 0, &tensor, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_null(tensor);
    pinfold_batch_release(batch);
    pinfold_batch_release(next(loader));
    pinfold_loader_close(loader);
}

Test(dlpack, a_forked_child_frees_nothing)
{
    pinfold_loader *const loader = open_loader();
    struct DLManagedTensorVersioned *const tensor =
                                               hand_over(next(loader), NULL, 0),
                                           *other;
    const pid_t child = fork();
    pinfold_error err;
    int status;

    if (child == 0) {
        const pinfold_status again =
            pinfold_batch_to_dlpack(tensor->manager_ctx, NULL, 0, &other, &err);

        pinfold_loader_close(loader);
        tensor->deleter(tensor);
        _exit(again == PINFOLD_E_FORK ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    tensor->deleter(tensor);
    pinfold_batch_release(next(loader));
    pinfold_loader_close(loader);
}

Test(dlpack, pinned_memory_is_called_cpu_unless_asked)
{
    static unsigned char mine[4 * 48];
    const pinfold_batch *batch;
    struct DLManagedTensorVersioned *tensor;
    pinfold_error err;

    options.memory = PINFOLD_MEMORY_PINNED;
    pinfold_loader *const loader = open_loader();

    for (uint32_t flags = 0; flags < 2; flags++) {
        batch = next(loader);
        tensor = hand_over(batch, NULL, flags);
        cr_assert_eq(fake_gpu_kind_of(fake, tensor->dl_tensor.data), 1);
        cr_assert_eq(tensor->dl_tensor.device_type,
                     flags ? PFI_DL_CUDA_HOST : PFI_DL_CPU);
        cr_assert(fake_batch_right(&set, batch, tensor->dl_tensor.data));
        tensor->deleter(tensor);
        fake_gpu_run_all(fake);
    }
    cr_assert_eq(
        pinfold_loader_next_into(loader, -1, mine, sizeof(mine), &batch, &err),
        PINFOLD_OK, "%s", err.message);
    tensor = hand_over(batch, NULL, PINFOLD_DLPACK_CUDA_HOST);
    cr_assert_eq(tensor->dl_tensor.data, mine);
    cr_assert_eq(tensor->dl_tensor.device_type, PFI_DL_CPU);
    tensor->deleter(tensor);
    pinfold_loader_close(loader);
}

static void upload(void)
{
    options.memory = PINFOLD_MEMORY_AUTO;
    options.upload = PINFOLD_UPLOAD_REQUIRE;
    options.device = 1;
}

/* The fake notices a slot that is written while work reads it. */
Test(dlpack, a_device_batch_follows_the_consumers_stream)
{
    upload();
    pinfold_loader *const loader = open_loader();
    unsigned char copy[4 * 48];

    for (int i = 0; i < 3; i++) {
        const pinfold_batch *const batch = next(loader);
        struct DLManagedTensorVersioned *const tensor =
            hand_over(batch, consumer, 0);
        const void *const data = tensor->dl_tensor.data;

        cr_assert_eq(tensor->dl_tensor.device_type, PFI_DL_CUDA);
        cr_assert_eq(tensor->dl_tensor.device_id, 1);
        cr_assert_eq(fake_gpu_kind_of(fake, data), 2);
        /* No wait here: the stream does. */
        cr_assert_eq(
            fake_gpu_copy_back(fake, copy, data, batch->size, consumer), 0);
        fake_gpu_run(fake, consumer);
        cr_assert(fake_batch_right(&set, batch, copy));
        cr_assert_eq(
            fake_gpu_copy_back(fake, copy, data, batch->size, consumer), 0);
        tensor->deleter(tensor);
    }
    fake_gpu_run_all(fake);
    pinfold_loader_close(loader);
}

Test(dlpack, a_device_tensor_outlives_the_loader)
{
    upload();
    pinfold_loader *const loader = open_loader();
    const pinfold_batch *const batch = next(loader);
    struct DLManagedTensorVersioned *const tensor =
        hand_over(batch, consumer, 0);

    pinfold_loader_close(loader);
    fake_gpu_run(fake, consumer);
    cr_assert(fake_batch_right(&set, batch, tensor->dl_tensor.data));
    tensor->deleter(tensor);
}

Test(dlpack, failures_of_the_device)
{
    struct DLManagedTensorVersioned *tensor;
    const pinfold_batch *batch, *other;
    pinfold_error err;

    upload();
    pinfold_loader *const loader = open_loader();

    batch = next(loader);
    fake_gpu_refuse(fake, "cudaStreamWaitEvent", 700);
    cr_assert_eq(pinfold_batch_to_dlpack(batch, consumer, 0, &tensor, &err),
                 PINFOLD_E_CUDA);
    cr_assert_null(tensor);
    fake_gpu_refuse(fake, NULL, 0);
    tensor = hand_over(batch, consumer, 0);
    fake_gpu_refuse(fake, "cudaEventRecord", 700);
    tensor->deleter(tensor);
    fake_gpu_refuse(fake, NULL, 0);
    cr_assert_eq(pinfold_loader_next(loader, 0, &other, &err), PINFOLD_E_STATE,
                 "the slot is not free");
    pinfold_loader_close(loader);
}
