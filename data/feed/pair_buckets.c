// SPDX-License-Identifier: Apache-2.0
#include "data/feed/pair_buckets.h"

#include "runtime/common/base/arena.h"

#include <stdlib.h>

enum { CELLS = 64, GROUP = 8 };  // lengths are counted in CELLS steps

struct range {  // steps (from, to] of both sides
    int from[PAIR_SIDES], to[PAIR_SIDES];
};
struct cut {
    double gain;  // 0: none is worth it
    struct range half[2];
};
struct choosing {
    int64_t below[CELLS + 1][CELLS + 1];  // samples with at most these steps
    int32_t step;
    struct pair_buckets *into;
};

static int64_t samples_in(const struct choosing *c, const struct range *r)
{
    return c->below[r->to[0]][r->to[1]] - c->below[r->from[0]][r->to[1]] - c->below[r->to[0]][r->from[1]] +
           c->below[r->from[0]][r->from[1]];
}

// Without the steps at its end that have no samples.
static struct range tight(const struct choosing *c, struct range r)
{
    int64_t all = samples_in(c, &r);
    for (int side = 0; side < PAIR_SIDES; side++)
        for (struct range less = r; less.to[side]-- > r.from[side] + 1 && samples_in(c, &less) == all;) r = less;
    return r;
}

// A position of the target costs about twice as much as one of the source: the decoder reads both, and makes logits.
static double price(const int to[PAIR_SIDES])
{
    return to[0] + 2 * to[1];
}

static bool is_large(const struct choosing *c, const struct range *r)
{
    return samples_in(c, r) >= 2 * pair_buckets_batch(c->into, (int64_t)r->to[1] * c->step);
}

static struct cut best_cut(const struct choosing *c, const struct range *r)
{
    struct cut best = {0};
    for (int side = 0; side < PAIR_SIDES; side++)
        for (int at = r->from[side] + 1; at < r->to[side]; at++) {
            struct range low = *r, high = *r;
            low.to[side] = high.from[side] = at;
            low = tight(c, low), high = tight(c, high);
            double gain = (double)samples_in(c, r) * price(r->to) - (double)samples_in(c, &low) * price(low.to) -
                          (double)samples_in(c, &high) * price(high.to);
            if (gain > best.gain && is_large(c, &low) && is_large(c, &high)) best = (struct cut){gain, {low, high}};
        }
    return best;
}

static void count_samples(struct choosing *c, const struct pair_lengths *l)
{
    int32_t longest = 1;
    for (int side = 0; side < PAIR_SIDES; side++)
        for (int64_t i = 0; i < l->count; i++) longest = pair_length(l, i, side) > longest ? pair_length(l, i, side) : longest;
    c->step = (longest + CELLS - 1) / CELLS;
    for (int64_t i = 0; i < l->count; i++)
        c->below[(pair_length(l, i, 0) + c->step - 1) / c->step][(pair_length(l, i, 1) + c->step - 1) / c->step]++;
    for (int s = 0; s <= CELLS; s++)
        for (int t = 1; t <= CELLS; t++) c->below[s][t] += c->below[s][t - 1];
    for (int s = 1; s <= CELLS; s++)
        for (int t = 0; t <= CELLS; t++) c->below[s][t] += c->below[s - 1][t];
}

static int by_price(const void *x, const void *y)
{
    const struct range *a = x, *b = y;
    double d = price(a->to) - price(b->to);
    return d < 0 ? -1 : d > 0 ? 1 : a->to[0] - b->to[0];
}

void pair_buckets_choose(const struct pair_lengths *lengths, struct pair_buckets *into)
{
    struct choosing *c = zalloc(sizeof *c);
    struct range range[ORDER_BUCKETS] = {{{0, 0}, {CELLS, CELLS}}};
    struct cut cut[ORDER_BUCKETS];
    c->into = into;
    count_samples(c, lengths);
    range[0] = tight(c, range[0]), cut[0] = best_cut(c, &range[0]);
    for (into->count = 1; into->count < into->most; into->count++) {
        int best = 0;
        for (int i = 1; i < into->count; i++) best = cut[i].gain > cut[best].gain ? i : best;
        if (!(cut[best].gain > 0)) break;
        range[into->count] = cut[best].half[1], range[best] = cut[best].half[0];
        cut[into->count] = best_cut(c, &range[into->count]), cut[best] = best_cut(c, &range[best]);
    }
    qsort(range, (size_t)into->count, sizeof *range, by_price);
    for (int i = 0; i < into->count; i++)
        for (int side = 0; side < PAIR_SIDES; side++) into->limit[i][side] = (int32_t)range[i].to[side] * c->step;
    free(c);
}

int64_t pair_buckets_batch(const struct pair_buckets *b, int64_t target)
{
    int64_t samples = b->tokens / (target > 0 ? target : 1) / GROUP * GROUP;
    return b->tokens == 0 ? b->batch : samples > GROUP ? samples : GROUP;
}

int32_t pair_buckets_of(const struct pair_buckets *b, int32_t source, int32_t target)
{
    int32_t i = 0;
    while (i + 1 < b->count && (source > b->limit[i][0] || target > b->limit[i][1])) i++;
    return i;
}
