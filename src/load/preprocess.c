/* SPDX-License-Identifier: Apache-2.0
 * One picture from memory, in the calling thread: its sample, or its plan. */
#include "src/load/sample.h"
#include "transforms/plan.h"

/* Enough for a photograph's tables and rows; larger ones go to the heap. */
#define PFI_CALL_ARENA ((size_t)256 << 10)

pinfold_status pinfold_recipe_size(const pinfold_recipe *recipe, int64_t n,
                                   size_t *bytes, int64_t shape[4],
                                   pinfold_error *err)
{
    struct pfi_recipe resolved;
    pinfold_status status;
    size_t total;

    pfi_error_clear(err);
    status = pfi_recipe_resolve(&resolved, recipe, err);
    if (status)
        return status;
    if (n < 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "n is below 0");
    if ((uint64_t)n > SIZE_MAX ||
        !pfi_mul(resolved.sample_bytes, (size_t)n, &total))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "%lld samples of %zu bytes do not fit in memory",
                        (long long)n, resolved.sample_bytes);
    *bytes = total;
    if (shape) {
        const bool nchw = resolved.layout == PINFOLD_NCHW;

        shape[0] = n;
        shape[1] = nchw ? 3 : resolved.height;
        shape[2] = nchw ? resolved.height : resolved.width;
        shape[3] = nchw ? resolved.width : 3;
    }
    return PINFOLD_OK;
}

static pinfold_status preprocess(const struct pfi_task *task,
                                 const void *encoded, size_t size, void *dst,
                                 pinfold_error *err)
{
    struct pfi_times times = {0};
    struct pfi_arena arena;
    pinfold_status status;

    if (!pfi_arena_init(&arena, PFI_CALL_ARENA))
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for scratch");
    status = pfi_sample_make(task, task->recipe.random_seed, &arena, encoded,
                             size, dst, &times, err);
    pfi_arena_end(&arena);
    return status;
}

pinfold_status pinfold_preprocess(const pinfold_recipe *recipe,
                                  const void *encoded, size_t size, void *dst,
                                  size_t dst_size, pinfold_error *err)
{
    struct pfi_task task;
    pinfold_status status;

    pfi_error_clear(err);
    if ((!encoded && size) || !dst)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "encoded or dst is NULL");
    status = pfi_task_init(&task, recipe, err);
    if (status)
        return status;
    if (dst_size < task.recipe.sample_bytes)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "dst has %zu bytes, a sample %zu", dst_size,
                        task.recipe.sample_bytes);
    status = pfi_limit_file(size, task.recipe.limits.file, err);
    return status ? status : preprocess(&task, encoded, size, dst, err);
}

static void fill_decoder_fields(pinfold_plan *out, struct pfi_decoder *decoder)
{
    const struct pfi_window window = {out->window_left, out->window_top,
                                      out->window_right, out->window_bottom};
    struct pfi_foreseen foreseen;

    pfi_decoder_foresee(decoder, &window, &foreseen);
    out->decoder = foreseen.decoder;
    out->decoder_why = foreseen.why;
    out->decoder_bytes = foreseen.bytes;
}

static void fill_axis_fields(pinfold_plan *out, const struct pfi_plan *plan,
                             const struct pfi_region *region)
{
    out->exact_width = plan->x.exact;
    out->exact_height = plan->y.exact;
    out->resized_width = plan->x.resized;
    out->resized_height = plan->y.resized;
    out->vertical_first = plan->vertical_first;
    out->crop_left = plan->x.crop_offset;
    out->crop_top = plan->y.crop_offset;
    out->pad_left = plan->x.pad_before;
    out->pad_right = plan->x.pad_after;
    out->pad_top = plan->y.pad_before;
    out->pad_bottom = plan->y.pad_after;
    out->window_left = plan->left + plan->x.window_first;
    out->window_right = plan->left + plan->x.window_end;
    out->window_top = plan->top + plan->y.window_first;
    out->window_bottom = plan->top + plan->y.window_end;
    out->region_left = region->left;
    out->region_top = region->top;
    out->region_width = region->width;
    out->region_height = region->height;
    out->mirrored = region->mirrored;
    out->taps_x = plan->x.max_taps;
    out->taps_y = plan->y.max_taps;
    out->scratch_bytes = plan->scratch_bytes;
}

static pinfold_status plan_picture(const struct pfi_recipe *recipe,
                                   const void *encoded, size_t size,
                                   struct pfi_arena *arena, pinfold_plan *out,
                                   pinfold_error *err)
{
    pinfold_plan filled = {.struct_size = sizeof(filled)};
    struct pfi_decoder decoder;
    struct pfi_region region;
    struct pfi_plan plan;
    pinfold_status status;

    status = pfi_decoder_open(&decoder, arena, encoded, size,
                              &recipe->limits, recipe->exif, err);
    if (status)
        return status;
    pfi_region_draw(&region, recipe, decoder.width, decoder.height,
                    recipe->random_seed);
    status = pfi_plan_make(&plan, recipe, &region, err);
    if (!status) {
        filled.format = decoder.codec->format;
        filled.mode = decoder.mode;
        filled.width = decoder.width;
        filled.height = decoder.height;
        filled.orientation = decoder.orientation;
        filled.output_width = recipe->width;
        filled.output_height = recipe->height;
        fill_axis_fields(&filled, &plan, &region);
        fill_decoder_fields(&filled, &decoder);
        pfi_struct_out(out, &filled, sizeof(filled));
    }
    pfi_decoder_close(&decoder);
    return status;
}

pinfold_status pinfold_plan_picture(const pinfold_recipe *recipe,
                                    const void *encoded, size_t size,
                                    pinfold_plan *out, pinfold_error *err)
{
    struct pfi_recipe resolved;
    struct pfi_arena arena;
    pinfold_status status;

    pfi_error_clear(err);
    if ((!encoded && size) || !out)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "encoded or out is NULL");
    status = pfi_recipe_resolve(&resolved, recipe, err);
    if (!status)
        status = pfi_limit_file(size, resolved.limits.file, err);
    if (status)
        return status;
    if (!pfi_arena_init(&arena, PFI_CALL_ARENA))
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for scratch");
    status = plan_picture(&resolved, encoded, size, &arena, out, err);
    pfi_arena_end(&arena);
    return status;
}
