/* SPDX-License-Identifier: Apache-2.0
 * Keeps the coders that were used last. */
#include "src/codec/fastjpeg/cache.h"

#include <string.h>

struct pfi_fast_cache *pfi_fast_cache_of(struct pfi_arena *arena)
{
    bool fresh;
    struct pfi_fast_cache *const cache =
        pfi_arena_keep(arena, sizeof(*cache), &fresh);

    /* The tables themselves are left alone: a call for one picture would clear
     * more than it makes. */
    if (cache && fresh) {
        cache->clock = 0;
        cache->kernels = NULL;
        for (int i = 0; i < PFI_FAST_CODERS; i++)
            cache->coder[i].used = 0;
    }
    return cache;
}

const struct pfi_fast_kernels *
pfi_fast_cache_kernels(struct pfi_fast_cache *cache, int32_t cpu_level)
{
    if (!cache->kernels || cache->cpu_level != cpu_level) {
        cache->kernels = pfi_fast_kernels_for(cpu_level);
        cache->cpu_level = cpu_level;
    }
    return cache->kernels;
}

static bool same(const struct pfi_fast_huffman *a,
                 const struct pfi_fast_huffman *b)
{
    return !memcmp(a, b, sizeof(*a));
}

static struct pfi_fast_coder *find(struct pfi_fast_cache *cache,
                                   const struct pfi_fast_huffman *dc,
                                   const struct pfi_fast_huffman *ac)
{
    struct pfi_fast_coder *oldest = &cache->coder[0];

    for (int i = 0; i < PFI_FAST_CODERS; i++) {
        struct pfi_fast_coder *const c = &cache->coder[i];

        if (c->used && same(&c->dc_from, dc) && same(&c->ac_from, ac))
            return c;
        if (c->used < oldest->used)
            oldest = c;
    }
    return pfi_fast_coder_make(oldest, dc, ac, &cache->room) ? oldest : NULL;
}

const char *pfi_fast_cache_take(struct pfi_fast_cache *cache,
                                const struct pfi_fast_header *header,
                                const struct pfi_fast_coder **out)
{
    cache->clock++;
    for (int i = 0; i < header->n_components; i++) {
        const struct pfi_fast_component *const c = &header->component[i];
        struct pfi_fast_coder *const coder =
            find(cache, &header->dc[c->dc], &header->ac[c->ac]);

        if (!coder)
            return "a damaged Huffman table";
        coder->used = cache->clock;
        out[i] = coder;
    }
    return NULL;
}
