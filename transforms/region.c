/* SPDX-License-Identifier: Apache-2.0
 * RandomResizedCrop.get_params() and RandomHorizontalFlip (torchvision 0.29.2
 * transforms/transforms.py) on torch's CPU generator. */
#include "transforms/region.h"

#include <math.h>

#include "src/base/mt19937.h"

#define PFI_ATTEMPTS 10

/* torch.empty(1).uniform_(from, to): 24 bits of a word; vectorised builds of
 * torch round the product and the sum once. */
static float uniform(struct pfi_mt19937 *rng, float from, float to)
{
    const float unit = (float)(pfi_mt19937_next(rng) & 0xFFFFFF) * 0x1p-24f;
    const float value = fmaf(unit, to - from, from);

    return value == to ? from : value;
}

/* torch.log() of one float; of 0.75 it is not the nearest float. */
static float torch_log(double value)
{
    const float given = (float)value;

    return given == 0.75f ? -0x1.26962p-2f : (float)log((double)given);
}

/* torch.randint(0, end) */
static int32_t below(struct pfi_mt19937 *rng, int32_t end)
{
    if (end < 1 << 28)
        return (int32_t)(pfi_mt19937_next(rng) % (uint32_t)end);
    return (int32_t)(pfi_mt19937_next64(rng) % (uint64_t)end);
}

/* One attempt; false where the crop does not fit. */
static bool attempt(struct pfi_region *out, const struct pfi_recipe *r,
                    const float log_aspect[2], struct pfi_mt19937 *rng)
{
    const double pixels = (double)((int64_t)out->width * out->height);
    const double area =
        pixels * uniform(rng, (float)r->area[0], (float)r->area[1]);
    const double aspect =
        (float)exp((double)uniform(rng, log_aspect[0], log_aspect[1]));
    const double width = rint(sqrt(area * aspect));
    const double height = rint(sqrt(area / aspect));

    if (!(width > 0 && width <= out->width && height > 0 &&
          height <= out->height))
        return false;
    out->top = below(rng, out->height - (int32_t)height + 1);
    out->left = below(rng, out->width - (int32_t)width + 1);
    out->width = (int32_t)width;
    out->height = (int32_t)height;
    return true;
}

/* The largest centred part whose aspect is allowed. */
static void fall_back(struct pfi_region *out, const struct pfi_recipe *r)
{
    const int32_t width = out->width, height = out->height;
    const double aspect = (double)width / (double)height;

    if (aspect < r->aspect[0])
        out->height = (int32_t)rint(width / r->aspect[0]);
    else if (aspect > r->aspect[1])
        out->width = (int32_t)rint(height * r->aspect[1]);
    out->top = (height - out->height) / 2;
    out->left = (width - out->width) / 2;
}

static void draw_crop(struct pfi_region *out, const struct pfi_recipe *r,
                      struct pfi_mt19937 *rng)
{
    const float log_aspect[2] = {torch_log(r->aspect[0]),
                                 torch_log(r->aspect[1])};

    for (int i = 0; i < PFI_ATTEMPTS; i++)
        if (attempt(out, r, log_aspect, rng))
            return;
    fall_back(out, r);
}

void pfi_region_draw(struct pfi_region *out, const struct pfi_recipe *recipe,
                     int32_t width, int32_t height, uint64_t seed)
{
    struct pfi_mt19937 rng;

    *out = (struct pfi_region){.width = width, .height = height};
    if (!recipe->random_crop && recipe->flip == 0.0f)
        return;
    pfi_mt19937_seed(&rng, seed);
    if (recipe->random_crop)
        draw_crop(out, recipe, &rng);
    if (recipe->flip != 0.0f)
        out->mirrored = uniform(&rng, 0.0f, 1.0f) < recipe->flip;
}

/* SplitMix64's finaliser (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

uint64_t pinfold_sample_seed(uint64_t seed, int64_t epoch, int64_t index)
{
    return mix(mix(mix(seed) + (uint64_t)epoch) + (uint64_t)index);
}
