/* SPDX-License-Identifier: Apache-2.0
 * Packed tables, read as a vector kernel would, against the taps they hold. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "transforms/pack.h"

/* Lanes, lanes a window, taps, bytes of a window and of a cell, as pack.h says
 * of each format. */
static const struct {
    int lanes, window_lanes, taps, window, cell;
} shapes[] = {{0}, {8, 4, 2, 16, 96}, {16, 16, 4, 64, 256}, {8, 4, 1, 16, 64}};

/* The weight of tap k in lane l. */
static int32_t weight_of(const unsigned char *cell, int format, int l, int k)
{
    int32_t value = 0;

    if (format == PFI_PACK_16) {
        int16_t low, high;

        memcpy(&low, cell + 32 + 2 * (2 * l + k), 2);
        memcpy(&high, cell + 64 + 2 * (2 * l + k), 2);
        value = (int32_t)((uint32_t)high << 16) + low;
    } else if (format == PFI_PACK_8) {
        for (int d = 2; d >= 0; d--)
            value = value * 256 + (signed char)cell[64 * (d + 1) + 4 * l + k];
    } else {
        memcpy(&value, cell + 32 + 4 * l, 4);
    }
    return value;
}

/* Adds what a step sums in lane l; fails where a window leaves the row. */
static int64_t sum_lane(const struct pfi_pack *pack, int format, size_t step,
                        int l, const unsigned char *in)
{
    const int windows = shapes[format].lanes / shapes[format].window_lanes;
    const unsigned char *const cell =
        pack->cells + step * (size_t)shapes[format].cell;
    const int32_t offset =
        pack->offsets[step * (size_t)windows +
                      (size_t)(l / shapes[format].window_lanes)];
    int64_t sum = 0;

    cr_assert_geq(offset, 0);
    cr_assert_leq((size_t)offset + (size_t)shapes[format].window,
                  pack->in_bytes);
    for (int k = 0; k < shapes[format].taps; k++) {
        const int pick = format == PFI_PACK_16  ? cell[2 * (2 * l + k)]
                         : format == PFI_PACK_8 ? cell[4 * l + k]
                                                : cell[4 * l];

        if (pick != 0x80)
            sum += (int64_t)weight_of(cell, format, l, k) * in[offset + pick];
    }
    return sum;
}

/* The sum for an output byte. */
static int64_t sum_byte(const struct pfi_pack *pack, int format, size_t byte,
                        const unsigned char *in)
{
    const size_t lanes = (size_t)shapes[format].lanes;
    const size_t block = pack->wide ? byte / 3 : byte / lanes;
    const int first = (int)(pack->wide ? byte % 3 : byte % lanes);
    int64_t sum = 0;

    for (size_t s = 0; s < (size_t)pack->n_steps; s++) {
        const size_t step = block * (size_t)pack->n_steps + s;

        for (int l = first; l < (pack->wide ? (int)lanes : first + 1); l += 4)
            sum += sum_lane(pack, format, step, l, in);
    }
    return sum;
}

static struct pfi_plan plan_of(int32_t width, int32_t resized, int32_t crop,
                               pinfold_filter filter)
{
    pinfold_recipe r = pinfold_recipe_default();
    struct pfi_recipe recipe;
    struct pfi_plan plan;

    r.resize_width = resized;
    r.resize_height = 1;
    r.crop_height = 1;
    r.crop_width = crop;
    r.filter = filter;
    cr_assert_eq(pfi_recipe_resolve(&recipe, &r, NULL), PINFOLD_OK);
    cr_assert_eq(pfi_plan_make(&plan, &recipe,
                               &(struct pfi_region){.width = width,
                                                    .height = 1},
                               NULL),
                 PINFOLD_OK);
    return plan;
}

static void check_axis(int32_t width, int32_t resized, int32_t crop,
                       pinfold_filter filter, int format)
{
    const struct pfi_plan plan = plan_of(width, resized, crop, filter);
    const size_t most = pfi_pack_bytes(&plan.x);
    unsigned char *in;
    struct pfi_arena arena;
    struct pfi_pack pack;
    struct pfi_taps taps;
    size_t used;

    cr_assert(pfi_arena_init(&arena, most + pfi_taps_bytes(&plan.x) + 4096));
    cr_assert(pfi_taps_make(&taps, &arena, &plan.x, filter));
    used = arena.used;
    cr_assert_eq(pfi_pack_make(&pack, &arena, &plan.x, &taps,
                               (enum pfi_pack_format)format),
                 PINFOLD_OK);
    cr_assert_null(arena.extra);
    cr_assert_leq(arena.used - used, most);
    in = malloc(pack.in_bytes);
    for (size_t i = 0; i < pack.in_bytes; i++)
        in[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t byte = 0; byte < pack.out_bytes; byte++) {
        const size_t i = byte / 3;
        int64_t sum = 0;

        for (int32_t k = 0; k < taps.count[i]; k++)
            sum += (int64_t)taps.weights[i * (size_t)taps.stride + (size_t)k] *
                   in[3 * (taps.first[i] + k) + (int)(byte % 3)];
        cr_assert_eq(sum_byte(&pack, format, byte, in), sum,
                     "format %d, %d to %d, filter %d, byte %zu", format, width,
                     resized, (int)filter, byte);
    }
    free(in);
    pfi_arena_end(&arena);
}

/* Scales around 3, where tables become wide, and far from it. */
Test(pack, every_format_holds_the_taps)
{
    static const int32_t widths[] = {30,  100, 256, 375, 500,
                                     767, 768, 769, 1031, 5000};

    for (int format = PFI_PACK_16; format <= PFI_PACK_32; format++)
        for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
            for (int filter = 0; filter <= PINFOLD_LANCZOS; filter++) {
                check_axis(widths[i], 256, 224, (pinfold_filter)filter, format);
                check_axis(widths[i], 256, 257, (pinfold_filter)filter, format);
            }
}

Test(pack, what_a_format_cannot_hold_is_refused)
{
    const struct pfi_plan small = plan_of(5, 9, 9, PINFOLD_BILINEAR);
    const struct pfi_plan plan = plan_of(100, 50, 50, PINFOLD_BILINEAR);
    struct pfi_arena arena;
    struct pfi_pack pack;
    struct pfi_taps taps;

    cr_assert(pfi_arena_init(&arena, 1 << 16));
    cr_assert(pfi_taps_make(&taps, &arena, &small.x, PINFOLD_BILINEAR));
    for (int format = PFI_PACK_NONE; format <= PFI_PACK_32; format++)
        cr_assert_eq(pfi_pack_make(&pack, &arena, &small.x, &taps,
                                   (enum pfi_pack_format)format),
                     PINFOLD_E_UNSUPPORTED);
    cr_assert(pfi_taps_make(&taps, &arena, &plan.x, PINFOLD_BILINEAR));
    taps.weights[0] = 0x7F7F7F; /* the largest of three signed digits */
    cr_assert_eq(pfi_pack_make(&pack, &arena, &plan.x, &taps, PFI_PACK_8),
                 PINFOLD_OK);
    cr_assert_eq(weight_of(pack.cells, PFI_PACK_8, 0, 0), 0x7F7F7F);
    taps.weights[0] = -0x808080;
    cr_assert_eq(pfi_pack_make(&pack, &arena, &plan.x, &taps, PFI_PACK_8),
                 PINFOLD_OK);
    cr_assert_eq(weight_of(pack.cells, PFI_PACK_8, 0, 0), -0x808080);
    taps.weights[0] = 0x7F7F80;
    cr_assert_eq(pfi_pack_make(&pack, &arena, &plan.x, &taps, PFI_PACK_8),
                 PINFOLD_E_UNSUPPORTED);
    taps.weights[0] = -0x808081;
    cr_assert_eq(pfi_pack_make(&pack, &arena, &plan.x, &taps, PFI_PACK_8),
                 PINFOLD_E_UNSUPPORTED);
    pfi_arena_end(&arena);
}
