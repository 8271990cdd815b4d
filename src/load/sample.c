/* SPDX-License-Identifier: Apache-2.0
 * Joins the codec and the transforms: rows stream from one to the other. */
#include "src/load/sample.h"

#include "src/base/clock.h"
#include "transforms/plan.h"

/* Rows decoded before they are transformed: libjpeg makes 8 or 16 at once, and
 * the clock is read twice a strip. */
#define PFI_STRIP_ROWS 16

/* The levels up to the one that was asked for. */
static pinfold_status take_kernels(struct pfi_task *task, pinfold_error *err)
{
    const int32_t wanted = task->recipe.cpu_level;
    const unsigned levels = pfi_cpu_levels();
    const unsigned mask = wanted ? (2u << wanted) - 1 : ~0u;

    if (wanted && !(levels & 1u << wanted))
        return pfi_fail(err, PINFOLD_E_UNSUPPORTED, 0,
                        "cpu_level %d: this CPU has no %s", wanted,
                        pfi_cpu_level_name((enum pfi_cpu_level)wanted));
    pfi_kernels_init(&task->kernels, mask);
    pfi_kernels_settle(&task->kernels, &task->norm);
    return PINFOLD_OK;
}

pinfold_status pfi_task_init(struct pfi_task *task, const pinfold_recipe *recipe,
                             pinfold_error *err)
{
    const pinfold_status status = pfi_recipe_resolve(&task->recipe, recipe, err);

    if (status)
        return status;
    pfi_norm_make(&task->norm, &task->recipe);
    return take_kernels(task, err);
}

static pinfold_status decode_strip(struct pfi_decoder *decoder,
                                   unsigned char *rows, size_t stride, int count,
                                   pinfold_error *err)
{
    for (int i = 0; i < count; i++) {
        const pinfold_status status =
            pfi_decoder_row(decoder, rows + (size_t)i * stride, err);

        if (status)
            return status;
    }
    return PINFOLD_OK;
}

static pinfold_status run_strips(struct pfi_decoder *decoder,
                                 struct pfi_stream *stream, unsigned char *rows,
                                 struct pfi_times *times, pinfold_error *err)
{
    const struct pfi_window *const w = &decoder->window;
    const size_t stride = (size_t)(w->right - w->left) * 3;
    uint64_t start = pfi_now_ns();

    for (int32_t y = w->top; y < w->bottom;) {
        const int32_t left = w->bottom - y;
        const int count = left < PFI_STRIP_ROWS ? (int)left : PFI_STRIP_ROWS;
        const pinfold_status status =
            decode_strip(decoder, rows, stride, count, err);
        const uint64_t decoded = pfi_now_ns();

        times->decode_ns += decoded - start;
        if (status)
            return status;
        for (int i = 0; i < count; i++)
            pfi_stream_row(stream, rows + (size_t)i * stride);
        start = pfi_now_ns();
        times->transform_ns += start - decoded;
        y += count;
    }
    return PINFOLD_OK;
}

/* `start` is when the plan was begun. */
static pinfold_status decode(struct pfi_decoder *decoder,
                             const struct pfi_window *window,
                             struct pfi_stream *stream, unsigned char *rows,
                             struct pfi_times *times, uint64_t start,
                             pinfold_error *err)
{
    const uint64_t planned = pfi_now_ns();
    pinfold_status status;

    times->plan_ns += planned - start;
    times->transform_ns += planned - start;
    status = pfi_decoder_start(decoder, window, err);
    times->attempt_ns = decoder->attempt_ns;
    start = pfi_now_ns();
    times->decode_ns += start - planned;
    if (!status)
        status = run_strips(decoder, stream, rows, times, err);
    if (status)
        return status;
    start = pfi_now_ns();
    status = pfi_decoder_finish(decoder, err);
    times->decode_ns += pfi_now_ns() - start;
    return status;
}

static pinfold_status make(const struct pfi_task *task, uint64_t seed,
                           struct pfi_decoder *decoder, void *dst,
                           struct pfi_times *times, pinfold_error *err)
{
    const uint64_t start = pfi_now_ns();
    struct pfi_region region;
    struct pfi_plan plan;
    struct pfi_stream stream;
    struct pfi_window window;
    unsigned char *rows;
    pinfold_status status;

    pfi_region_draw(&region, &task->recipe, decoder->width, decoder->height,
                    seed);
    status = pfi_plan_make(&plan, &task->recipe, &region, err);
    if (status)
        return status;
    status = pfi_stream_init(&stream, decoder->arena, &task->recipe,
                             &task->norm, &task->kernels, &plan, dst, err);
    if (status)
        return status;
    window = (struct pfi_window){plan.left + plan.x.window_first,
                                 plan.top + plan.y.window_first,
                                 plan.left + plan.x.window_end,
                                 plan.top + plan.y.window_end};
    rows = pfi_arena_array(decoder->arena, PFI_STRIP_ROWS * 3,
                           (size_t)(window.right - window.left));
    if (!rows)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for decoded rows");
    if (times->detailed)
        stream.stages = &times->stages;
    return decode(decoder, &window, &stream, rows, times, start, err);
}

pinfold_status pfi_sample_make(const struct pfi_task *task, uint64_t seed,
                               struct pfi_arena *arena, const void *data,
                               size_t size, void *dst, struct pfi_times *times,
                               pinfold_error *err)
{
    const uint64_t start = pfi_now_ns();
    struct pfi_decoder decoder;
    pinfold_status status;
    uint64_t opened;

    status = pfi_decoder_open(&decoder, arena, data, size,
                              &task->recipe.limits, task->recipe.exif, err);
    opened = pfi_now_ns() - start;
    times->header_ns += opened;
    times->decode_ns += opened;
    if (status)
        return status;
    status = make(task, seed, &decoder, dst, times, err);
    pfi_decoder_close(&decoder);
    return status;
}
