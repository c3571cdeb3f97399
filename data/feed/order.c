// SPDX-License-Identifier: Apache-2.0
// A draw permutes all samples. If there are several buckets, a stable sort by bucket follows, so the samples of a bucket
// stay in permuted order. Then separate draws shuffle the batches of all buckets.
#include "data/feed/order.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/rng.h"

enum { DRAW_SAMPLES = 0, DRAW_BATCHES = 1, DRAW_PAGES = 2, DRAW_GROWN = 3 };  // the block of RNG_ORDER

struct order {
    struct order_choice choice;
    int32_t *sample, *sorted;  // sorted: with several buckets by length
    int32_t *ascending;        // ORDER_SORTED_FIRST: samples by length
    uint8_t *bucket;           // of each sample
    int64_t inside[ORDER_BUCKETS];  // samples
    struct order_batch *batch;
    int64_t batches;
    int64_t *page, *turn, *begin;   // pages: as in the choice; as drawn; the begin of each turn's samples
};

static bool order_has_lengths(const struct order *o)
{
    return o->bucket != NULL;
}

static int order_slices(const struct order_choice *c)
{
    return c->share.slices > 0 ? c->share.slices : 1;
}

static int order_check(const struct order_choice *c)
{
    const struct order_share *s = &c->share;
    BUG_IF(s->slices > 0 && (s->first < 0 || s->taken < 1 || s->first + s->taken > s->slices || c->short_batches));
    BUG_IF(s->every > 0 && (s->at < 0 || s->at >= s->every));
    if (c->count < 0 || c->count > INT32_MAX)
        return fail(ERR_USAGE, "an order has at most %d samples, not %lld", INT32_MAX, (long long)c->count);
    BUG_IF(c->buckets < 1 || c->buckets > ORDER_BUCKETS);
    if (c->kind == ORDER_SORTED_FIRST && c->lengths == NULL) return fail(ERR_USAGE, "an order by length needs lengths");
    if ((c->kind == ORDER_STREAMS || c->kind == ORDER_GROWING) && (c->buckets > 1 || c->short_batches))
        return fail(ERR_USAGE, "an order of streams or of a growing set has one bucket and whole batches");
    if (c->window > 0)
        BUG_IF(c->kind != ORDER_SHUFFLED || c->lengths != NULL || c->pages < 1 || c->page[0] != 0 ||
               c->page[c->pages] != c->count);
    for (int b = 0; b < c->buckets; b++) {
        if (c->batch[b] < 1) return fail(ERR_USAGE, "a batch of %lld samples is impossible", (long long)c->batch[b]);
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

// Lists the batches of all buckets, bucket after bucket. A draw may then shuffle them.
static void order_cut(struct order *o)
{
    int64_t first = 0;
    o->batches = 0;
    for (int b = 0; b < o->choice.buckets; b++) {
        int64_t size = o->choice.batch[b] * order_slices(&o->choice), left = o->inside[b];
        for (int64_t at = first; left >= (o->choice.short_batches ? 1 : size); at += size, left -= size)
            o->batch[o->batches++] = (struct order_batch){at, left < size ? left : size, b};
        first += o->inside[b];
    }
}

static void order_sort_ascending(struct order *o)
{
    const int32_t *length = o->choice.lengths;
    int64_t n = o->choice.count, *at;
    int32_t longest = 0;
    for (int64_t i = 0; i < n; i++) longest = length[i] > longest ? length[i] : longest;
    at = zalloc(((size_t)longest + 2) * sizeof *at);
    for (int64_t i = 0; i < n; i++) at[length[i] + 1]++;
    for (int32_t l = 0; l < longest; l++) at[l + 1] += at[l];
    o->ascending = zalloc(((size_t)n + 1) * sizeof *o->ascending);
    for (int64_t i = 0; i < n; i++) o->ascending[at[length[i]]++] = (int32_t)i;
    free(at);
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
        if (c->kind == ORDER_SORTED_FIRST) order_sort_ascending(o);
    } else {
        o->inside[0] = c->count;
    }
    if (c->window > 0) {
        size_t bytes = (size_t)(c->pages + 1) * sizeof(int64_t);
        o->page = zalloc(bytes), o->turn = zalloc(bytes), o->begin = zalloc(bytes);
        memcpy(o->page, c->page, bytes);
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
    o->choice.lengths = NULL, o->choice.page = NULL;  // borrowed only until here
    *into = o;
    return 0;
}

void order_free(struct order *o)
{
    if (o == NULL) return;
    free(o->sample);
    free(o->sorted);
    free(o->ascending);
    free(o->bucket);
    free(o->batch);
    free(o->page);
    free(o->turn);
    free(o->begin);
    free(o);
}

int64_t order_all_batches(const struct order *o) { return o->batches; }
const int32_t *order_samples(const struct order *o) { return o->sample; }

struct order_batch order_all_batch(const struct order *o, int64_t batch)
{
    BUG_IF(batch < 0 || batch >= o->batches);
    return o->batch[batch];
}

int64_t order_batches(const struct order *o)
{
    const struct order_share *s = &o->choice.share;
    int64_t batches = s->every > 0 ? (o->batches - s->at + s->every - 1) / s->every : o->batches;
    return s->slices > 0 ? batches * s->taken : batches;
}

struct order_batch order_whole_batch(const struct order *o, int64_t batch)
{
    const struct order_share *s = &o->choice.share;
    int64_t number = s->slices > 0 ? batch / s->taken : batch;
    return order_all_batch(o, s->every > 0 ? number * s->every + s->at : number);
}

struct order_batch order_batch(const struct order *o, int64_t batch)
{
    const struct order_share *s = &o->choice.share;
    struct order_batch b = order_whole_batch(o, batch);
    if (s->slices == 0) return b;
    b.count /= s->slices;
    b.first += (s->first + batch % s->taken) * b.count;
    return b;
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

static void order_shuffle(int32_t *sample, int64_t first, int64_t end, uint64_t seed, uint32_t epoch)
{
    for (int64_t i = end - 1; i > first; i--) {
        struct rng4 r = rng_draw(seed, RNG_ORDER, epoch, (uint32_t)i, DRAW_SAMPLES);
        int64_t j = first + rng_below(r.v[0], (uint32_t)(i - first + 1));
        int32_t swap = sample[i];
        sample[i] = sample[j], sample[j] = swap;
    }
}

static void order_draw_pages(struct order *o, uint64_t seed, uint32_t epoch)
{
    int64_t pages = o->choice.pages, window = o->choice.window;
    for (int64_t i = 0; i < pages; i++) o->turn[i] = i;
    for (int64_t i = pages - 1; i > 0; i--) {
        int64_t j = rng_below(rng_draw(seed, RNG_ORDER, epoch, (uint32_t)i, DRAW_PAGES).v[0], (uint32_t)(i + 1));
        int64_t swap = o->turn[i];
        o->turn[i] = o->turn[j], o->turn[j] = swap;
    }
    for (int64_t i = 0; i < pages; i++) {
        int64_t first = o->page[o->turn[i]], count = o->page[o->turn[i] + 1] - first;
        for (int64_t k = 0; k < count; k++) o->sample[o->begin[i] + k] = (int32_t)(first + k);
        o->begin[i + 1] = o->begin[i] + count;
    }
    for (int64_t i = 0; i < pages; i += window)
        order_shuffle(o->sample, o->begin[i], o->begin[pages - i < window ? pages : i + window], seed, epoch);
}

// The page of a position before the samples of its window were shuffled.
static int64_t order_turn(const struct order *o, int64_t position)
{
    int64_t low = 0, high = o->choice.pages;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (o->begin[middle] <= position) low = middle;
        else high = middle;
    }
    return low;
}

struct order_batch order_page(const struct order *o, int64_t i)
{
    BUG_IF(i < 0 || i >= o->choice.pages);
    return (struct order_batch){o->page[o->turn[i]], o->page[o->turn[i] + 1] - o->page[o->turn[i]], 0};
}

int64_t order_pages_until(const struct order *o, int64_t position)
{
    int64_t last = order_turn(o, position) + o->choice.window;
    return last < o->choice.pages ? last : o->choice.pages;
}

int64_t order_window_begin(const struct order *o, int64_t position)
{
    return order_turn(o, position) / o->choice.window * o->choice.window;
}

// Row i of batch b is sample i * batches + b.
static void order_draw_streams(struct order *o)
{
    int64_t rows = o->choice.batch[0] * order_slices(&o->choice);
    for (int64_t b = 0; b < o->batches; b++)
        for (int64_t i = 0; i < rows; i++) o->sample[b * rows + i] = (int32_t)(i * o->batches + b);
}

void order_draw_grown(const struct order *o, const struct order_grown *g, int32_t *samples)
{
    const struct order_share *s = &o->choice.share;
    int64_t rows = o->choice.batch[0], whole = s->slices > 0 ? g->batch / s->taken : g->batch;
    int64_t first = s->slices > 0 ? (s->first + g->batch % s->taken) * rows : 0;
    int64_t row = whole * rows * order_slices(&o->choice) + first;
    for (int64_t i = 0; i < rows; i++) {
        struct rng4 r = rng_draw(g->seed, RNG_ORDER, g->epoch, (uint32_t)(row + i), DRAW_GROWN);
        samples[i] = (int32_t)rng_below(r.v[0], (uint32_t)g->count);
    }
}

bool order_is_fixed(const struct order_choice *c)
{
    return c->kind == ORDER_FILE || c->kind == ORDER_STREAMS;
}

static bool order_shuffles(const struct order *o, uint32_t epoch)
{
    return !order_is_fixed(&o->choice) && (o->ascending == NULL || epoch > 0);
}

void order_draw_batches(struct order *o, uint64_t seed, uint32_t epoch)
{
    BUG_IF(!order_has_lengths(o));
    if (o->choice.buckets == 1) return;
    order_cut(o);  // a shuffle starts from the same list, independent of earlier draws
    if (order_shuffles(o, epoch)) order_shuffle_batches(o, seed, epoch);
}

void order_draw(struct order *o, uint64_t seed, uint32_t epoch, int bucket)
{
    if (o->page != NULL) {
        order_draw_pages(o, seed, epoch);
    } else {
        for (int64_t i = 0; i < o->choice.count; i++) o->sample[i] = o->ascending && epoch == 0 ? o->ascending[i] : (int32_t)i;
        if (o->choice.kind == ORDER_STREAMS) order_draw_streams(o);
        if (order_shuffles(o, epoch)) order_shuffle(o->sample, 0, o->choice.count, seed, epoch);
    }
    if (order_has_lengths(o)) {
        if (o->choice.buckets > 1) order_sort_samples(o);
        order_draw_batches(o, seed, epoch);
        return;
    }
    BUG_IF(bucket < 0 || bucket >= o->choice.buckets);
    for (int64_t i = 0; i < o->batches; i++) o->batch[i].bucket = bucket;
}
