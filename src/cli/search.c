/* SPDX-License-Identifier: Apache-2.0
 * The search: what to measure next, what to drop, when a choice is clear.
 *
 * Rounds.    Each round measures every live point once, A B A B, so that what
 *            disturbs the machine for a while disturbs all alike.  Two points
 *            are compared only by the rounds that measured both: by the median
 *            of the logarithms of their ratios.
 * Noise.     One standard deviation of one measurement is 1.4826 / 2 times the
 *            median of the changes of such a logarithm from one round to the
 *            next, over all pairs of neighbours; a little more as long as those
 *            are few.  Outliers and drifts move it little, and it is usable
 *            from the second round on.  The median of m ratios is taken to be
 *            within WIDTH * 1.2533 * sqrt(2 / m) of those of the truth, 1.2533
 *            being what a median scatters more than a mean; where the m ratios
 *            themselves are spread wider, by their median distance from their
 *            median, that counts.
 * Start.     Every fourth number, with each setting; all, where those are few.
 * Drops.     A point is dropped when it is slower than the leader by more than
 *            the tolerance, the noise, and what a number in the gaps beside it
 *            may gain: where the lines through its neighbours lead.  Larger
 *            numbers that the choice is as good as are dropped too.  The others
 *            are halved every second round: a plateau would hold them for ever.
 *            Those that were halved away by chance come back at the end.
 * Refining.  A gap is halved where those lines lead above the leader, where a
 *            climb leads into it, where the leader stands beside it and
 *            throughput changes across it, and where a number smaller than the
 *            choice may be as good.  So three to each side of the best are
 *            looked at, or shown not to matter.
 * Choice.    The smallest number whose ratio to the leader is within the
 *            tolerance, noise included.  It is clear when no other live point
 *            can be faster by more than the tolerance, noise included, and no
 *            smaller one is left in doubt.  A number below `least` is the
 *            choice only where it is the leader and no other is as good. */
#include "src/cli/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 4, COARSE_ROUNDS = 3, FEW = 4 };

/* Standard deviations that make a difference clear. */
static const double WIDTH = 2.0;
/* A floor, for where no two measurements happen to differ. */
static const double LEAST_NOISE = 0.0005;
/* What a number between two measured ones must promise to be looked at. */
static const double LEAST_GAIN = 0.002;

/* ---------------------------------------------------------------- numbers --- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values, int n)
{
    if (n == 0)
        return 0;
    qsort(values, (size_t)n, sizeof(*values), compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* How point a compares with b over the rounds that measured both. */
struct comparison {
    int n;
    double log_ratio; /* above 0: a is faster */
    double best;      /* the highest of the ratios */
    double width;     /* half of what the noise leaves open */
};

static struct comparison compare(const struct pfi_search *s, int a, int b)
{
    const double *const x = s->points[a].samples;
    const double *const y = s->points[b].samples;
    double *const logs = s->memory;
    struct comparison c = {.best = -INFINITY, .width = INFINITY};

    for (int r = 0; r < s->rounds; r++) {
        if (x[r] <= 0 || y[r] <= 0)
            continue;
        logs[c.n] = log(x[r] / y[r]);
        c.best = logs[c.n] > c.best ? logs[c.n] : c.best;
        c.n++;
    }
    c.log_ratio = median(logs, c.n);
    for (int k = 0; k < c.n; k++)
        logs[k] = fabs(logs[k] - c.log_ratio);
    if (c.n > 1)
        c.width = WIDTH * 1.2533 / sqrt(c.n) *
                  fmax(sqrt(2) * s->noise, 1.4826 * median(logs, c.n));
    return c;
}

/* The highest that the noise lets the ratio be.  Of two rounds the better one
 * counts: a disturbance slows, and hardly ever speeds up. */
static double upper(const struct comparison *c)
{
    return (c->n < 3 ? c->best : c->log_ratio) + c->width;
}

static double lower(const struct comparison *c)
{
    return c->log_ratio - c->width;
}

/* How far below the fastest is as good, as a logarithm. */
static double tolerance(const struct pfi_search *s)
{
    return -log(1 - s->options.tolerance);
}

/* Adds the changes of one pair's ratio from round to round. */
static int add_changes(const struct pfi_search *s, int a, int b, double *out)
{
    const double *const x = s->points[a].samples;
    const double *const y = s->points[b].samples;
    double last = 0;
    bool any = false;
    int n = 0;

    for (int r = 0; r < s->rounds; r++) {
        if (x[r] <= 0 || y[r] <= 0)
            continue;
        const double now = log(x[r] / y[r]);

        if (any)
            out[n++] = fabs(now - last);
        last = now;
        any = true;
    }
    return n;
}

static void estimate_noise(struct pfi_search *s)
{
    double *const changes = s->memory + s->options.max_rounds;
    int n = 0, last = -1;

    for (int i = 0; i < s->n_points; i++) {
        if (!s->points[i].n_samples)
            continue;
        if (last >= 0)
            n += add_changes(s, last, i, changes + n);
        last = i;
    }
    if (n < FEW) {
        s->noise = INFINITY; /* not known: nothing is dropped or clear */
        return;
    }
    s->noise = 1.4826 / 2 * median(changes, n) * (1 + 1 / sqrt((double)n + 1));
    s->noise = s->noise > LEAST_NOISE ? s->noise : LEAST_NOISE;
}

/* The nearest measured point of the same setting on one side, or -1. */
static int neighbour(const struct pfi_search *s, int point, int side)
{
    const int step = side * s->options.n_settings;

    for (int i = point + step; i >= 0 && i < s->n_points; i += step)
        if (s->points[i].n_samples)
            return i;
    return -1;
}

static int gap(const struct pfi_search *s, int a, int b)
{
    return abs(a - b) / s->options.n_settings;
}

/* The ratio by the rounds that both share or, where they share none, by each
 * one's own: good enough to say where to look. */
static double rough_ratio(const struct pfi_search *s, int a, int b)
{
    const struct comparison c = compare(s, a, b);

    if (c.n)
        return c.log_ratio;
    return log(pfi_search_median(s, a, NULL) / pfi_search_median(s, b, NULL));
}

/* What a number more brings at most beyond `point`, when coming from the side
 * `from`: what it brought on the way there, but to higher numbers no more than
 * throughput that grows as the number does. */
static double growth(const struct pfi_search *s, int point, int from)
{
    const int other = neighbour(s, point, from);
    const int number = s->points[point].number;
    const double linear = log1p(1 / (double)(number ? number : 1));

    if (other < 0)
        return linear;
    const double seen =
        rough_ratio(s, point, other) / (double)gap(s, point, other);

    return seen > 0 ? seen : 0;
}

/* How far inside the gap from `left` to `right` throughput may rise above that
 * of `left`, for a curve without a bend upwards: to where the lines meet that
 * come in from both sides. */
static double rise(const struct pfi_search *s, int left, int right)
{
    const double width = gap(s, left, right);
    const double up = growth(s, left, -1), down = growth(s, right, 1);
    const double step = rough_ratio(s, right, left);

    if (up + down <= 0)
        return step > 0 ? step : 0;
    const double x = (step + down * width) / (up + down);

    return up * (x < 0 ? 0 : x > width ? width : x);
}

/* What an unmeasured number beside this one could gain on it. */
static double possible_gain(const struct pfi_search *s, int point)
{
    const int left = neighbour(s, point, -1), right = neighbour(s, point, 1);
    double gain = 0;

    if (right >= 0 && gap(s, point, right) > 1)
        gain = rise(s, point, right);
    if (left >= 0 && gap(s, point, left) > 1) {
        const double before =
            rise(s, left, point) - rough_ratio(s, point, left);

        gain = before > gain ? before : gain;
    }
    return gain;
}

/* ----------------------------------------------------------------- choice --- */

static void find_leader(struct pfi_search *s)
{
    s->leader = -1;
    for (int i = 0; i < s->n_points; i++) {
        if (!s->points[i].live)
            continue;
        if (s->leader < 0) {
            s->leader = i;
            continue;
        }
        const struct comparison c = compare(s, i, s->leader);

        if (c.log_ratio > 0 && (c.n > 1 || s->rounds == 1))
            s->leader = i;
    }
}

static bool is_below(const struct pfi_search *s, int point)
{
    return s->points[point].number < s->options.least;
}

/* How much faster than the choice another point may be, as a logarithm. */
static double slack(const struct pfi_search *s, int point)
{
    return is_below(s, s->choice) && !is_below(s, point) ? -tolerance(s)
                                                         : tolerance(s);
}

/* The smallest that is as good as the leader, noise included; else that. */
static void find_choice(struct pfi_search *s)
{
    const int end = is_below(s, s->leader) ? s->n_points : s->leader;

    s->choice = s->leader;
    for (int i = 0; i < end; i++) {
        if (!s->points[i].live || is_below(s, i))
            continue;
        const struct comparison c = compare(s, i, s->leader);

        if (c.n > 1 && lower(&c) >= -tolerance(s)) {
            s->choice = i;
            return;
        }
    }
}

/* Takes up the dropped points again that were halved away and may yet be faster
 * than the choice by more than the tolerance; returns whether there is one. */
static bool revive(struct pfi_search *s)
{
    bool any = false;

    for (int i = 0; i < s->n_points; i++) {
        struct pfi_search_point *const p = &s->points[i];
        const struct comparison c = compare(s, i, s->choice);

        if (p->live || c.n < COARSE_ROUNDS ||
            c.log_ratio + c.width / WIDTH <= slack(s, i))
            continue;
        p->live = true;
        any = true;
    }
    return any;
}

/* No other point can be faster than the choice by more than the tolerance. */
static bool is_clear(struct pfi_search *s)
{
    if (s->points[s->choice].n_samples < s->options.min_rounds)
        return false;
    for (int i = 0; i < s->n_points; i++) {
        if (i == s->choice || !s->points[i].live)
            continue;
        const struct comparison c = compare(s, i, s->choice);

        if (c.n < s->options.min_rounds || upper(&c) > slack(s, i))
            return false;
    }
    return s->n_points == 1 || (isfinite(s->noise) && !revive(s));
}

/* Whether a smaller number may still prove as good as the leader.  When the
 * noise has come down to half of the tolerance, the doubt is let go. */
static bool in_doubt(const struct pfi_search *s)
{
    for (int i = 0; i < s->choice; i++) {
        if (!s->points[i].live || i == s->leader || is_below(s, i))
            continue;
        const struct comparison c = compare(s, i, s->leader);

        if (c.n < s->options.min_rounds ||
            (c.width > tolerance(s) / 2 && upper(&c) >= -tolerance(s)))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ drops --- */

static void drop(struct pfi_search *s, int point)
{
    s->points[point].live = false;
    s->points[point].dropped = s->rounds;
}

static bool is_slow(const struct pfi_search *s, int point)
{
    const struct comparison c = compare(s, point, s->leader);
    const double gain = s->rounds > 1 ? possible_gain(s, point) : log(2);

    if (c.n == 1)
        return c.log_ratio + gain < log(0.4);
    return c.n > 1 && upper(&c) + gain < -tolerance(s);
}

/* A larger number that the choice is as good as. */
static bool is_matched(const struct pfi_search *s, int point)
{
    const struct comparison c = compare(s, point, s->choice);

    return point > s->choice && c.n > 2 &&
           upper(&c) + possible_gain(s, point) <= slack(s, point);
}

/* Drops the slower half by the medians, beyond a few and beyond those less
 * than a standard deviation from the leader. */
static void halve(struct pfi_search *s)
{
    double *const ratios = s->memory + s->options.max_rounds;
    int n = 0;

    for (int i = 0; i < s->n_points; i++) {
        const struct comparison c = compare(s, i, s->leader);

        if (s->points[i].live && c.n >= COARSE_ROUNDS)
            ratios[n++] = c.log_ratio + possible_gain(s, i);
    }
    if (n <= FEW)
        return;
    const double middle = median(ratios, n);

    for (int i = 0; i < s->n_points && n > FEW; i++) {
        const struct comparison c = compare(s, i, s->leader);

        if (!s->points[i].live || i == s->leader || i == s->choice ||
            c.n < COARSE_ROUNDS ||
            c.log_ratio + possible_gain(s, i) >= middle ||
            c.log_ratio > -c.width / WIDTH)
            continue;
        drop(s, i);
        n--;
    }
}

/* The first round tells little, and a few must be left to know the noise by. */
static void drop_points(struct pfi_search *s)
{
    int left = 0;

    for (int i = 0; i < s->n_points; i++)
        left += s->points[i].live;
    for (int i = 0; i < s->n_points; i++) {
        if (!s->points[i].live || i == s->leader || i == s->choice ||
            (s->rounds == 1 && left <= FEW) ||
            !(is_slow(s, i) ||
              (s->rounds >= COARSE_ROUNDS && is_matched(s, i))))
            continue;
        drop(s, i);
        left--;
    }
    if (s->rounds >= COARSE_ROUNDS && (s->rounds - COARSE_ROUNDS) % 2 == 0)
        halve(s);
}

/* --------------------------------------------------------------- refining --- */

/* Whether a number in the gap may be faster than the leader. */
static bool holds_better(const struct pfi_search *s, int left, int right)
{
    const struct comparison c = compare(s, left, s->leader);

    return c.n > 1 &&
           c.log_ratio + rise(s, left, right) > LEAST_GAIN + c.width / 5;
}

/* Whether throughput changes across a gap beside the leader. */
static bool is_steep(const struct pfi_search *s, int left, int right)
{
    return (left == s->leader || right == s->leader) &&
           fabs(rough_ratio(s, left, right)) > tolerance(s) / 2;
}

/* Whether a climb leads into the gap whose end is not yet in sight: the curve
 * may go on for a while before it breaks off. */
static bool climbs_on(const struct pfi_search *s, int left, int right)
{
    const int before = neighbour(s, left, -1);

    if (before < 0)
        return false;
    const struct comparison top = compare(s, left, s->leader);
    const struct comparison step = compare(s, left, before);
    const double slope = lower(&step) / (double)gap(s, before, left);

    return top.n > 1 && step.n > 1 && slope > 0 &&
           lower(&top) + slope * (double)(gap(s, left, right) - 1) > LEAST_GAIN;
}

/* Whether a number in the gap on the left of the choice may be as good. */
static bool holds_smaller(const struct pfi_search *s, int left, int right)
{
    const struct comparison c = compare(s, left, s->leader);
    const int number = s->points[left].number;
    const double most = log((double)(number + gap(s, left, right) - 1) /
                            (double)(number ? number : 1));

    return right == s->choice &&
           (c.n < 2 || c.log_ratio + c.width + most >= -tolerance(s));
}

/* Halves the gaps that are worth it. */
static bool refine(struct pfi_search *s)
{
    const int n_settings = s->options.n_settings;
    bool added = false;

    if (s->rounds < COARSE_ROUNDS)
        return true;
    for (int i = 0; i < s->n_points; i++) {
        const int right = neighbour(s, i, 1);

        if (!s->points[i].n_samples || right < 0 || gap(s, i, right) < 2 ||
            (!s->points[i].live && !s->points[right].live))
            continue;
        if (holds_better(s, i, right) || holds_smaller(s, i, right) ||
            is_steep(s, i, right) || climbs_on(s, i, right)) {
            s->points[i + gap(s, i, right) / 2 * n_settings].live = true;
            added = true;
        }
    }
    return added;
}

/* ----------------------------------------------------------------- rounds --- */

/* Every second round goes backwards, so that none is always the first. */
static bool measure_round(struct pfi_search *s)
{
    const struct pfi_search_options *const o = &s->options;
    const int round = s->rounds++;

    for (int k = 0; k < s->n_points; k++) {
        const int i = round % 2 ? s->n_points - 1 - k : k;
        struct pfi_search_point *const p = &s->points[i];

        if (!p->live)
            continue;
        if (!o->measure(o->cookie, p->number, p->setting, &p->samples[round]))
            return false;
        p->n_samples++;
        s->measurements++;
    }
    return true;
}

static void search(struct pfi_search *s)
{
    bool going = true, more = true;

    while (going && !(s->clear && !more) && s->rounds < s->options.max_rounds) {
        going = measure_round(s);
        estimate_noise(s);
        find_leader(s);
        find_choice(s);
        s->clear = is_clear(s);
        more = in_doubt(s);
        if (!s->options.exhaustive && going) {
            drop_points(s);
            more = refine(s) || more;
        }
        if (s->options.round_over)
            s->options.round_over(s->options.cookie);
    }
}

static bool open_search(struct pfi_search *s,
                        const struct pfi_search_options *options)
{
    const size_t n = (size_t)options->n_numbers * (size_t)options->n_settings;
    const size_t rounds = (size_t)options->max_rounds;

    *s = (struct pfi_search){.options = *options, .leader = -1, .choice = -1};
    s->points = calloc(n, sizeof(*s->points));
    /* For each point its samples and its changes, and one more for ratios. */
    s->memory = calloc((2 * n + 1) * rounds, sizeof(*s->memory));
    if (!s->points || !s->memory)
        return false;
    s->n_points = (int)n;
    for (int i = 0; i < s->n_points; i++) {
        const int number = i / options->n_settings;

        s->points[i] = (struct pfi_search_point){
            .number = options->numbers[number],
            .setting = i % options->n_settings,
            .live = options->exhaustive || options->all ||
                    options->n_numbers <= 2 * STEP + 1 || number % STEP == 0 ||
                    number == options->n_numbers - 1,
            .samples = s->memory + (n + 1 + (size_t)i) * rounds};
    }
    s->options.numbers = NULL;
    return true;
}

bool pfi_search_run(struct pfi_search *s,
                    const struct pfi_search_options *options)
{
    if (!open_search(s, options))
        return false;
    search(s);
    return true;
}

void pfi_search_close(struct pfi_search *s)
{
    free(s->points);
    free(s->memory);
    *s = (struct pfi_search){0};
}

double pfi_search_median(const struct pfi_search *s, int point, double *spread)
{
    const struct pfi_search_point *const p = &s->points[point];
    double *const values = s->memory;
    int n = 0;

    for (int r = 0; r < s->rounds; r++)
        if (p->samples[r] > 0)
            values[n++] = p->samples[r];
    const double middle = median(values, n);

    for (int k = 0; k < n; k++)
        values[k] = fabs(values[k] - middle);
    if (spread)
        *spread = 1.4826 * median(values, n);
    return middle;
}

double pfi_search_ratio(const struct pfi_search *s, int a, int b)
{
    return exp(compare(s, a, b).log_ratio);
}
