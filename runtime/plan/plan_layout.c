// SPDX-License-Identifier: Apache-2.0
// The layout and its proof share only the list of blocks. A segment tree over positions finds the offsets. The proof sweeps over
// positions and keeps the live blocks in order of their offsets.
#include "runtime/plan/plan_layout.h"

#include "runtime/common/base/arena.h"
#include "runtime/plan/plan_flow.h"
#include "runtime/plan/plan_space.h"

#include <stdlib.h>

// A value's bytes or a node's workspace.
struct block {
    size_t bytes, offset;
    int first, last;
    int owner;  // value id, or -1 - position for a workspace
};

static struct block *blocks_of(const struct plan *p, int *count)
{
    struct block *block = zalloc((size_t)(p->graph->values + p->count + 1) * sizeof *block);
    *count = 0;
    for (int v = 0; v < p->graph->values; v++) {
        const struct placement *at = &p->placement[v];
        if (at->bytes) block[(*count)++] = (struct block){at->bytes, at->offset, at->first, at->last, v};
    }
    for (int at = 0; at < p->count; at++)
        if (p->work_bytes[at])
            block[(*count)++] = (struct block){p->work_bytes[at], p->work_offset[at], at, at, -1 - at};
    return block;
}

// True if `late` belongs to the update, begins after `early` ended, and may start before all users of `early` have finished.
static bool outruns(const struct plan *p, const struct block *late, const struct block *early)
{
    if (!p->flow || late->first <= early->last || !plan_flow_starts(p->flow, late->first)) return false;
    return !plan_flow_finished(p->flow, early->owner < 0 ? NONE : early->owner, early->last, late->first);
}

// ---- offsets

static int larger_first(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->owner - y->owner;
}

static void add_span(struct spans *s, const struct block *b)
{
    s->at[s->count++] = (struct span){b->offset, b->offset + b->bytes};
}

// The spans that block i must avoid although they are free while it is live. `update`: the blocks of the update before i.
static void spans_of_flow(const struct plan *p, const struct block *block, int i, const int *update, int updates,
                          struct spans *also)
{
    also->count = 0;
    if (!p->flow) return;
    if (plan_flow_starts(p->flow, block[i].first)) {
        for (int j = 0; j < i; j++)
            if (outruns(p, &block[i], &block[j]) || outruns(p, &block[j], &block[i])) add_span(also, &block[j]);
    } else {
        for (int j = 0; j < updates; j++)
            if (outruns(p, &block[update[j]], &block[i])) add_span(also, &block[update[j]]);
    }
}

void plan_layout(struct plan *p)
{
    int count, updates = 0;
    struct block *block = blocks_of(p, &count);
    qsort(block, (size_t)count, sizeof *block, larger_first);
    int *update = zalloc((size_t)(count + 1) * sizeof *update);
    struct spans also = {.at = zalloc((size_t)(count + 1) * sizeof *also.at), .capacity = count + 1};
    struct plan_space *space = plan_space_new(p->count);
    for (int i = 0; i < count; i++) {
        struct block *b = &block[i];
        spans_of_flow(p, block, i, update, updates, &also);
        b->offset = plan_space_find(space, b->first, b->last, b->bytes, &also);
        plan_space_take(space, b->first, b->last, (struct span){b->offset, b->offset + b->bytes});
        if (p->flow && plan_flow_starts(p->flow, b->first)) update[updates++] = i;
        if (b->owner >= 0)
            p->placement[b->owner].offset = b->offset;
        else
            p->work_offset[-1 - b->owner] = b->offset;
        if (b->offset + b->bytes > p->slab_bytes) p->slab_bytes = b->offset + b->bytes;
    }
    plan_space_free(space);
    free(also.at);
    free(update);
    free(block);
}

// ---- the proof

// A set of numbers below `capacity`: level 0 has one bit per number, each level above one bit per word of the level below.
enum { LEVELS = 6 };
struct number_set {
    uint64_t *level[LEVELS];
};

static struct number_set set_new(int capacity)
{
    struct number_set s = {{NULL}};
    size_t bits = (size_t)capacity + 1;
    for (int i = 0; i < LEVELS; i++) {
        bits = bits / 64 + 1;
        s.level[i] = zalloc(bits * sizeof **s.level);
    }
    return s;
}

static void set_free(struct number_set *s)
{
    for (int i = 0; i < LEVELS; i++) free(s->level[i]);
}

static void set_add(struct number_set *s, int n)
{
    for (int i = 0; i < LEVELS; i++, n /= 64) s->level[i][n / 64] |= UINT64_C(1) << (n % 64);
}

static void set_remove(struct number_set *s, int n)
{
    for (int i = 0; i < LEVELS; i++, n /= 64)
        if (s->level[i][n / 64] &= ~(UINT64_C(1) << (n % 64))) return;
}

// The nearest member above n (up) or below it; NONE: there is none.
static int set_near(const struct number_set *s, int n, bool up)
{
    for (int i = 0; i < LEVELS; i++, n /= 64) {
        uint64_t low = (UINT64_C(1) << (n % 64)) - 1, word = s->level[i][n / 64];
        word &= up ? ~low & ~(UINT64_C(1) << (n % 64)) : low;
        if (!word) continue;
        int at = n / 64 * 64 + (up ? __builtin_ctzll(word) : 63 - __builtin_clzll(word));
        while (i-- > 0) {
            word = s->level[i][at];
            at = at * 64 + (up ? __builtin_ctzll(word) : 63 - __builtin_clzll(word));
        }
        return at;
    }
    return NONE;
}

static bool share_bytes(const struct block *a, const struct block *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static int fail_overlap(const struct plan *p, const struct block *a, const struct block *b, const char *why)
{
    return fail(ERR_SHAPE, "graph \"%s\": blocks %d and %d overlap %s", p->graph->name, a->owner, b->owner, why);
}

static int lower_first(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset ? 1 : x->owner - y->owner;
}

// Blocks at a position, as chains: head[at] is the first of them, next[i] the one after block i; NONE ends a chain.
struct chains {
    int *head, *next;
};

static struct chains chain_blocks(const struct plan *p, const struct block *block, int count, bool by_last)
{
    struct chains c = {zalloc((size_t)(p->count + 1) * sizeof(int)), zalloc((size_t)(count + 1) * sizeof(int))};
    for (int at = 0; at < p->count; at++) c.head[at] = NONE;
    for (int i = count - 1; i >= 0; i--) {
        int at = by_last ? block[i].last : block[i].first;
        c.next[i] = c.head[at], c.head[at] = i;
    }
    return c;
}

// Blocks are in order of their offsets. As long as the live ones are disjoint, a new one can only meet its neighbours.
static int verify_live(const struct plan *p, const struct block *block, int count)
{
    struct number_set live = set_new(count);
    struct chains begin = chain_blocks(p, block, count, false), end = chain_blocks(p, block, count, true);
    int rc = 0;
    for (int at = 0; at < p->count && rc == 0; at++) {
        for (int i = begin.head[at]; i != NONE && rc == 0; i = begin.next[i]) {
            for (int up = 0; up < 2 && rc == 0; up++) {
                int near = set_near(&live, i, up);
                if (near != NONE && share_bytes(&block[i], &block[near]))
                    rc = fail_overlap(p, &block[i], &block[near], "while both are live");
            }
            set_add(&live, i);
        }
        for (int i = end.head[at]; i != NONE; i = end.next[i]) set_remove(&live, i);
    }
    free(begin.head), free(begin.next), free(end.head), free(end.next);
    set_free(&live);
    return rc;
}

static int verify_flow(const struct plan *p, const struct block *block, int count)
{
    for (int i = 0; i < count; i++) {
        if (!plan_flow_starts(p->flow, block[i].first)) continue;
        for (int j = 0; j < count; j++)
            if (share_bytes(&block[i], &block[j]) && outruns(p, &block[i], &block[j]))
                return fail_overlap(p, &block[i], &block[j], "and data flow does not order the update behind the other");
    }
    return 0;
}

int plan_verify(const struct plan *p)
{
    int count, rc = 0;
    struct block *block = blocks_of(p, &count);
    for (int i = 0; i < count && rc == 0; i++)
        if (block[i].offset + block[i].bytes > p->slab_bytes)
            rc = fail(ERR_SHAPE, "graph \"%s\": block %d leaves the slab", p->graph->name, block[i].owner);
    qsort(block, (size_t)count, sizeof *block, lower_first);
    if (rc == 0) rc = verify_live(p, block, count);
    if (rc == 0 && p->flow) rc = verify_flow(p, block, count);
    free(block);
    return rc;
}
