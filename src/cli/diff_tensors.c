/* SPDX-License-Identifier: Apache-2.0
 * Causes that move values: each says where in B's sample a value of A's comes
 * from, and is tried on the samples that differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/diff.h"

struct place {
    int64_t c, y, x;
};

struct move {
    const char *id, *words;
    int64_t dx, dy; /* of a shift */
    bool square;    /* only where the height is the width */
    struct place (*from)(const struct pfi_cli_shape *s, const struct move *m,
                         struct place to);
};

static struct place reversed(const struct pfi_cli_shape *s,
                             const struct move *m, struct place p)
{
    (void)m;
    return (struct place){s->c - 1 - p.c, p.y, p.x};
}

static struct place mirrored(const struct pfi_cli_shape *s,
                             const struct move *m, struct place p)
{
    (void)m;
    return (struct place){p.c, p.y, s->w - 1 - p.x};
}

static struct place upside_down(const struct pfi_cli_shape *s,
                                const struct move *m, struct place p)
{
    (void)m;
    return (struct place){p.c, s->h - 1 - p.y, p.x};
}

static struct place half_turn(const struct pfi_cli_shape *s,
                              const struct move *m, struct place p)
{
    (void)m;
    return (struct place){p.c, s->h - 1 - p.y, s->w - 1 - p.x};
}

static struct place transposed(const struct pfi_cli_shape *s,
                               const struct move *m, struct place p)
{
    (void)s;
    (void)m;
    return (struct place){p.c, p.x, p.y};
}

static struct place clockwise(const struct pfi_cli_shape *s,
                              const struct move *m, struct place p)
{
    (void)m;
    return (struct place){p.c, s->h - 1 - p.x, p.y};
}

static struct place anticlockwise(const struct pfi_cli_shape *s,
                                  const struct move *m, struct place p)
{
    (void)m;
    return (struct place){p.c, p.x, s->w - 1 - p.y};
}

static struct place transversed(const struct pfi_cli_shape *s,
                                const struct move *m, struct place p)
{
    (void)m;
    return (struct place){p.c, s->h - 1 - p.x, s->w - 1 - p.y};
}

static struct place shifted(const struct pfi_cli_shape *s, const struct move *m,
                            struct place p)
{
    (void)s;
    return (struct place){p.c, p.y + m->dy, p.x + m->dx};
}

/* The n-th value of a picture in one layout, taken for the n-th in the other.
 */
static struct place other_layout(const struct pfi_cli_shape *s,
                                 const struct move *m, struct place p)
{
    int64_t n;

    (void)m;
    if (s->nhwc) {
        n = (p.y * s->w + p.x) * s->c + p.c;
        return (struct place){n / (s->h * s->w), n / s->w % s->h, n % s->w};
    }
    n = (p.c * s->h + p.y) * s->w + p.x;
    return (struct place){n % s->c, n / (s->c * s->w), n / s->c % s->w};
}

static const struct move moves[] = {
    {"channels-reversed", "the channels are reversed (BGR for RGB)", 0, 0,
     false, reversed},
    {"layout", "one holds NCHW bytes that are read as NHWC, or the reverse", 0,
     0, false, other_layout},
    {"mirrored", "the picture is mirrored (left and right)", 0, 0, false,
     mirrored},
    {"upside-down", "the picture is mirrored (top and bottom; EXIF 4)", 0, 0,
     false, upside_down},
    {"half-turn", "the picture is turned by 180 degrees (EXIF 3)", 0, 0, false,
     half_turn},
    {"transposed", "rows and columns are exchanged (EXIF 5)", 0, 0, true,
     transposed},
    {"clockwise", "A is B turned clockwise (EXIF 6)", 0, 0, true, clockwise},
    {"anticlockwise", "A is B turned anticlockwise (EXIF 8)", 0, 0, true,
     anticlockwise},
    {"transversed", "rows and columns are exchanged and turned (EXIF 7)", 0, 0,
     true, transversed},
    {"shift", "A's crop lies 1 pixel further left than B's", -1, 0, false,
     shifted},
    {"shift", "A's crop lies 1 pixel further right than B's", 1, 0, false,
     shifted},
    {"shift", "A's crop lies 1 pixel further up than B's", 0, -1, false,
     shifted},
    {"shift", "A's crop lies 1 pixel further down than B's", 0, 1, false,
     shifted},
    {"shift", "A's crop lies 1 pixel further left and up than B's", -1, -1,
     false, shifted},
    {"shift", "A's crop lies 1 pixel further right and up than B's", 1, -1,
     false, shifted},
    {"shift", "A's crop lies 1 pixel further left and down than B's", -1, 1,
     false, shifted},
    {"shift", "A's crop lies 1 pixel further right and down than B's", 1, 1,
     false, shifted},
};

/* Values that have no origin in B are not compared, but most must have one. */
static bool fits(const struct pfi_cli_shape *s, const struct move *m,
                 const struct pfi_cli_pair *pair)
{
    const float *a = pair->a;
    int64_t compared = 0;
    struct place p;

    for (p.c = 0; p.c < s->c; p.c++) {
        for (p.y = 0; p.y < s->h; p.y++) {
            for (p.x = 0; p.x < s->w; p.x++, a++) {
                const struct place q = m->from(s, m, p);

                if (q.y < 0 || q.y >= s->h || q.x < 0 || q.x >= s->w)
                    continue;
                const float b = pair->b[(q.c * s->h + q.y) * s->w + q.x];

                if (*a != b && !(isnan(*a) && isnan(b)))
                    return false;
                compared++;
            }
        }
    }
    return 2 * compared > s->c * s->h * s->w;
}

void pfi_cli_diff_try_tensors(struct pfi_cli_diff *d)
{
    const struct pfi_cli_shape *const s = &d->a.shape;

    for (size_t i = 0; s->pictures && i < sizeof(moves) / sizeof(moves[0]);
         i++) {
        int n = 0;

        if (moves[i].square && s->h != s->w)
            continue;
        for (int k = 0; k < d->n_pairs; k++)
            n += fits(s, &moves[i], &d->pairs[k]);
        if (n)
            pfi_cli_diff_cause(d, moves[i].id, n, "%s", moves[i].words);
    }
}

/* ----------------------------------------------------- order of samples --- */

struct keyed {
    uint64_t hash;
    int64_t sample;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *const x = a, *const y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

static struct keyed *sort_hashes(const uint64_t *hashes, int64_t n)
{
    struct keyed *const out = calloc((size_t)n + 1, sizeof(*out));

    for (int64_t i = 0; out && i < n; i++)
        out[i] = (struct keyed){.hash = hashes[i], .sample = i};
    if (out)
        qsort(out, (size_t)n, sizeof(*out), compare_keyed);
    return out;
}

/* Equal hashes are paired off in both sorted lists. */
static void report_order(struct pfi_cli_diff *d, const struct keyed *a,
                         const struct keyed *b)
{
    char moved[96] = "";
    int64_t found = 0, elsewhere = 0, i = 0, j = 0;
    size_t used = 0;

    while (i < d->common && j < d->common) {
        if (a[i].hash != b[j].hash) {
            a[i].hash < b[j].hash ? i++ : j++;
            continue;
        }
        found++;
        if (a[i].sample != b[j].sample && elsewhere++ < 3)
            used += (size_t)snprintf(moved + used, sizeof(moved) - used,
                                     "%s%lld is B's %lld", used ? ", " : "",
                                     (long long)a[i].sample,
                                     (long long)b[j].sample);
        i++;
        j++;
    }
    if (elsewhere && 2 * found >= d->common)
        pfi_cli_diff_cause(d, "order", -1,
                           "the samples are in another order: %lld of A's %lld "
                           "are in B, %lld elsewhere (%s%s)",
                           (long long)found, (long long)d->common,
                           (long long)elsewhere, moved,
                           elsewhere > 3 ? ", ..." : "");
}

void pfi_cli_diff_try_order(struct pfi_cli_diff *d)
{
    struct keyed *const a = sort_hashes(d->hashes[0], d->common);
    struct keyed *const b = sort_hashes(d->hashes[1], d->common);

    if (a && b && d->common > 1)
        report_order(d, a, b);
    free(a);
    free(b);
}
