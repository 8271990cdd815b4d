/* SPDX-License-Identifier: Apache-2.0
 * Rows stream through both passes: a ring keeps only the rows that outputs
 * still need, resampled by columns already, or not yet where rows come first. */
#include "transforms/stream.h"

#include <string.h>

#include "src/base/clock.h"
#include "transforms/kernels.h"
#include "transforms/normalize.h"
#include "transforms/resample.h"

struct pfi_stream_state {
    struct pfi_taps x, y;
    struct pfi_pack pack; /* of x, where `packed` */
    bool packed, copies_x; /* copies_x: columns are copied, not summed */
    const unsigned char **rows; /* [ring_rows] that an output sums */
    unsigned char *ring; /* ring_rows rows of ring_bytes */
    unsigned char *combined; /* rows-first: one row of the window; then a row
                              * of the crop that is mirrored */
    unsigned char *finished; /* one row of the crop */
    size_t ring_bytes;
    int32_t ring_rows;
    int32_t next_in, next_out; /* rows of the window, and of the crop */
};

static void store_padding(const struct pfi_stream *stream)
{
    const struct pfi_recipe *const r = stream->recipe;
    const struct pfi_axis *const x = &stream->plan->x, *const y = &stream->plan->y;

    for (int32_t row = 0; row < r->height; row++) {
        const bool black = row < y->pad_before || row >= y->pad_before + y->count;

        if (black) {
            pfi_store_black(r, stream->norm, stream->dst, row, 0, r->width);
            continue;
        }
        pfi_store_black(r, stream->norm, stream->dst, row, 0, x->pad_before);
        pfi_store_black(r, stream->norm, stream->dst, row,
                        x->pad_before + x->count, x->pad_after);
    }
}

/* What lies between planes that do not follow one another. */
static void clear_gaps(const struct pfi_stream *stream)
{
    const struct pfi_recipe *const r = stream->recipe;
    const size_t size = pfi_dtype_size(r->dtype);
    const size_t used = (size_t)r->width * (size_t)r->height;

    for (size_t c = 0; c < 3 && r->plane > used; c++)
        memset((unsigned char *)stream->dst + (c * r->plane + used) * size, 0,
               (r->plane - used) * size);
}

static pinfold_status no_memory(const struct pfi_plan *plan, pinfold_error *err)
{
    return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                    "no memory for the %zu bytes of resampling",
                    plan->scratch_bytes);
}

static pinfold_status take_memory(struct pfi_stream_state *state,
                                  struct pfi_arena *arena,
                                  const struct pfi_plan *plan,
                                  pinfold_error *err)
{
    const size_t window = (size_t)(plan->x.window_end - plan->x.window_first);
    const size_t crop = (size_t)plan->x.count;

    state->ring_bytes = 3 * (plan->vertical_first ? window : crop);
    state->ring_rows = plan->y.max_taps;
    state->ring = pfi_arena_array(arena, (size_t)state->ring_rows,
                                  state->ring_bytes);
    state->combined = pfi_arena_array(arena, 3, window > crop ? window : crop);
    state->finished = pfi_arena_array(arena, 3, crop);
    if (!state->ring || !state->combined || !state->finished ||
        !pfi_taps_make(&state->x, arena, &plan->x, plan->filter) ||
        !pfi_taps_make(&state->y, arena, &plan->y, plan->filter))
        return no_memory(plan, err);
    state->rows = pfi_arena_array(arena, (size_t)state->ring_rows,
                                  sizeof(*state->rows));
    return state->rows ? PINFOLD_OK : no_memory(plan, err);
}

static pinfold_status pack_columns(struct pfi_stream_state *state,
                                   struct pfi_arena *arena,
                                   const struct pfi_kernels *kernels,
                                   const struct pfi_plan *plan,
                                   pinfold_error *err)
{
    pinfold_status status;

    state->copies_x = plan->x.source == plan->x.resized;
    if (state->copies_x || kernels->format == PFI_PACK_NONE)
        return PINFOLD_OK;
    status = pfi_pack_make(&state->pack, arena, &plan->x, &state->x,
                           kernels->format);
    state->packed = !status;
    return status == PINFOLD_E_MEMORY ? no_memory(plan, err) : PINFOLD_OK;
}

pinfold_status pfi_stream_init(struct pfi_stream *stream,
                               struct pfi_arena *arena,
                               const struct pfi_recipe *recipe,
                               const struct pfi_norm *norm,
                               const struct pfi_kernels *kernels,
                               const struct pfi_plan *plan, void *dst,
                               pinfold_error *err)
{
    pinfold_status status;

    *stream = (struct pfi_stream){.recipe = recipe,
                                  .norm = norm,
                                  .kernels = kernels,
                                  .plan = plan,
                                  .dst = dst,
                                  .state = pfi_arena_alloc(
                                      arena, sizeof(*stream->state))};
    if (!stream->state)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a stream");
    *stream->state = (struct pfi_stream_state){0};
    status = take_memory(stream->state, arena, plan, err);
    if (!status)
        status = pack_columns(stream->state, arena, kernels, plan, err);
    if (status)
        return status;
    store_padding(stream);
    clear_gaps(stream);
    return PINFOLD_OK;
}

static uint64_t start_of(const struct pfi_stream *stream)
{
    return stream->stages ? pfi_now_ns() : 0;
}

static void resample_columns(const struct pfi_stream *stream,
                             unsigned char *out, const unsigned char *in)
{
    const struct pfi_stream_state *const s = stream->state;
    const uint64_t start = start_of(stream);

    if (s->copies_x)
        memcpy(out, in + 3 * (size_t)s->x.first[0], 3 * (size_t)s->x.n);
    else if (s->packed)
        stream->kernels->horizontal(out, in, &s->pack);
    else
        pfi_resample_row(out, in, &s->x);
    if (stream->stages)
        stream->stages->horizontal_ns += pfi_now_ns() - start;
}

/* The rows' sum for the next output: in `out`, or a row of the ring that is
 * it. */
static const unsigned char *combine_rows(const struct pfi_stream *stream,
                                         unsigned char *out)
{
    const struct pfi_stream_state *const s = stream->state;
    const int32_t first = s->y.first[s->next_out];
    const int32_t count = s->y.count[s->next_out];
    const int32_t *const weights =
        s->y.weights + (size_t)s->next_out * (size_t)s->y.stride;
    const uint64_t start = start_of(stream);

    for (int32_t k = 0; k < count; k++)
        s->rows[k] =
            s->ring + (size_t)((first + k) % s->ring_rows) * s->ring_bytes;
    if (count == 1 && weights[0] == PFI_WEIGHT_ONE)
        return s->rows[0];
    stream->kernels->vertical(out, s->rows, weights, count, s->ring_bytes);
    if (stream->stages)
        stream->stages->vertical_ns += pfi_now_ns() - start;
    return out;
}

/* One finished row of the crop to its place. */
static void store_row(const struct pfi_stream *stream, const unsigned char *row)
{
    const struct pfi_recipe *const r = stream->recipe;
    const struct pfi_plan *const plan = stream->plan;
    const struct pfi_stream_state *const s = stream->state;
    const int32_t y = plan->y.pad_before + s->next_out;
    const uint64_t start = start_of(stream);

    if (plan->mirrored) {
        stream->kernels->flip(s->combined, row, (size_t)plan->x.count);
        row = s->combined;
    }
    stream->kernels->store[r->dtype][r->layout](
        pfi_store_place(r, stream->dst, y, plan->x.pad_before), r->plane, row,
        plan->x.count, stream->norm);
    if (stream->stages)
        stream->stages->store_ns += pfi_now_ns() - start;
}

static void emit(struct pfi_stream *stream)
{
    const struct pfi_plan *const plan = stream->plan;
    struct pfi_stream_state *const s = stream->state;
    const unsigned char *row = combine_rows(
        stream, plan->vertical_first ? s->combined : s->finished);

    if (plan->vertical_first) {
        resample_columns(stream, s->finished, row);
        row = s->finished;
    }
    store_row(stream, row);
    s->next_out++;
}

/* Whether the rows so far are all that the next output needs. */
static bool can_emit(const struct pfi_stream_state *s)
{
    return s->next_out < s->y.n &&
           s->y.first[s->next_out] + s->y.count[s->next_out] <= s->next_in;
}

void pfi_stream_row(struct pfi_stream *stream, const unsigned char *rgb)
{
    struct pfi_stream_state *const s = stream->state;
    unsigned char *const row =
        s->ring + (size_t)(s->next_in % s->ring_rows) * s->ring_bytes;

    /* A row that only skipped rows' neighbours use is not resampled. */
    const bool wanted =
        s->next_out < s->y.n && s->next_in >= s->y.first[s->next_out];

    if (wanted && stream->plan->vertical_first)
        memcpy(row, rgb, s->ring_bytes);
    else if (wanted)
        resample_columns(stream, row, rgb);
    s->next_in++;
    while (can_emit(s))
        emit(stream);
}
