// SPDX-License-Identifier: Apache-2.0
// Node 1 is the root; the children of node i are 2i and 2i + 1.
#include "runtime/plan/plan_space.h"

#include "runtime/common/base/arena.h"

#include <stdlib.h>
#include <string.h>

struct plan_space {
    int leaves;           // a power of two
    struct spans *whole;  // per node: spans in use at every position below it
    struct spans *some;   // per node: spans in use at some position below it
};

enum { LISTS_MOST = 256 };  // a query visits at most four nodes per level, and 31 levels hold every position

struct plan_space *plan_space_new(int positions)
{
    struct plan_space *s = zalloc(sizeof *s);
    s->leaves = 1;
    while (s->leaves < positions) s->leaves *= 2;
    s->whole = zalloc(2 * (size_t)s->leaves * sizeof *s->whole);
    s->some = zalloc(2 * (size_t)s->leaves * sizeof *s->some);
    return s;
}

void plan_space_free(struct plan_space *s)
{
    for (int i = 0; i < 2 * s->leaves; i++) {
        free(s->whole[i].at);
        free(s->some[i].at);
    }
    free(s->whole);
    free(s->some);
    free(s);
}

// Adds a span to a sorted union and joins it with those that it touches.
static void spans_join(struct spans *s, struct span what)
{
    int low = 0, high = s->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (s->at[middle].end < what.begin)
            low = middle + 1;
        else
            high = middle;
    }
    int after = low;
    for (; after < s->count && s->at[after].begin <= what.end; after++) {
        if (s->at[after].begin < what.begin) what.begin = s->at[after].begin;
        if (s->at[after].end > what.end) what.end = s->at[after].end;
    }
    if (after == low && s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 4;
        s->at = grow(s->at, (size_t)s->capacity * sizeof *s->at);
    }
    memmove(s->at + low + 1, s->at + after, (size_t)(s->count - after) * sizeof *s->at);
    s->at[low] = what;
    s->count += 1 - (after - low);
}

static void take(struct plan_space *s, int node, int low, int high, int first, int last, struct span what)
{
    if (last < low || high < first) return;
    spans_join(&s->some[node], what);
    if (first <= low && high <= last) {
        spans_join(&s->whole[node], what);
        return;
    }
    int middle = low + (high - low) / 2;
    take(s, 2 * node, low, middle, first, last, what);
    take(s, 2 * node + 1, middle + 1, high, first, last, what);
}

void plan_space_take(struct plan_space *s, int first, int last, struct span what)
{
    take(s, 1, 0, s->leaves - 1, first, last, what);
}

// The spans that are not checked yet. The search for a gap only moves to larger offsets, so a checked span never returns.
struct cursor {
    const struct span *at, *end;
};

static void gather(const struct plan_space *s, int node, int low, int high, int first, int last, struct cursor *list, int *count)
{
    if (last < low || high < first) return;
    bool inside = first <= low && high <= last;
    const struct spans *spans = inside ? &s->some[node] : &s->whole[node];
    if (spans->count) {
        BUG_IF(*count == LISTS_MOST);
        list[(*count)++] = (struct cursor){spans->at, spans->at + spans->count};
    }
    if (inside) return;
    int middle = low + (high - low) / 2;
    gather(s, 2 * node, low, middle, first, last, list, count);
    gather(s, 2 * node + 1, middle + 1, high, first, last, list, count);
}

static int lower_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

size_t plan_space_find(const struct plan_space *s, int first, int last, size_t bytes, struct spans *also)
{
    struct cursor list[LISTS_MOST + 1];
    int count = 0;
    gather(s, 1, 0, s->leaves - 1, first, last, list, &count);
    if (also->count) {
        qsort(also->at, (size_t)also->count, sizeof *also->at, lower_begin);
        list[count++] = (struct cursor){also->at, also->at + also->count};
    }
    size_t offset = 0;
    for (int settled = 0, i = 0; settled < count; i = (i + 1) % count) {
        size_t was = offset;
        struct cursor *c = &list[i];
        for (; c->at < c->end && c->at->begin < offset + bytes; c->at++)
            if (c->at->end > offset) offset = c->at->end;
        settled = offset == was ? settled + 1 : 1;
    }
    return offset;
}
