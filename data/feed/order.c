// SPDX-License-Identifier: Apache-2.0
// One permutation of all samples is drawn; with several buckets it is sorted by bucket without disturbing it, so that the
// samples of a bucket stand in permuted order, and the batches of all buckets are then shuffled by draws of their own.
#include "data/feed/order.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/rng.h"

enum { DRAW_SAMPLES = 0, DRAW_BATCHES = 1 };  // the block of RNG_ORDER

struct order {
    struct order_choice choice;
    int32_t *sample, *sorted;  // sorted: with several buckets by length
    uint8_t *bucket;           // of each sample
    int64_t inside[ORDER_BUCKETS];  // samples
    struct order_batch *batch;
    int64_t batches;
};

static bool order_has_lengths(const struct order *o)
{
    return o->bucket != NULL;
}

static int order_check(const struct order_choice *c)
{
    if (c->count < 0 || c->count > INT32_MAX)
        return fail(ERR_USAGE, "an order has at most %d samples, not %lld", INT32_MAX, (long long)c->count);
    BUG_IF(c->buckets < 1 || c->buckets > ORDER_BUCKETS);
    for (int b = 0; b < c->buckets; b++) {
        if (c->batch[b] < 1) return fail(ERR_USAGE, "a batch of %lld samples cannot be", (long long)c->batch[b]);
        if (c->lengths == NULL && c->batch[b] != c->batch[0])
            return fail(ERR_USAGE, "batches of %lld and %lld samples: the number of batches would depend on the epoch",
                        (long long)c->batch[0], (long long)c->batch[b]);
        if (c->lengths != NULL && b > 0 && c->limit[b] <= c->limit[b - 1])
            return fail(ERR_USAGE, "the limits of buckets must ascend, and %d is followed by %d", c->limit[b - 1], c->limit[b]);
    }
    return 0;
}

static int order_sort_lengths(struct order *o)
{
    const struct order_choice *c = &o->choice;
    for (int64_t i = 0; i < c->count; i++) {
        int b = 0;
        while (b < c->buckets && c->lengths[i] > c->limit[b]) b++;
        if (b == c->buckets)
            return fail(ERR_INPUT, "sample %lld is %d long, and the last bucket ends at %d", (long long)i, c->lengths[i],
                        c->limit[b - 1]);
        o->bucket[i] = (uint8_t)b;
        o->inside[b]++;
    }
    return 0;
}

// The batches of all buckets, bucket after bucket: what a draw may shuffle.
static void order_cut(struct order *o)
{
    int64_t first = 0;
    o->batches = 0;
    for (int b = 0; b < o->choice.buckets; b++) {
        int64_t size = o->choice.batch[b], left = o->inside[b];
        for (int64_t at = first; left >= (o->choice.short_batches ? 1 : size); at += size, left -= size)
            o->batch[o->batches++] = (struct order_batch){at, left < size ? left : size, b};
        first += o->inside[b];
    }
}

static int order_prepare(struct order *o)
{
    const struct order_choice *c = &o->choice;
    size_t n = (size_t)c->count + 1;
    o->sample = zalloc(n * sizeof *o->sample);
    if (c->lengths != NULL && c->buckets > 1) o->sorted = zalloc(n * sizeof *o->sorted);
    if (c->lengths != NULL) {
        o->bucket = zalloc(n);
        TRY(order_sort_lengths(o));
    } else {
        o->inside[0] = c->count;
    }
    int64_t most = 0;
    for (int b = 0; b < c->buckets; b++) most += (o->inside[b] + c->batch[b] - 1) / c->batch[b];
    o->batch = zalloc((size_t)(most + 1) * sizeof *o->batch);
    order_cut(o);
    return 0;
}

int order_new(const struct order_choice *choice, struct order **into)
{
    *into = NULL;
    TRY(order_check(choice));
    struct order *o = zalloc(sizeof *o);
    o->choice = *choice;
    int rc = order_prepare(o);
    if (rc < 0) {
        order_free(o);
        return rc;
    }
    o->choice.lengths = NULL;  // borrowed until here
    *into = o;
    return 0;
}

void order_free(struct order *o)
{
    if (o == NULL) return;
    free(o->sample);
    free(o->sorted);
    free(o->bucket);
    free(o->batch);
    free(o);
}

int64_t order_batches(const struct order *o) { return o->batches; }
const int32_t *order_samples(const struct order *o) { return o->sample; }

struct order_batch order_batch(const struct order *o, int64_t batch)
{
    BUG_IF(batch < 0 || batch >= o->batches);
    return o->batch[batch];
}

static void order_sort_samples(struct order *o)
{
    int64_t at[ORDER_BUCKETS] = {0};
    for (int b = 1; b < o->choice.buckets; b++) at[b] = at[b - 1] + o->inside[b - 1];
    for (int64_t i = 0; i < o->choice.count; i++) o->sorted[at[o->bucket[o->sample[i]]]++] = o->sample[i];
    int32_t *swap = o->sample;
    o->sample = o->sorted, o->sorted = swap;
}

static void order_shuffle_batches(struct order *o, uint64_t seed, uint32_t epoch)
{
    for (int64_t i = o->batches - 1; i > 0; i--) {
        struct rng4 r = rng_draw(seed, RNG_ORDER, epoch, (uint32_t)i, DRAW_BATCHES);
        int64_t j = rng_below(r.v[0], (uint32_t)(i + 1));
        struct order_batch swap = o->batch[i];
        o->batch[i] = o->batch[j], o->batch[j] = swap;
    }
}

void order_draw(struct order *o, uint64_t seed, uint32_t epoch, int bucket)
{
    for (int64_t i = 0; i < o->choice.count; i++) o->sample[i] = (int32_t)i;
    for (int64_t i = o->choice.count - 1; i > 0 && !o->choice.in_file_order; i--) {
        struct rng4 r = rng_draw(seed, RNG_ORDER, epoch, (uint32_t)i, DRAW_SAMPLES);
        int64_t j = rng_below(r.v[0], (uint32_t)(i + 1));
        int32_t swap = o->sample[i];
        o->sample[i] = o->sample[j], o->sample[j] = swap;
    }
    if (!order_has_lengths(o)) {
        BUG_IF(bucket < 0 || bucket >= o->choice.buckets);
        for (int64_t i = 0; i < o->batches; i++) o->batch[i].bucket = bucket;
    } else if (o->choice.buckets > 1) {
        order_sort_samples(o);
        order_cut(o);  // a shuffle starts from the same list, whatever was drawn before
        if (!o->choice.in_file_order) order_shuffle_batches(o, seed, epoch);
    }
}
