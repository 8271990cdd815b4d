/* SPDX-License-Identifier: Apache-2.0
 * Uploads of bytes that the device makes elements of: the same bits, since its
 * kernel only looks up what the CPU tabulated. */
#include <string.h>

#include "src/load/internal.h"

/* Pixels start where the device likes batches to start. */
#define PFI_STAGED_ALIGN 256

/* More than it can run at once; the kernel goes round. */
#define PFI_MOST_BLOCKS 65535u
#define PFI_MOST_THREADS 256u

static pinfold_status refuse(const pinfold_loader *loader, pinfold_error *err)
{
    int version = 0;

    (void)loader->gpu->runtime_version(loader->gpu->cookie, &version);
    return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                    "device_normalize needs CUDA 12.8: this build's runtime, "
                    "%d.%d, loads no kernel",
                    version / 1000, version % 1000 / 10);
}

/* The workers write 8-bit pixels from now on. */
static void write_bytes(pinfold_loader *loader)
{
    struct pfi_task *const task = &loader->task;
    struct pfi_recipe *const r = &task->recipe;

    _Static_assert(sizeof(task->norm.channel) == sizeof(loader->staged.tables),
                   "the kernel takes tables of 1024 bytes");
    memcpy(loader->staged.tables, task->norm.channel,
           sizeof(loader->staged.tables));
    r->dtype = PINFOLD_U8;
    r->layout = PINFOLD_NHWC;
    r->plane = (size_t)r->height * (size_t)r->width;
    r->sample_bytes = 3 * r->plane;
    pfi_norm_make(&task->norm, r);
    pfi_kernels_settle(&task->kernels, &task->norm);
}

pinfold_status pfi_staged_plan(pinfold_loader *loader, pinfold_error *err)
{
    struct pfi_staged *const s = &loader->staged;

    if (!loader->options.device_normalize)
        return PINFOLD_OK;
    if (loader->output.dtype == PINFOLD_U8)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "device_normalize: u8 batches are not normalised");
    if (!loader->gpu)
        return PINFOLD_OK;
    if (!loader->gpu->launch)
        return refuse(loader, err);
    if (loader->output.plane > INT32_MAX)
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "device_normalize: %zu pixels a picture, limit %d",
                        loader->output.plane, INT32_MAX);
    s->used = true;
    s->good = sizeof(s->tables);
    s->pixels = s->good + (size_t)loader->options.batch_size;
    s->pixels += PFI_STAGED_ALIGN - 1;
    s->pixels -= s->pixels % PFI_STAGED_ALIGN;
    write_bytes(loader);
    return PINFOLD_OK;
}

pinfold_status pfi_staged_open(pinfold_loader *loader, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    struct pfi_staged *const s = &loader->staged;
    const char *const ptx = loader->output.dtype == PINFOLD_F32
                                ? pfi_normalize_ptx_4
                                : pfi_normalize_ptx_2;
    int code = gpu->alloc(gpu->cookie, &s->memory, loader->slot_bytes);

    if (code) {
        s->memory = NULL;
        return pfi_fail_alloc(loader, loader->slot_bytes, "a batch's bytes",
                              code, err);
    }
    loader->stats.device_bytes += loader->slot_bytes;
    code = gpu->library_load(gpu->cookie, ptx, &s->library);
    if (code) {
        s->library = NULL;
        return pfi_fail_cuda(gpu, err, code, "cudaLibraryLoadData");
    }
    code = gpu->library_kernel(gpu->cookie, s->library, "pfi_normalize",
                               &s->kernel);
    return code ? pfi_fail_cuda(gpu, err, code, "cudaLibraryGetKernel")
                : PINFOLD_OK;
}

void pfi_staged_close(pinfold_loader *loader)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    struct pfi_staged *const s = &loader->staged;

    /* cudaFree waits for what still runs, should a wait have failed. */
    if (s->memory)
        (void)gpu->dealloc(gpu->cookie, s->memory);
    if (s->library)
        (void)gpu->library_unload(gpu->cookie, s->library);
}

void pfi_staged_fill(const pinfold_loader *loader, struct pfi_slot *slot)
{
    memcpy(slot->memory, loader->staged.tables, sizeof(loader->staged.tables));
    memset((unsigned char *)slot->memory + loader->staged.good, 0,
           loader->staged.pixels - loader->staged.good);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

pinfold_status pfi_staged_launch(pinfold_loader *loader,
                                 const struct pfi_slot *to, pinfold_error *err)
{
    const struct pfi_gpu *const gpu = loader->gpu;
    const struct pfi_recipe *const r = &loader->output;
    const bool nchw = r->layout == PINFOLD_NCHW;
    struct pfi_staged *const s = &loader->staged;
    void *dst = to->memory;
    uint64_t good = s->good, pixels = s->pixels;
    uint32_t count = (uint32_t)to->meta.count, plane = (uint32_t)r->plane;
    uint32_t n_pixels = (uint32_t)loader->task.recipe.plane;
    uint32_t channel_step = nchw ? plane : 1, pixel_step = nchw ? 1 : 3;
    void *arguments[] = {&dst,    &s->memory,    &good,
                         &pixels, &count,        &n_pixels,
                         &plane,  &channel_step, &pixel_step};
    const unsigned threads = least(PFI_MOST_THREADS, (plane + 31) / 32 * 32);
    const struct pfi_gpu_grid grid = {
        least(PFI_MOST_BLOCKS, (plane + threads - 1) / threads),
        least(PFI_MOST_BLOCKS, count), threads};
    const int code =
        gpu->launch(gpu->cookie, s->kernel, &grid, arguments, loader->stream);

    return code ? pfi_fail_cuda(gpu, err, code, "cudaLaunchKernel")
                : PINFOLD_OK;
}
